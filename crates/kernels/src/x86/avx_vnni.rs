//! AVX with VNNI, for CPUs without AVX-512.

use std::arch::x86_64::{__m256i, _mm256_dpbusd_avx_epi32};

use super::products::{self, DIMS, Multiplier, OPERAND_BYTES, Products, WORDS};
use super::ymm::{Multiply, Ymm};
use crate::codes::Codes;
use crate::kernel::{Kernel, kernel};
use crate::lanes::Lanes;
use crate::residence::Residence;
use crate::scan::Scan;

pub(crate) static AVX_VNNI: Kernel = Kernel {
    scan_codes,
    ..kernel!(
        "avx-vnni",
        Ymm<Quads>,
        available: || is_x86_feature_detected!("avx2") && is_x86_feature_detected!("avxvnni"),
        features: ["avx2", "avxvnni"]
    )
};

#[target_feature(enable = "avx2,avxvnni")]
unsafe fn scan_codes(codes: &Codes, residence: Residence, scans: &mut [Scan<'_>]) {
    // SAFETY: compiled for AVX with VNNI; the caller guarantees the CPU and the layouts.
    unsafe { products::scan_codes::<Quads>(codes, residence, scans) }
}

/// Multiplies unsigned with signed bytes and sums groups of four products.
pub(crate) struct Quads;

impl Multiply for Quads {
    const SIGNED: bool = false;
    const GROUP: usize = 2;

    #[inline(always)]
    unsafe fn dot(sums: __m256i, codes: __m256i, operand: __m256i) -> __m256i {
        // SAFETY: the caller guarantees the CPU.
        unsafe { _mm256_dpbusd_avx_epi32(sums, codes, operand) }
    }
}

/// Queries whose sums are in registers.
const ROWS: usize = 4;

impl Multiplier for Quads {
    type Lanes = Ymm<Self>;
    const MIN_QUERIES: usize = ROWS;

    #[inline(always)]
    unsafe fn multiply_fine(
        queries: *const u8,
        codes: *const u8,
        steps: usize,
        rows: usize,
        out: &mut Products,
    ) {
        type Lanes = Ymm<Quads>;
        let groups = out.0.as_chunks_mut::<ROWS>().0.iter_mut();
        for (out, first) in groups.zip((0..rows).step_by(ROWS)) {
            // SAFETY: the caller guarantees the CPU, and `steps` operands on either side.
            unsafe {
                let mut sums = [Lanes::zero(); ROWS];
                for step in 0..steps {
                    let queries = queries.add(step * OPERAND_BYTES + first * DIMS);
                    for word in 0..WORDS {
                        let codes = Lanes::byte_codes(codes.add((step * WORDS + word) * DIMS));
                        for (row, sums) in sums.iter_mut().enumerate() {
                            let operand = Lanes::repeat(queries.add(row * DIMS + word * 4).cast());
                            *sums = Lanes::dot(*sums, codes, operand);
                        }
                    }
                }
                *out = sums.map(|sums| Lanes::sums(sums));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::arch::x86_64::{__m256i, _mm256_dpbusd_epi32};

    use super::{Multiply, Ymm};
    use crate::check::{agrees_on, skipped};
    use crate::kernel::{Kernel, kernel};
    use crate::layout::Layout;

    /// The same instruction in the encoding of AVX-512, which more CPUs support.
    struct EvexQuads;

    impl Multiply for EvexQuads {
        const SIGNED: bool = false;
        const GROUP: usize = 4;

        #[inline(always)]
        unsafe fn dot(sums: __m256i, codes: __m256i, operand: __m256i) -> __m256i {
            // SAFETY: the caller guarantees the CPU.
            unsafe { _mm256_dpbusd_epi32(sums, codes, operand) }
        }
    }

    #[test]
    fn agrees_with_the_reference_also_where_only_avx_512_has_the_instruction() {
        static EVEX: Kernel = kernel!(
            "avx512-vnni, 256 bits",
            Ymm<EvexQuads>,
            available: || is_x86_feature_detected!("avx512vnni")
                && is_x86_feature_detected!("avx512vl"),
            features: ["avx2", "avx512f", "avx512vl", "avx512vnni"]
        );
        if !(EVEX.available)() {
            skipped("this CPU lacks AVX-512 VNNI");
            return;
        }
        for (seed, layout) in [Layout::new(376, 56, 120), Layout::identity(384)]
            .into_iter()
            .enumerate()
        {
            let layout = layout.expect("valid bands");
            assert!(
                agrees_on(&EVEX, layout, 150, 15, 1 + seed as u64),
                "{layout:?}"
            );
        }
    }
}
