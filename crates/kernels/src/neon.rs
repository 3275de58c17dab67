//! NEON with the dot product instructions. Each of four registers holds four records of a tile.

use std::arch::aarch64::{
    float32x4_t, int8x16_t, int32x4_t, uint8x16_t, vaddq_f32, vaddvq_s32, vaddvq_u32, vandq_u8,
    vandq_u32, vcgeq_f32, vcvtq_f32_s32, vcvtq_f32_u32, vdupq_n_f32, vdupq_n_s32, vdupq_n_u8,
    veorq_u8, vget_low_u16, vld1q_f32, vld1q_s8, vld1q_s32, vld1q_u8, vld1q_u16, vld1q_u32,
    vmovl_high_u16, vmovl_u16, vmulq_f32, vreinterpretq_s8_s32, vreinterpretq_s8_u8, vshrq_n_u8,
    vst1q_f32, vst1q_s32, vsubq_f32, vsubq_s32,
};
use std::arch::{asm, is_aarch64_feature_detected};

use crate::kernel::{Kernel, kernel};
use crate::lanes::Lanes;

pub(crate) static NEON_DOT: Kernel = kernel!(
    "neon-dot",
    Neon,
    available: || is_aarch64_feature_detected!("dotprod"),
    features: ["neon", "dotprod"]
);

struct Neon;

/// The intrinsic is not stable in the minimum supported Rust version.
#[inline(always)]
unsafe fn sdot(mut sums: int32x4_t, codes: int8x16_t, operand: int8x16_t) -> int32x4_t {
    // SAFETY: the caller guarantees the CPU; the instruction uses only these registers.
    unsafe {
        asm!(
            ".arch_extension dotprod",
            "sdot {sums:v}.4s, {codes:v}.16b, {operand:v}.16b",
            sums = inout(vreg) sums,
            codes = in(vreg) codes,
            operand = in(vreg) operand,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sums
}

impl Lanes for Neon {
    // Two queries use four sums and four floats of the fine band each, of 32 registers.
    const GROUP: usize = 2;
    // The instruction multiplies signed bytes. Flipping the top bit of code + 128 gives the signed code.
    const BYTE_OFFSET: i32 = 0;

    type Codes = [int8x16_t; 4];
    type Operand = [int8x16_t; 4];
    type Sums = [int32x4_t; 4];
    type Floats = [float32x4_t; 4];

    #[inline(always)]
    unsafe fn byte_codes(at: *const u8) -> Self::Codes {
        // SAFETY: the caller passes 64 readable bytes, and guarantees the CPU.
        unsafe {
            let top = vdupq_n_u8(0x80);
            lines(at).map(|bytes| vreinterpretq_s8_u8(veorq_u8(bytes, top)))
        }
    }
    #[inline(always)]
    unsafe fn nibble_codes(at: *const u8) -> (Self::Codes, Self::Codes) {
        // SAFETY: as above.
        unsafe {
            let bytes = lines(at);
            let nibble = vdupq_n_u8(15);
            (
                bytes.map(|bytes| vreinterpretq_s8_u8(vandq_u8(bytes, nibble))),
                bytes.map(|bytes| vreinterpretq_s8_u8(vshrq_n_u8::<4>(bytes))),
            )
        }
    }
    #[inline(always)]
    unsafe fn repeat(at: *const i8) -> Self::Operand {
        // SAFETY: the caller passes 4 readable codes, and guarantees the CPU.
        unsafe { [vreinterpretq_s8_s32(vdupq_n_s32(at.cast::<i32>().read_unaligned())); 4] }
    }
    #[inline(always)]
    unsafe fn operand(at: *const i8) -> Self::Operand {
        // SAFETY: the caller passes 64 readable codes, and guarantees the CPU.
        unsafe { [0, 16, 32, 48].map(|start| vld1q_s8(at.add(start))) }
    }
    #[inline(always)]
    unsafe fn zero() -> Self::Sums {
        // SAFETY: the caller guarantees the CPU, here and below.
        unsafe { [vdupq_n_s32(0); 4] }
    }
    #[inline(always)]
    unsafe fn dot(mut sums: Self::Sums, codes: Self::Codes, operand: Self::Operand) -> Self::Sums {
        for (sums, (codes, operand)) in sums.iter_mut().zip(codes.into_iter().zip(operand)) {
            // SAFETY: as above.
            *sums = unsafe { sdot(*sums, codes, operand) };
        }
        sums
    }
    #[inline(always)]
    unsafe fn sums(sums: Self::Sums) -> [i32; 16] {
        let mut out = [0; 16];
        for (out, sums) in out.as_chunks_mut::<4>().0.iter_mut().zip(sums) {
            // SAFETY: as above; each part takes four sums.
            unsafe { vst1q_s32(out.as_mut_ptr(), sums) };
        }
        out
    }
    #[inline(always)]
    unsafe fn total(sums: Self::Sums) -> i32 {
        // SAFETY: as above.
        unsafe { sums.map(|sums| vaddvq_s32(sums)).iter().sum() }
    }
    #[inline(always)]
    unsafe fn floats(sums: &[i32; 16], bias: i32) -> Self::Floats {
        // SAFETY: as above; the four loads are inside the array.
        unsafe {
            [0, 4, 8, 12].map(|start| {
                let sums = vld1q_s32(sums.as_ptr().add(start));
                vcvtq_f32_s32(vsubq_s32(sums, vdupq_n_s32(bias)))
            })
        }
    }
    #[inline(always)]
    unsafe fn words(at: *const u8) -> Self::Floats {
        // SAFETY: the caller passes 32 readable bytes, at an even address, and guarantees the CPU.
        unsafe {
            let (first, second) = (vld1q_u16(at.cast()), vld1q_u16(at.add(16).cast()));
            [
                vmovl_u16(vget_low_u16(first)),
                vmovl_high_u16(first),
                vmovl_u16(vget_low_u16(second)),
                vmovl_high_u16(second),
            ]
            .map(|words| vcvtq_f32_u32(words))
        }
    }
    #[inline(always)]
    unsafe fn load(at: *const f32) -> Self::Floats {
        // SAFETY: the caller passes 16 readable floats, and guarantees the CPU.
        unsafe { [0, 4, 8, 12].map(|start| vld1q_f32(at.add(start))) }
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self::Floats {
        // SAFETY: as above.
        unsafe { [vdupq_n_f32(value); 4] }
    }
    #[inline(always)]
    unsafe fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: as above.
        std::array::from_fn(|at| unsafe { vaddq_f32(a[at], b[at]) })
    }
    #[inline(always)]
    unsafe fn sub(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: as above.
        std::array::from_fn(|at| unsafe { vsubq_f32(a[at], b[at]) })
    }
    #[inline(always)]
    unsafe fn mul(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        // SAFETY: as above.
        std::array::from_fn(|at| unsafe { vmulq_f32(a[at], b[at]) })
    }
    #[inline(always)]
    unsafe fn at_least(a: Self::Floats, b: Self::Floats) -> u16 {
        (0..4).fold(0, |bits, at| {
            // SAFETY: as above; the array is one register long.
            let lanes = unsafe {
                let weights = vld1q_u32([1, 2, 4, 8].as_ptr());
                vaddvq_u32(vandq_u32(vcgeq_f32(a[at], b[at]), weights))
            };
            bits | (lanes as u16) << (4 * at)
        })
    }
    #[inline(always)]
    unsafe fn store(floats: Self::Floats) -> [f32; 16] {
        let mut out = [0.0; 16];
        for (out, floats) in out.as_chunks_mut::<4>().0.iter_mut().zip(floats) {
            // SAFETY: as above; each part takes four floats.
            unsafe { vst1q_f32(out.as_mut_ptr(), floats) };
        }
        out
    }
    #[inline(always)]
    unsafe fn prefetch(at: *const u8) {
        // SAFETY: a prefetch reads nothing and never faults.
        unsafe {
            asm!("prfm pldl2keep, [{at}]", at = in(reg) at, options(nostack, preserves_flags, readonly));
        }
    }
}

/// # Safety
/// `at` has 64 readable bytes.
#[inline(always)]
unsafe fn lines(at: *const u8) -> [uint8x16_t; 4] {
    // SAFETY: the caller's contract.
    unsafe { [0, 16, 32, 48].map(|start| vld1q_u8(at.add(start))) }
}
