//! AVX2. Its product of bytes saturates, so the operands are arranged such that no sum leaves the range.

use std::arch::x86_64::{
    __m256i, _mm256_abs_epi8, _mm256_add_epi8, _mm256_add_epi16, _mm256_add_epi32,
    _mm256_and_si256, _mm256_avg_epu8, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_setzero_si256, _mm256_sign_epi8, _mm256_srli_epi16,
    _mm256_storeu_si256,
};

use super::products::{self, DIMS, Multiplier, OPERAND_BYTES, Products, QUERIES, WORDS, pack_row};
use super::ymm::{Multiply, Ymm};
use crate::codes::Codes;
use crate::kernel::{Kernel, kernel};
use crate::lanes::Lanes;
use crate::layout::TILE_RECORDS;
use crate::query::Query;
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

#[target_feature(enable = "avx2")]
unsafe fn scan_codes(codes: &Codes, residence: Residence, scans: &mut [Scan<'_>]) {
    // SAFETY: compiled for AVX2; the caller guarantees the CPU and the layouts.
    unsafe { products::scan_codes::<Pairs>(codes, residence, scans) }
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

/// Queries whose sums are in registers.
const ROWS: usize = 4;
/// What is added to the codes in an operand.
const OFFSET: i16 = 8;

/// Adds `unit` times the products of an operand of codes with four rows of an operand of queries, from `at` on, to `out`, or
/// overwrites it.
///
/// The codes are of -8..=8, stored plus 8. The products of the even and of the odd pairs of dimensions are summed in an i16, which
/// begins with what these 8 add to it, negated. In the end it is at most 32 * 8 * 127 = 32,512. Before, it may wrap.
///
/// The total is in memory, because the sums of 16 bits and the operands take the registers.
///
/// # Safety
/// The CPU has AVX2, `queries` and `codes` are operands, and `at` is at most 12.
#[target_feature(enable = "avx2")]
unsafe fn add_products(
    queries: *const u8,
    at: usize,
    codes: *const u8,
    unit: i16,
    overwrite: bool,
    out: &mut [[i32; TILE_RECORDS]; ROWS],
) {
    type Lanes = Ymm<Pairs>;
    // SAFETY: the caller guarantees the operands.
    unsafe {
        let mut short = [[_mm256_setzero_si256(); 2]; ROWS];
        for (row, short) in short.iter_mut().enumerate() {
            *short = Lanes::repeat(queries.add(OPERAND_BYTES + (at + row) * 4).cast());
        }
        let queries = queries.add(at * DIMS);
        for word in 0..WORDS {
            let codes = Lanes::operand(codes.add(word * DIMS).cast());
            for (row, short) in short.iter_mut().enumerate() {
                let operand = Lanes::repeat(queries.add(row * DIMS + word * 4).cast());
                for half in 0..2 {
                    let pairs = _mm256_maddubs_epi16(codes[half], operand[half]);
                    short[half] = _mm256_add_epi16(short[half], pairs);
                }
            }
        }
        for (out, short) in out.iter_mut().zip(short) {
            let mut sums = short.map(|short| _mm256_madd_epi16(short, _mm256_set1_epi16(unit)));
            if !overwrite {
                let before = Lanes::operand(out.as_ptr().cast());
                for half in 0..2 {
                    sums[half] = _mm256_add_epi32(sums[half], before[half]);
                }
            }
            *out = Lanes::sums(sums);
        }
    }
}

impl Pairs {
    /// Writes the sums over all steps of `units[n]` times the products with operand `n` of a step.
    #[inline(always)]
    unsafe fn multiply<const N: usize>(
        queries: *const u8,
        codes: *const u8,
        steps: usize,
        rows: usize,
        units: [i16; N],
        out: &mut Products,
    ) {
        for (out, at) in out
            .0
            .as_chunks_mut()
            .0
            .iter_mut()
            .zip((0..rows).step_by(ROWS))
        {
            for step in 0..steps {
                for (n, unit) in units.into_iter().enumerate() {
                    // SAFETY: the caller guarantees the CPU, `steps` operands of queries and `N` times as many of codes.
                    unsafe {
                        let queries = queries.add(step * Self::QUERIES_BYTES);
                        let codes = codes.add((step * N + n) * OPERAND_BYTES);
                        add_products(queries, at, codes, unit, step + n == 0, out);
                    }
                }
            }
        }
    }
}

impl Multiplier for Pairs {
    type Lanes = Ymm<Self>;
    const MIN_QUERIES: usize = 4;
    /// Also what each sum of a query begins with: the even and the odd pairs of dimensions have a sum each.
    const QUERIES_BYTES: usize = OPERAND_BYTES + QUERIES * 4;

    #[inline(always)]
    fn pack(codes: &[i8; DIMS], row: usize, operand: &mut [u8]) {
        pack_row(codes, row, operand);
        let mut first = [0; 2];
        for (at, code) in codes.iter().enumerate() {
            first[at / 2 % 2] -= OFFSET * i16::from(*code);
        }
        let first = first.map(i16::to_le_bytes);
        operand[OPERAND_BYTES + row * 4..][..4].copy_from_slice(first.as_flattened());
    }

    /// Two operands for each step: a code is `16 * h + l` with `h` of -8..=8 in the first and `l` of -8..=7 in the second one.
    #[inline(always)]
    unsafe fn fine_operands(tile: *const u8, steps: usize, out: *mut u8) -> *const u8 {
        for (step, word) in (0..steps).flat_map(|step| (0..WORDS).map(move |word| (step, word))) {
            // SAFETY: the caller guarantees the CPU, `steps` operands in the tile and twice as many in `out`.
            unsafe {
                let bytes = Self::Lanes::operand(tile.add((step * WORDS + word) * DIMS).cast());
                for (half, bytes) in bytes.into_iter().enumerate() {
                    // A byte is its code plus 128: the average is half of the code plus 136.
                    let halved = _mm256_avg_epu8(bytes, _mm256_set1_epi8(7));
                    let high =
                        _mm256_and_si256(_mm256_srli_epi16::<3>(halved), _mm256_set1_epi8(31));
                    let low = _mm256_add_epi8(bytes, _mm256_set1_epi8(8));
                    let low = _mm256_and_si256(low, _mm256_set1_epi8(15));
                    let out = out.add(step * 2 * OPERAND_BYTES + word * DIMS + half * 32);
                    _mm256_storeu_si256(out.cast(), high);
                    _mm256_storeu_si256(out.add(OPERAND_BYTES).cast(), low);
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
        // SAFETY: the caller's contract.
        unsafe { Self::multiply(queries, codes, steps, rows, [16, 1], out) }
    }

    #[inline(always)]
    unsafe fn multiply_nibbles(
        queries: *const u8,
        codes: *const u8,
        steps: usize,
        rows: usize,
        out: &mut Products,
    ) {
        // SAFETY: the caller's contract.
        unsafe { Self::multiply(queries, codes, steps, rows, [1], out) }
    }

    #[inline(always)]
    fn biases(query: &Query) -> [i32; 2] {
        [-query.axis_dot, 0]
    }
}

#[cfg(test)]
mod tests {
    use super::AVX2;
    use crate::check::{same, skipped};
    use crate::codec::Codec;
    use crate::full_codes::FullCodes;
    use crate::layout::Layout;
    use crate::reference;
    use crate::residence::Residence;
    use crate::scan::{Candidate, Scan};
    use crate::steps::Steps;

    #[test]
    fn sums_of_16_bits_hold_the_largest_products() {
        if !(AVX2.available)() {
            skipped("this CPU lacks AVX2");
            return;
        }
        let layout = Layout::new(256, 128, 128).expect("valid bands");
        let vectors = [1.0, -1.0].map(|sign: f32| vec![sign / 16.0; 256]);
        let codec = Codec::new(layout, Steps::train(&layout, &vectors[0]));
        let mut full = FullCodes::new(layout, 2);
        for (slot, vector) in vectors.iter().enumerate() {
            codec.encode(vector, slot, &mut full);
        }
        let codes = &full.codes;
        assert_eq!(codes.tile(0)[..8], [255, 255, 255, 255, 1, 1, 1, 1]);
        let queries = [0, 1, 0, 1, 0].map(|at: usize| codec.query(&vectors[at]));
        assert!(queries[0].codes.head.iter().all(|&code| code == 127));

        let found = |scan_codes: &dyn Fn(&mut [Scan<'_>])| {
            let mut found: [Vec<Candidate>; 5] = Default::default();
            let scans = queries.iter().zip(&mut found).map(|(query, found)| Scan {
                query,
                mask: &[u64::MAX; 64],
                floor: -2.0,
                higher: None,
                ceiling: 2.0,
                found,
            });
            scan_codes(&mut scans.collect::<Vec<_>>());
            found.concat()
        };
        let expected = found(&|scans| reference::scan_codes(codes, scans));
        // SAFETY: the kernel is available, and the queries have the codes' layout.
        let scanned = found(&|scans| unsafe {
            (AVX2.scan_codes)(codes, Residence::Memory, scans);
        });
        assert_eq!(expected.len(), 10);
        assert!(same(&scanned, &expected));
    }
}
