//! AVX2. Its product of bytes saturates, so the operands are arranged such that no sum leaves the range.

use std::arch::x86_64::{
    __m256i, _mm256_abs_epi8, _mm256_add_epi16, _mm256_add_epi32, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_set1_epi16, _mm256_sign_epi8,
};

use super::ymm::{Multiply, Ymm};
use crate::kernel::{Kernel, kernel};

pub(crate) static AVX2: Kernel = kernel!(
    "avx2",
    Ymm<Pairs>,
    available: || is_x86_feature_detected!("avx2"),
    features: ["avx2"]
);

/// Sums pairs of products of |q| with sign(q) * x. Codes are at most 127, so the sum of a pair is
/// at most 2 * 127 * 127 = 32,258 and fits an i16.
pub(crate) struct Pairs;

impl Multiply for Pairs {
    const SIGNED: bool = true;
    // Intermediate results take registers in addition to sums and codes.
    const GROUP: usize = 2;

    #[inline(always)]
    unsafe fn dot(sums: __m256i, codes: __m256i, operand: __m256i) -> __m256i {
        // SAFETY: the caller guarantees the CPU.
        unsafe {
            let signed = _mm256_sign_epi8(codes, operand);
            let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(operand), signed);
            _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
        }
    }

    /// A nibble is at most 15, so the sum of four products is at most 4 * 15 * 127 = 7,620 and fits an i16.
    #[inline(always)]
    unsafe fn dot_nibbles(
        sums: __m256i,
        codes: (__m256i, __m256i),
        operands: (__m256i, __m256i),
    ) -> __m256i {
        // SAFETY: the caller guarantees the CPU.
        unsafe {
            let fours = _mm256_add_epi16(
                _mm256_maddubs_epi16(codes.0, operands.0),
                _mm256_maddubs_epi16(codes.1, operands.1),
            );
            _mm256_add_epi32(sums, _mm256_madd_epi16(fours, _mm256_set1_epi16(1)))
        }
    }
}
