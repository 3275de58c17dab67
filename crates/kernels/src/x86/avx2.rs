//! AVX2. Its product of bytes saturates, so the operands are arranged such that no sum leaves the range.

use std::arch::x86_64::{
    __m256i, _mm256_abs_epi8, _mm256_add_epi16, _mm256_add_epi32, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_sign_epi8,
    _mm256_slli_epi16, _mm256_srai_epi16, _mm256_storeu_si256,
};

use super::products::{DIMS, Multiplier, OPERAND_BYTES, Products, fits, scan_by_products};
use super::ymm::{Multiply, Ymm};
use crate::codes::Codes;
use crate::kernel::{Kernel, kernel};
use crate::lanes::Lanes;
use crate::residence::Residence;
use crate::scan::Scan;

pub(crate) static AVX2: Kernel = Kernel {
    scan_codes,
    ..kernel!(
        "avx2",
        Ymm<Pairs>,
        available: || is_x86_feature_detected!("avx2"),
        features: ["avx2"]
    )
};

/// The minimum number of queries of a scan by products. With fewer queries, they take longer to pack than it saves.
const MIN_QUERIES: usize = 4;

#[target_feature(enable = "avx2")]
unsafe fn scan_codes(codes: &Codes, residence: Residence, scans: &mut [Scan<'_>]) {
    // SAFETY: compiled for AVX2; the caller guarantees the CPU and the layouts.
    unsafe {
        if scans.len() < MIN_QUERIES || !fits(&codes.layout()) {
            crate::scan_codes::scan_codes::<Ymm<Pairs>>(codes, residence, scans);
        } else {
            scan_by_products::<Pairs>(codes, scans);
        }
    }
}

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

/// Queries whose sums are in registers: those of products with bytes, and those with nibbles, which have sums of two kinds.
const ROWS: usize = 4;
const PAIR: usize = 2;
/// Groups of four dimensions in one operand.
const WORDS: usize = DIMS / 4;
/// Groups of four dimensions whose products with nibbles fit an i16: at most 8 * 2 * 15 * 127 = 30,480.
const SUMMED: usize = 8;

impl Multiplier for Pairs {
    type Lanes = Ymm<Self>;
    /// Products of 16 bits take less than products of bytes whose signs must be moved.
    const FINE_BYTES: usize = 2;

    /// Of each four codes, the even ones and then the odd ones.
    #[inline(always)]
    fn pack_fine(codes: &[i8; DIMS], row: &mut [u8]) {
        let four = |four: &[i8; 4]| [four[0], four[2], four[1], four[3]];
        let codes = codes.as_chunks().0.iter().flat_map(four);
        for (bytes, code) in row.as_chunks_mut().0.iter_mut().zip(codes) {
            *bytes = i16::from(code).to_le_bytes();
        }
    }

    /// Of each four codes of eight records, the even ones and then the odd ones.
    #[inline(always)]
    unsafe fn fine_operands(tile: *const u8, steps: usize, out: *mut u8) -> *const u8 {
        for word in 0..steps * WORDS {
            // SAFETY: the caller guarantees the CPU, and `steps` operands in the tile and in `out`.
            unsafe {
                let codes = Self::Lanes::byte_codes(tile.add(word * DIMS));
                for (half, codes) in codes.into_iter().enumerate() {
                    let even = _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(codes));
                    let odd = _mm256_srai_epi16::<8>(codes);
                    let out = out.add(word * 2 * DIMS + half * 32);
                    _mm256_storeu_si256(out.cast(), even);
                    _mm256_storeu_si256(out.add(DIMS).cast(), odd);
                }
            }
        }
        out
    }

    #[inline(always)]
    unsafe fn multiply_fine(
        queries: *const u8,
        codes: *const u8,
        steps: usize,
        rows: usize,
        out: &mut Products,
    ) {
        for (rows, at) in out.0.chunks_exact_mut(ROWS).zip((0..rows).step_by(ROWS)) {
            // SAFETY: the caller guarantees the CPU and `steps` operands of 2048 bytes on either side.
            unsafe {
                let mut sums = [Self::Lanes::zero(); ROWS];
                for step in 0..steps {
                    let queries = queries.add(step * 2 * OPERAND_BYTES + at * 2 * DIMS);
                    let codes = codes.add(step * 2 * OPERAND_BYTES);
                    for pair in 0..2 * WORDS {
                        let codes = Self::Lanes::operand(codes.add(pair * DIMS).cast());
                        for (row, sums) in sums.iter_mut().enumerate() {
                            let query = queries.add(row * 2 * DIMS + pair * 4);
                            let operand = Self::Lanes::repeat(query.cast());
                            for half in 0..2 {
                                let products = _mm256_madd_epi16(codes[half], operand[half]);
                                sums[half] = _mm256_add_epi32(sums[half], products);
                            }
                        }
                    }
                }
                for (row, sums) in rows.iter_mut().zip(sums) {
                    *row = Self::Lanes::sums(sums);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn multiply_nibbles(
        queries: *const u8,
        codes: *const u8,
        steps: usize,
        rows: usize,
        out: &mut Products,
    ) {
        for (rows, at) in out.0.chunks_exact_mut(PAIR).zip((0..rows).step_by(PAIR)) {
            // SAFETY: as above.
            unsafe {
                let mut sums = [Self::Lanes::zero(); PAIR];
                let parts = (0..steps).flat_map(|step| [(step, 0), (step, SUMMED)]);
                for (step, first) in parts {
                    let queries = queries.add(step * OPERAND_BYTES + at * DIMS + first * 4);
                    let codes = codes.add(step * OPERAND_BYTES + first * DIMS);
                    let mut short = [[_mm256_setzero_si256(); 2]; PAIR];
                    for word in 0..SUMMED {
                        let codes = Self::Lanes::operand(codes.add(word * DIMS).cast());
                        for (row, short) in short.iter_mut().enumerate() {
                            let operand = queries.add(row * DIMS + word * 4);
                            let operand = Self::Lanes::repeat(operand.cast());
                            for half in 0..2 {
                                let pairs = _mm256_maddubs_epi16(codes[half], operand[half]);
                                short[half] = _mm256_add_epi16(short[half], pairs);
                            }
                        }
                    }
                    for (sums, short) in sums.iter_mut().zip(short) {
                        for half in 0..2 {
                            let four = _mm256_madd_epi16(short[half], _mm256_set1_epi16(1));
                            sums[half] = _mm256_add_epi32(sums[half], four);
                        }
                    }
                }
                for (row, sums) in rows.iter_mut().zip(sums) {
                    *row = Self::Lanes::sums(sums);
                }
            }
        }
    }
}
