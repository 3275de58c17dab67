//! Range tests of 64-bit numbers. The engine tests narrower numbers itself, because wide instructions gain little there.

use crate::scan::Mask;

/// The integers in `low..=high` among those of `within`.
#[inline(always)]
pub(crate) fn integers(values: &[u64], low: u64, high: u64, within: &Mask) -> Mask {
    // One comparison instead of two: a value below `low` wraps to a large number.
    let width = high.wrapping_sub(low);
    select(values, within, |value| value.wrapping_sub(low) <= width)
}

/// The doubles in `low..=high` among those of `within`.
#[inline(always)]
pub(crate) fn floats(values: &[f64], low: f64, high: f64, within: &Mask) -> Mask {
    select(values, within, |value| (value >= low) & (value <= high))
}

/// The loop over 64 values has no branch, so that the compiler vectorises it.
#[inline(always)]
fn select<T: Copy>(values: &[T], within: &Mask, test: impl Fn(T) -> bool) -> Mask {
    let mut out = [0; 64];
    let (chunks, rest) = values.as_chunks::<64>();
    for ((chunk, out), &within) in chunks.iter().zip(&mut out).zip(within) {
        if within == 0 {
            continue;
        }
        for (bit, &value) in chunk.iter().enumerate() {
            *out |= u64::from(test(value)) << bit;
        }
        *out &= within;
    }
    for (bit, &value) in rest.iter().enumerate() {
        let held = u64::from(test(value)) << bit;
        out[chunks.len()] |= held & within[chunks.len()];
    }
    out
}
