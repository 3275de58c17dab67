//! AVX with VNNI, for CPUs without AVX-512.

use std::arch::x86_64::{__m256i, _mm256_dpbusd_avx_epi32};

use super::ymm::{Multiply, Ymm};
use crate::kernel::{Kernel, kernel};

pub(crate) static AVX_VNNI: Kernel = kernel!(
    "avx-vnni",
    Ymm<Quads>,
    available: || is_x86_feature_detected!("avx2") && is_x86_feature_detected!("avxvnni"),
    features: ["avx2", "avxvnni"]
);

/// Multiplies unsigned with signed bytes and sums groups of four products.
pub(crate) struct Quads;

impl Multiply for Quads {
    const SIGNED: bool = false;
    const GROUP: usize = 4;

    #[inline(always)]
    unsafe fn dot(sums: __m256i, codes: __m256i, operand: __m256i) -> __m256i {
        // SAFETY: the caller guarantees the CPU.
        unsafe { _mm256_dpbusd_avx_epi32(sums, codes, operand) }
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
