//! AVX-512 with VNNI. The sixteen lanes of a register hold the sixteen records of a tile.

use std::arch::x86_64::{
    __m256i, __m512, __m512i, _CMP_GE_OQ, _MM_HINT_T1, _mm_prefetch, _mm256_loadu_si256,
    _mm512_add_epi32, _mm512_add_ps, _mm512_and_si512, _mm512_cmp_ps_mask, _mm512_cvtepi32_ps,
    _mm512_cvtepu16_epi32, _mm512_dpbusd_epi32, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mul_ps,
    _mm512_reduce_add_epi32, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_ps,
    _mm512_setzero_si512, _mm512_shuffle_i32x4, _mm512_srli_epi16, _mm512_storeu_ps,
    _mm512_storeu_si512, _mm512_sub_epi32, _mm512_sub_ps, _mm512_unpackhi_epi32,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
};

use crate::kernel::{Kernel, kernel};
use crate::lanes::Lanes;

pub(crate) static AVX512_VNNI: Kernel = kernel!(
    "avx512-vnni",
    Zmm,
    available: available,
    features: ["avx512f", "avx512bw", "avx512vl", "avx512vnni"]
);

fn available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni")
}

pub(crate) struct Zmm;

impl Lanes for Zmm {
    // Eight queries use two sums and one register of floats of the fine band each, of 32 registers.
    const GROUP: usize = 8;
    // The instruction multiplies unsigned bytes with signed ones.
    const BYTE_OFFSET: i32 = 128;

    type Codes = __m512i;
    type Operand = __m512i;
    type Sums = __m512i;
    type Floats = __m512;

    #[inline(always)]
    unsafe fn byte_codes(at: *const u8) -> __m512i {
        // SAFETY: the caller passes 64 readable bytes, and guarantees the CPU.
        unsafe { _mm512_loadu_si512(at.cast()) }
    }
    #[inline(always)]
    unsafe fn nibble_codes(at: *const u8) -> (__m512i, __m512i) {
        // SAFETY: as above.
        unsafe {
            let bytes = _mm512_loadu_si512(at.cast());
            let nibble = _mm512_set1_epi8(15);
            (
                _mm512_and_si512(bytes, nibble),
                _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), nibble),
            )
        }
    }
    #[inline(always)]
    unsafe fn repeat(at: *const i8) -> __m512i {
        // SAFETY: the caller passes 4 readable codes, and guarantees the CPU.
        unsafe { _mm512_set1_epi32(at.cast::<i32>().read_unaligned()) }
    }
    #[inline(always)]
    unsafe fn operand(at: *const i8) -> __m512i {
        // SAFETY: the caller passes 64 readable codes, and guarantees the CPU.
        unsafe { _mm512_loadu_si512(at.cast()) }
    }
    #[inline(always)]
    unsafe fn zero() -> __m512i {
        // SAFETY: the caller guarantees the CPU, here and below.
        unsafe { _mm512_setzero_si512() }
    }
    #[inline(always)]
    unsafe fn dot(sums: __m512i, codes: __m512i, operand: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_dpbusd_epi32(sums, codes, operand) }
    }
    #[inline(always)]
    unsafe fn sums(sums: __m512i) -> [i32; 16] {
        let mut out = [0; 16];
        // SAFETY: as above; the array takes sixteen sums.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), sums) };
        out
    }
    #[inline(always)]
    unsafe fn total(sums: __m512i) -> i32 {
        // SAFETY: as above.
        unsafe { _mm512_reduce_add_epi32(sums) }
    }
    #[inline(always)]
    unsafe fn totals(sums: &[__m512i; 16], _: usize) -> [i32; 16] {
        // SAFETY: as above.
        unsafe {
            let [a, b, c, d] = [
                quarters([sums[0], sums[1], sums[2], sums[3]]),
                quarters([sums[4], sums[5], sums[6], sums[7]]),
                quarters([sums[8], sums[9], sums[10], sums[11]]),
                quarters([sums[12], sums[13], sums[14], sums[15]]),
            ];
            Self::sums(join_quarters(join_quarters(a, b), join_quarters(c, d)))
        }
    }
    #[inline(always)]
    unsafe fn floats(sums: &[i32; 16], bias: i32) -> __m512 {
        // SAFETY: as above; the array has sixteen sums.
        unsafe {
            let sums = _mm512_loadu_si512(sums.as_ptr().cast());
            _mm512_cvtepi32_ps(_mm512_sub_epi32(sums, _mm512_set1_epi32(bias)))
        }
    }
    #[inline(always)]
    unsafe fn words(at: *const u8) -> __m512 {
        // SAFETY: the caller passes 32 readable bytes, and guarantees the CPU.
        unsafe {
            let words = _mm256_loadu_si256(at.cast::<__m256i>());
            _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(words))
        }
    }
    #[inline(always)]
    unsafe fn load(at: *const f32) -> __m512 {
        // SAFETY: the caller passes 16 readable floats, and guarantees the CPU.
        unsafe { _mm512_loadu_ps(at) }
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_set1_ps(value) }
    }
    #[inline(always)]
    unsafe fn add(a: __m512, b: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_add_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn sub(a: __m512, b: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_sub_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn mul(a: __m512, b: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn at_least(a: __m512, b: __m512) -> u16 {
        // SAFETY: as above.
        unsafe { _mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, b) }
    }
    #[inline(always)]
    unsafe fn store(floats: __m512) -> [f32; 16] {
        let mut out = [0.0; 16];
        // SAFETY: as above; the array takes sixteen floats.
        unsafe { _mm512_storeu_ps(out.as_mut_ptr(), floats) };
        out
    }
    #[inline(always)]
    unsafe fn prefetch(at: *const u8) {
        // SAFETY: a prefetch reads nothing and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
    }
}

/// Adds the lanes of each quarter of four registers. Lane `n` of a quarter of the result is of register `n`.
///
/// # Safety
/// The CPU has AVX-512.
#[inline(always)]
unsafe fn quarters([a, b, c, d]: [__m512i; 4]) -> __m512i {
    // SAFETY: the caller guarantees the CPU.
    unsafe {
        let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd))
    }
}

/// Adds neighbouring quarters: those of `a` are the first two of the result, those of `b` the others.
///
/// # Safety
/// The CPU has AVX-512.
#[inline(always)]
unsafe fn join_quarters(a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: the caller guarantees the CPU.
    unsafe {
        _mm512_add_epi32(
            _mm512_shuffle_i32x4::<0b10_00_10_00>(a, b),
            _mm512_shuffle_i32x4::<0b11_01_11_01>(a, b),
        )
    }
}
