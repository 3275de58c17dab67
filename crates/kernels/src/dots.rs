//! Dot products of a query with the codes of one record.

use crate::lanes::Lanes;
use crate::nibble_codes::NibbleCodes;

/// The dot product of codes with a record's nibbles. `nibbles(start)` loads the 64 bytes from `start` on.
///
/// # Safety
/// The CPU has `L`'s instructions and the caller is compiled for them.
#[inline(always)]
pub(crate) unsafe fn nibbles_dot<L: Lanes>(
    codes: &NibbleCodes,
    nibbles: impl Fn(usize) -> (L::Codes, L::Codes),
) -> i32 {
    // SAFETY: the caller's contract.
    unsafe { L::total(nibble_sums::<L>(codes, nibbles)) - codes.bias }
}

/// Sums whose total is the dot product of codes with a record's nibbles, plus the bias of the codes.
///
/// # Safety
/// As for [`nibbles_dot`].
#[inline(always)]
pub(crate) unsafe fn nibble_sums<L: Lanes>(
    codes: &NibbleCodes,
    nibbles: impl Fn(usize) -> (L::Codes, L::Codes),
) -> L::Sums {
    // SAFETY: codes are padded to 64, so each load of them is inside; the caller guarantees the CPU.
    unsafe {
        let mut sums = L::zero();
        for start in (0..codes.low.len()).step_by(64) {
            let operands = (
                L::operand(codes.low.as_ptr().add(start)),
                L::operand(codes.high.as_ptr().add(start)),
            );
            sums = L::dot_nibbles(sums, nibbles(start.min(codes.last_load)), operands);
        }
        sums
    }
}
