//! The kernel without vector instructions, for every CPU.

use crate::kernel::{Kernel, kernel};
use crate::lanes::Lanes;

pub(crate) static SCALAR: Kernel = kernel!("scalar", Scalar, available: || true, features: []);

struct Scalar;

// The functions are unsafe because of their pointers only. Arrays need no special instructions.
impl Lanes for Scalar {
    const GROUP: usize = 2;
    const BYTE_OFFSET: i32 = 0;

    type Codes = [i8; 64];
    type Operand = [i8; 64];
    type Sums = [i32; 16];
    type Floats = [f32; 16];

    #[inline(always)]
    unsafe fn byte_codes(at: *const u8) -> [i8; 64] {
        // SAFETY: the caller passes 64 readable bytes.
        let bytes = unsafe { at.cast::<[u8; 64]>().read() };
        bytes.map(|byte| (byte ^ 0x80).cast_signed())
    }
    #[inline(always)]
    unsafe fn nibble_codes(at: *const u8) -> ([i8; 64], [i8; 64]) {
        // SAFETY: the caller passes 64 readable bytes.
        let bytes = unsafe { at.cast::<[u8; 64]>().read() };
        (
            bytes.map(|byte| (byte & 15).cast_signed()),
            bytes.map(|byte| (byte >> 4).cast_signed()),
        )
    }
    #[inline(always)]
    unsafe fn repeat(at: *const i8) -> [i8; 64] {
        // SAFETY: the caller passes 4 readable codes.
        let codes = unsafe { at.cast::<[i8; 4]>().read() };
        std::array::from_fn(|at| codes[at % 4])
    }
    #[inline(always)]
    unsafe fn operand(at: *const i8) -> [i8; 64] {
        // SAFETY: the caller passes 64 readable codes.
        unsafe { at.cast::<[i8; 64]>().read() }
    }
    #[inline(always)]
    unsafe fn zero() -> [i32; 16] {
        [0; 16]
    }
    #[inline(always)]
    unsafe fn dot(mut sums: [i32; 16], codes: [i8; 64], operand: [i8; 64]) -> [i32; 16] {
        let products: [i16; 64] =
            std::array::from_fn(|at| i16::from(codes[at]) * i16::from(operand[at]));
        for (sum, products) in sums.iter_mut().zip(products.as_chunks::<4>().0) {
            *sum += products
                .iter()
                .map(|&product| i32::from(product))
                .sum::<i32>();
        }
        sums
    }
    #[inline(always)]
    unsafe fn sums(sums: [i32; 16]) -> [i32; 16] {
        sums
    }
    #[inline(always)]
    unsafe fn total(sums: [i32; 16]) -> i32 {
        sums.iter().sum()
    }
    #[inline(always)]
    unsafe fn floats(sums: &[i32; 16], bias: i32) -> [f32; 16] {
        sums.map(|sum| (sum - bias) as f32)
    }
    #[inline(always)]
    unsafe fn words(at: *const u8) -> [f32; 16] {
        // SAFETY: the caller passes 32 readable bytes.
        let bytes = unsafe { at.cast::<[[u8; 2]; 16]>().read() };
        bytes.map(|word| f32::from(u16::from_le_bytes(word)))
    }
    #[inline(always)]
    unsafe fn load(at: *const f32) -> [f32; 16] {
        // SAFETY: the caller passes 16 readable floats.
        unsafe { at.cast::<[f32; 16]>().read() }
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> [f32; 16] {
        [value; 16]
    }
    #[inline(always)]
    unsafe fn add(a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        std::array::from_fn(|lane| a[lane] + b[lane])
    }
    #[inline(always)]
    unsafe fn sub(a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        std::array::from_fn(|lane| a[lane] - b[lane])
    }
    #[inline(always)]
    unsafe fn mul(a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        std::array::from_fn(|lane| a[lane] * b[lane])
    }
    #[inline(always)]
    unsafe fn at_least(a: [f32; 16], b: [f32; 16]) -> u16 {
        (0..16).fold(0, |bits, lane| bits | u16::from(a[lane] >= b[lane]) << lane)
    }
    #[inline(always)]
    unsafe fn store(floats: [f32; 16]) -> [f32; 16] {
        floats
    }
    #[inline(always)]
    unsafe fn prefetch(_: *const u8) {}
}
