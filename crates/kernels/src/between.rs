//! Range tests of numbers of 40 and 64 bits. The engine tests narrower numbers itself, because wide instructions gain
//! little there.

use crate::scan::Mask;

/// The integers in `low..=high` among those of `within`.
#[inline(always)]
pub(crate) fn integers(values: &[u64], low: u64, high: u64, within: &Mask) -> Mask {
    // One comparison instead of two: a value below `low` wraps to a large number.
    let width = high.wrapping_sub(low);
    select(values, within, |value| value.wrapping_sub(low) <= width)
}

/// The integers in `low..=high` among those of `within`. `upper` has the integers without their lowest byte, `lowest` has
/// that byte.
///
/// The upper part of an integer decides unless it equals that of `low` or `high`. Lowest bytes are read only for chunks of 64
/// integers that contain such a part, so a scan reads four bytes of most integers.
#[inline(always)]
pub(crate) fn split_integers(
    upper: &[u32],
    lowest: &[u8],
    low: u64,
    high: u64,
    within: &Mask,
) -> Mask {
    let (first, width) = ((low >> 8) as u32, ((high >> 8) - (low >> 8)) as u32);
    let mut out = [0; 64];
    let (chunks, rest) = upper.as_chunks::<64>();
    let (lowest, lowest_of_rest) = lowest.as_chunks::<64>();
    for (((chunk, lowest), out), &within) in chunks.iter().zip(lowest).zip(&mut out).zip(within) {
        if within == 0 {
            continue;
        }
        let mut equals_an_end = 0;
        // The compiler vectorises this loop best with one word of 32 bits for 32 integers of 32 bits.
        for (at, half) in chunk.as_chunks::<32>().0.iter().enumerate() {
            let (mut held, mut ends) = (0_u32, 0_u32);
            for (bit, &upper) in half.iter().enumerate() {
                let distance = upper.wrapping_sub(first);
                held |= u32::from(distance <= width) << bit;
                ends |= u32::from((distance == 0) | (distance == width)) << bit;
            }
            *out |= u64::from(held) << (32 * at);
            equals_an_end |= ends;
        }
        if equals_an_end != 0 {
            *out = joined(chunk, lowest, low, high);
        }
        *out &= within;
    }
    if !rest.is_empty() {
        out[chunks.len()] = joined(rest, lowest_of_rest, low, high) & within[chunks.len()];
    }
    out
}

/// A bit for each of up to 64 integers that are split: whether it is in `low..=high`.
///
/// It is inlined, so that the compiler knows the length of whole chunks and vectorises the loop.
#[inline(always)]
fn joined(upper: &[u32], lowest: &[u8], low: u64, high: u64) -> u64 {
    let mut held = 0;
    for (bit, (&upper, &lowest)) in upper.iter().zip(lowest).enumerate() {
        let integer = u64::from(upper) << 8 | u64::from(lowest);
        held |= u64::from(integer.wrapping_sub(low) <= high - low) << bit;
    }
    held
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
