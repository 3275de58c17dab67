//! Dot products of a query with the codes of one record.

use crate::lanes::Lanes;
use crate::query::BandCodes;

/// The offset of a stored nibble: the nibble is its code plus 8.
pub(crate) const NIBBLE_OFFSET: i32 = 8;

/// The dot product of coarse codes with a record's nibbles. `nibbles(start)` loads the 64 bytes from `start` on.
///
/// # Safety
/// The CPU has `L`'s instructions and the caller is compiled for them.
#[inline(always)]
pub(crate) unsafe fn nibbles_dot<L: Lanes>(
    codes: &BandCodes,
    nibbles: impl Fn(usize) -> (L::Codes, L::Codes),
) -> i32 {
    // SAFETY: codes are padded to 64, so each load of them is inside; the caller guarantees the CPU.
    unsafe {
        let mut sums = L::zero();
        for start in (0..codes.low.len()).step_by(64) {
            let (first, second) = nibbles(start);
            sums = L::dot(sums, first, L::operand(codes.low.as_ptr().add(start)));
            sums = L::dot(sums, second, L::operand(codes.high.as_ptr().add(start)));
        }
        L::total(sums) - NIBBLE_OFFSET * codes.coarse_sum
    }
}

/// The dot product of codes, which sum to `sum`, with a record's bytes. `bytes(start)` loads the 64 bytes from `start` on.
///
/// # Safety
/// As for [`nibbles_dot`]; the codes are padded to 64.
#[inline(always)]
pub(crate) unsafe fn bytes_dot<L: Lanes>(
    codes: &[i8],
    sum: i32,
    bytes: impl Fn(usize) -> L::Codes,
) -> i32 {
    // SAFETY: each load of the codes is inside; the caller guarantees the CPU.
    unsafe {
        let mut sums = L::zero();
        for start in (0..codes.len()).step_by(64) {
            sums = L::dot(sums, bytes(start), L::operand(codes.as_ptr().add(start)));
        }
        L::total(sums) - L::BYTE_OFFSET * sum
    }
}
