//! 256-bit vectors. Each of two registers holds eight records of a tile.

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _CMP_GE_OQ, _MM_HINT_T1, _mm_add_epi32, _mm_cvtsi128_si32,
    _mm_extract_epi32, _mm_loadu_si128, _mm_prefetch, _mm_unpackhi_epi64, _mm256_add_epi32,
    _mm256_add_ps, _mm256_and_si256, _mm256_castsi256_si128, _mm256_cmp_ps, _mm256_cvtepi32_ps,
    _mm256_cvtepu16_epi32, _mm256_extracti128_si256, _mm256_loadu_ps, _mm256_loadu_si256,
    _mm256_movemask_ps, _mm256_mul_ps, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_ps,
    _mm256_setzero_si256, _mm256_srli_epi16, _mm256_storeu_ps, _mm256_storeu_si256,
    _mm256_sub_epi32, _mm256_sub_ps, _mm256_xor_si256,
};
use std::marker::PhantomData;

use crate::lanes::Lanes;

/// An instruction that multiplies 32 bytes with 32 codes of a query and sums groups of four products.
///
/// # Safety
/// As for [`Lanes`].
pub(crate) trait Multiply {
    /// Whether codes are signed bytes, and not codes plus 128.
    const SIGNED: bool;
    /// As in [`Lanes`]. A query uses two sums, of 16 registers.
    const GROUP: usize;

    unsafe fn dot(sums: __m256i, codes: __m256i, operand: __m256i) -> __m256i;

    /// As in [`Lanes`].
    #[inline(always)]
    unsafe fn dot_nibbles(
        sums: __m256i,
        codes: (__m256i, __m256i),
        operands: (__m256i, __m256i),
    ) -> __m256i {
        // SAFETY: the caller's contract.
        unsafe { Self::dot(Self::dot(sums, codes.0, operands.0), codes.1, operands.1) }
    }
}

pub(crate) struct Ymm<M>(PhantomData<M>);

impl<M: Multiply> Lanes for Ymm<M> {
    const GROUP: usize = M::GROUP;
    const BYTE_OFFSET: i32 = if M::SIGNED { 0 } else { 128 };

    type Codes = [__m256i; 2];
    type Operand = [__m256i; 2];
    type Sums = [__m256i; 2];
    type Floats = [__m256; 2];

    #[inline(always)]
    unsafe fn byte_codes(at: *const u8) -> [__m256i; 2] {
        // SAFETY: the caller passes 64 readable bytes, and guarantees the CPU.
        unsafe {
            let halves = halves(at);
            if M::SIGNED {
                let top = _mm256_set1_epi8(i8::MIN);
                halves.map(|bytes| _mm256_xor_si256(bytes, top))
            } else {
                halves
            }
        }
    }
    #[inline(always)]
    unsafe fn nibble_codes(at: *const u8) -> ([__m256i; 2], [__m256i; 2]) {
        // SAFETY: as above.
        unsafe {
            let bytes = halves(at);
            let nibble = _mm256_set1_epi8(15);
            (
                bytes.map(|bytes| _mm256_and_si256(bytes, nibble)),
                bytes.map(|bytes| _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble)),
            )
        }
    }
    #[inline(always)]
    unsafe fn repeat(at: *const i8) -> [__m256i; 2] {
        // SAFETY: the caller passes 4 readable codes, and guarantees the CPU.
        unsafe { [_mm256_set1_epi32(at.cast::<i32>().read_unaligned()); 2] }
    }
    #[inline(always)]
    unsafe fn operand(at: *const i8) -> [__m256i; 2] {
        // SAFETY: the caller passes 64 readable codes, and guarantees the CPU.
        unsafe { halves(at.cast()) }
    }
    #[inline(always)]
    unsafe fn zero() -> [__m256i; 2] {
        // SAFETY: the caller guarantees the CPU, here and below.
        unsafe { [_mm256_setzero_si256(); 2] }
    }
    #[inline(always)]
    unsafe fn dot(sums: [__m256i; 2], codes: [__m256i; 2], operand: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: as above.
        unsafe {
            [
                M::dot(sums[0], codes[0], operand[0]),
                M::dot(sums[1], codes[1], operand[1]),
            ]
        }
    }
    #[inline(always)]
    unsafe fn dot_nibbles(
        sums: [__m256i; 2],
        codes: ([__m256i; 2], [__m256i; 2]),
        operands: ([__m256i; 2], [__m256i; 2]),
    ) -> [__m256i; 2] {
        // SAFETY: as above.
        unsafe {
            [
                M::dot_nibbles(
                    sums[0],
                    (codes.0[0], codes.1[0]),
                    (operands.0[0], operands.1[0]),
                ),
                M::dot_nibbles(
                    sums[1],
                    (codes.0[1], codes.1[1]),
                    (operands.0[1], operands.1[1]),
                ),
            ]
        }
    }
    #[inline(always)]
    unsafe fn sums(sums: [__m256i; 2]) -> [i32; 16] {
        let mut out = [0; 16];
        for (out, sums) in out.as_chunks_mut::<8>().0.iter_mut().zip(sums) {
            // SAFETY: as above; each part takes eight sums.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), sums) };
        }
        out
    }
    #[inline(always)]
    unsafe fn total(sums: [__m256i; 2]) -> i32 {
        // SAFETY: as above.
        unsafe {
            let eight = _mm256_add_epi32(sums[0], sums[1]);
            let four = _mm_add_epi32(
                _mm256_castsi256_si128(eight),
                _mm256_extracti128_si256::<1>(eight),
            );
            let two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
            _mm_cvtsi128_si32(two) + _mm_extract_epi32::<1>(two)
        }
    }
    #[inline(always)]
    unsafe fn floats(sums: &[i32; 16], bias: i32) -> [__m256; 2] {
        // SAFETY: as above; the array is two registers long.
        unsafe {
            halves(sums.as_ptr().cast())
                .map(|sums| _mm256_cvtepi32_ps(_mm256_sub_epi32(sums, _mm256_set1_epi32(bias))))
        }
    }
    #[inline(always)]
    unsafe fn words(at: *const u8) -> [__m256; 2] {
        // SAFETY: the caller passes 32 readable bytes, and guarantees the CPU.
        unsafe {
            [at, at.add(16)].map(|at| {
                let words = _mm_loadu_si128(at.cast::<__m128i>());
                _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(words))
            })
        }
    }
    #[inline(always)]
    unsafe fn load(at: *const f32) -> [__m256; 2] {
        // SAFETY: the caller passes 16 readable floats, and guarantees the CPU.
        unsafe { [_mm256_loadu_ps(at), _mm256_loadu_ps(at.add(8))] }
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> [__m256; 2] {
        // SAFETY: as above.
        unsafe { [_mm256_set1_ps(value); 2] }
    }
    #[inline(always)]
    unsafe fn add(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: as above.
        unsafe { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn sub(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: as above.
        unsafe { [_mm256_sub_ps(a[0], b[0]), _mm256_sub_ps(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn mul(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: as above.
        unsafe { [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn at_least(a: [__m256; 2], b: [__m256; 2]) -> u16 {
        // SAFETY: as above.
        let [low, high] = unsafe {
            [(a[0], b[0]), (a[1], b[1])]
                .map(|(a, b)| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GE_OQ>(a, b)) as u16)
        };
        low | high << 8
    }
    #[inline(always)]
    unsafe fn store(floats: [__m256; 2]) -> [f32; 16] {
        let mut out = [0.0; 16];
        for (out, floats) in out.as_chunks_mut::<8>().0.iter_mut().zip(floats) {
            // SAFETY: as above; each part takes eight floats.
            unsafe { _mm256_storeu_ps(out.as_mut_ptr(), floats) };
        }
        out
    }
    #[inline(always)]
    unsafe fn prefetch(at: *const u8) {
        // SAFETY: a prefetch reads nothing and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
    }
}

/// # Safety
/// `at` has 64 readable bytes; the CPU has AVX2.
#[inline(always)]
unsafe fn halves(at: *const u8) -> [__m256i; 2] {
    // SAFETY: the caller's contract.
    unsafe {
        [
            _mm256_loadu_si256(at.cast()),
            _mm256_loadu_si256(at.add(32).cast()),
        ]
    }
}
