//! Integers in frame-of-reference encoding: a base and deltas.

mod encoding;
mod five_bytes;
mod masks;
#[cfg(test)]
mod tests;

use crate::columns::integers::five_bytes::FiveBytes;
use crate::columns::mask::Mask;

/// Up to 4,097 integers: the smallest one, and for each integer its difference from that in 0, 1, 2, 4, 5 or 8 bytes.
///
/// There is one more than a block has records, so that the offsets of a block's strings fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Integers {
    base: i64,
    /// The largest delta. The zone map is `base..=base + span`.
    span: u64,
    len: usize,
    deltas: Deltas,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Deltas {
    /// All values equal the base.
    Zero,
    U8(Box<[u8]>),
    U16(Box<[u16]>),
    U32(Box<[u32]>),
    U40(FiveBytes),
    U64(Box<[u64]>),
}

impl Integers {
    /// Encodes `values` in the smallest width that holds every delta.
    pub(crate) fn build(values: &[i64]) -> Self {
        let base = values.iter().copied().min().unwrap_or(0);
        let max = values.iter().copied().max().unwrap_or(0);
        let span = max.wrapping_sub(base) as u64;
        let deltas = values.iter().map(|value| value.wrapping_sub(base) as u64);
        let deltas = match span {
            0 => Deltas::Zero,
            1..=0xff => Deltas::U8(deltas.map(|delta| delta as u8).collect()),
            0x100..=0xffff => Deltas::U16(deltas.map(|delta| delta as u16).collect()),
            0x1_0000..=0xffff_ffff => Deltas::U32(deltas.map(|delta| delta as u32).collect()),
            0x1_0000_0000..=FiveBytes::MAX => Deltas::U40(FiveBytes::build(deltas)),
            _ => Deltas::U64(deltas.collect()),
        };
        Self {
            base,
            span,
            len: values.len(),
            deltas,
        }
    }

    /// The number of integers.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The value at `slot`.
    ///
    /// # Panics
    /// When `slot` is not below [`Integers::len`].
    #[inline]
    pub(crate) fn get(&self, slot: usize) -> i64 {
        self.base.wrapping_add(self.delta(slot) as i64)
    }

    /// The delta at `slot`: the value minus the smallest one.
    #[inline]
    pub(crate) fn delta(&self, slot: usize) -> u64 {
        match &self.deltas {
            Deltas::Zero => {
                assert!(slot < self.len, "slot {slot} of {}", self.len);
                0
            }
            Deltas::U8(deltas) => deltas[slot].into(),
            Deltas::U16(deltas) => deltas[slot].into(),
            Deltas::U32(deltas) => deltas[slot].into(),
            Deltas::U40(deltas) => deltas.get(slot),
            Deltas::U64(deltas) => deltas[slot],
        }
    }

    /// The values of the 64 slots from `first` on, as doubles; beyond the last slot any number. All values are at most 2^53 in
    /// absolute value.
    #[inline(always)]
    pub(crate) fn numbers_from(&self, first: usize) -> [f64; 64] {
        let base = self.base as f64;
        let mut out = [base; 64];
        match &self.deltas {
            Deltas::Zero => {}
            Deltas::U8(deltas) => add(&mut out, &deltas[first..]),
            Deltas::U16(deltas) => add(&mut out, &deltas[first..]),
            Deltas::U32(deltas) => add(&mut out, &deltas[first..]),
            Deltas::U40(_) | Deltas::U64(_) => {
                let slots = first..self.len;
                let each = out.iter_mut().zip(slots);
                each.for_each(|(out, slot)| *out = self.get(slot) as f64);
            }
        }
        out
    }

    /// The smallest and the largest value; `None` if there are none.
    pub(crate) fn range(&self) -> Option<(i64, i64)> {
        (self.len > 0).then(|| (self.base, self.base.wrapping_add(self.span as i64)))
    }

    /// All values, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.len).map(|slot| self.get(slot))
    }

    /// Calls `visit` with the value of each slot of `within`.
    pub(crate) fn each(&self, within: &Mask, mut visit: impl FnMut(i64)) {
        self.each_delta(within, |delta| visit(self.base.wrapping_add(delta as i64)));
    }

    /// Calls `visit` with the delta of each slot of `within`.
    pub(crate) fn each_delta(&self, within: &Mask, mut visit: impl FnMut(u64)) {
        match &self.deltas {
            Deltas::Zero => (0..within.count()).for_each(|_| visit(0)),
            Deltas::U8(deltas) => within.each(deltas, |delta| visit(delta.into())),
            Deltas::U16(deltas) => within.each(deltas, |delta| visit(delta.into())),
            Deltas::U32(deltas) => within.each(deltas, |delta| visit(delta.into())),
            Deltas::U40(deltas) => deltas.each(within, visit),
            Deltas::U64(deltas) => within.each(deltas, visit),
        }
    }

    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.len
            * match self.deltas {
                Deltas::Zero => 0,
                Deltas::U8(_) => 1,
                Deltas::U16(_) => 2,
                Deltas::U32(_) => 4,
                Deltas::U40(_) => 5,
                Deltas::U64(_) => 8,
            }
    }
}

/// Adds deltas to numbers. The sums are exact, because they are at most 2^53 in absolute value.
#[inline(always)]
fn add<T: Copy + Into<f64>>(numbers: &mut [f64; 64], deltas: &[T]) {
    let each = numbers.iter_mut().zip(deltas);
    each.for_each(|(number, &delta)| *number += delta.into());
}
