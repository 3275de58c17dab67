//! Slots by their integer.

use cosift_kernels::integers_between;

use crate::columns::integers::{Deltas, Integers};
use crate::columns::mask::{BLOCK_RECORDS, Mask};

impl Integers {
    /// The slots of `within` whose value is in `low..=high`.
    pub(crate) fn mask_between(&self, low: i64, high: i64, within: &Mask) -> Mask {
        let Some((min, max)) = self.range() else {
            return Mask::empty();
        };
        if low > high || high < min || low > max {
            return Mask::empty();
        }
        let low = low.max(min);
        let high = high.min(max);
        let from = low.wrapping_sub(min) as u64;
        // One comparison instead of two: a delta below `from` wraps to a large number.
        let width = high.wrapping_sub(low) as u64;
        if width == self.span {
            let mut all = Mask::full(self.len.min(BLOCK_RECORDS));
            all.and(within);
            return all;
        }
        match &self.deltas {
            Deltas::Zero => Mask::empty(),
            Deltas::U8(deltas) => {
                let (from, width) = (from as u8, width as u8);
                Mask::of(deltas, within, |delta| delta.wrapping_sub(from) <= width)
            }
            Deltas::U16(deltas) => {
                let (from, width) = (from as u16, width as u16);
                Mask::of(deltas, within, |delta| delta.wrapping_sub(from) <= width)
            }
            Deltas::U32(deltas) => {
                let (from, width) = (from as u32, width as u32);
                Mask::of(deltas, within, |delta| delta.wrapping_sub(from) <= width)
            }
            Deltas::U40(deltas) => deltas.mask_between(from, from + width, within),
            Deltas::U64(deltas) => Mask(integers_between(deltas, from, from + width, &within.0)),
        }
    }

    /// The slots of `within` for whose value `test` holds.
    pub(crate) fn mask_where(&self, within: &Mask, test: impl Fn(i64) -> bool) -> Mask {
        let test = |delta: u64| test(self.base.wrapping_add(delta as i64));
        match &self.deltas {
            Deltas::Zero if test(0) => within.clone(),
            Deltas::Zero => Mask::empty(),
            Deltas::U8(deltas) => Mask::of(deltas, within, |delta| test(delta.into())),
            Deltas::U16(deltas) => Mask::of(deltas, within, |delta| test(delta.into())),
            Deltas::U32(deltas) => Mask::of(deltas, within, |delta| test(delta.into())),
            Deltas::U40(deltas) => deltas.mask_where(within, test),
            Deltas::U64(deltas) => Mask::of(deltas, within, test),
        }
    }

    /// The slots of `within` whose delta is in `marked`.
    ///
    /// For the codes of a dictionary: all deltas must be below [`BLOCK_RECORDS`].
    pub(crate) fn mask_marked(&self, marked: &Mask, within: &Mask) -> Mask {
        let mut table = [false; BLOCK_RECORDS];
        for code in marked.iter() {
            table[code] = true;
        }
        match &self.deltas {
            Deltas::Zero if marked.get(0) => within.clone(),
            Deltas::Zero => Mask::empty(),
            Deltas::U8(deltas) => Mask::of(deltas, within, |delta| table[delta as usize]),
            Deltas::U16(deltas) => {
                // The remainder changes no delta. It removes the bounds check.
                Mask::of(deltas, within, |delta| {
                    table[delta as usize % BLOCK_RECORDS]
                })
            }
            Deltas::U32(_) | Deltas::U40(_) | Deltas::U64(_) => Mask::empty(),
        }
    }

    /// For offsets of strings: the slots of `within` for which `test(delta(slot), delta(slot + 1))` holds.
    pub(crate) fn mask_spans(&self, within: &Mask, test: impl Fn(usize, usize) -> bool) -> Mask {
        match &self.deltas {
            Deltas::Zero => within.iter().filter(|_| test(0, 0)).collect(),
            Deltas::U8(deltas) => spans(deltas, within, test),
            Deltas::U16(deltas) => spans(deltas, within, test),
            Deltas::U32(deltas) => spans(deltas, within, test),
            Deltas::U40(_) | Deltas::U64(_) => {
                let offset = |slot| self.delta(slot) as usize;
                let spans = |slot: &usize| test(offset(*slot), offset(slot + 1));
                within.iter().filter(spans).collect()
            }
        }
    }
}

/// The slots of `within` for which `test` holds of an offset and the next one.
fn spans<T: Copy + Into<u32>>(
    offsets: &[T],
    within: &Mask,
    test: impl Fn(usize, usize) -> bool,
) -> Mask {
    let test = |pair: &[T]| test(pair[0].into() as usize, pair[1].into() as usize);
    let mut out = Mask::empty();
    for (at, (out, &word)) in out.0.iter_mut().zip(&within.0).enumerate() {
        let mut left = word;
        if let (true, Some(offsets)) = (word.count_ones() > 16, offsets.get(at * 64..at * 64 + 65))
        {
            let mut held = 0;
            for (bit, pair) in offsets.windows(2).enumerate() {
                held |= u64::from(test(pair)) << bit;
            }
            *out = held & word;
            continue;
        }
        while left != 0 {
            let slot = at * 64 + left.trailing_zeros() as usize;
            *out |= u64::from(test(&offsets[slot..slot + 2])) << (slot % 64);
            left &= left - 1;
        }
    }
    out
}
