//! Integers as distances from their least one.

use cosift_kernels::integers_between;

use crate::columns::form::{Damaged, FormReader, put_values};
use crate::columns::mask::{BLOCK_RECORDS, Mask};

/// Up to 4,097 integers: the least of them, and a delta of 0, 1, 2, 4 or 8 bytes each.
///
/// (One more than a block's records, so that the offsets of a block's strings fit too.)
#[derive(Clone, Debug)]
pub(crate) struct Integers {
    base: i64,
    /// The largest delta: with `base`, the zone map.
    span: u64,
    len: usize,
    deltas: Deltas,
}

#[derive(Clone, Debug)]
enum Deltas {
    /// All values equal the base.
    Zero,
    U8(Box<[u8]>),
    U16(Box<[u16]>),
    U32(Box<[u32]>),
    U64(Box<[u64]>),
}

impl Integers {
    /// Encodes `values` in the least width that holds them.
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
            _ => Deltas::U64(deltas.collect()),
        };
        Self {
            base,
            span,
            len: values.len(),
            deltas,
        }
    }

    /// How many there are.
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

    /// The distance of the value at `slot` from the least one.
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
            Deltas::U64(deltas) => deltas[slot],
        }
    }

    /// The least and the greatest value; `None` when empty.
    pub(crate) fn range(&self) -> Option<(i64, i64)> {
        (self.len > 0).then(|| (self.base, self.base.wrapping_add(self.span as i64)))
    }

    /// All values, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.len).map(|slot| self.get(slot))
    }

    /// Shows `see` the value of each slot of `within`.
    pub(crate) fn each(&self, within: &Mask, mut see: impl FnMut(i64)) {
        self.each_delta(within, |delta| see(self.base.wrapping_add(delta as i64)));
    }

    /// Shows `see` the distance from the least value of each slot of `within`.
    pub(crate) fn each_delta(&self, within: &Mask, mut see: impl FnMut(u64)) {
        match &self.deltas {
            Deltas::Zero => (0..within.count()).for_each(|_| see(0)),
            Deltas::U8(deltas) => within.each(deltas, |delta| see(delta.into())),
            Deltas::U16(deltas) => within.each(deltas, |delta| see(delta.into())),
            Deltas::U32(deltas) => within.each(deltas, |delta| see(delta.into())),
            Deltas::U64(deltas) => within.each(deltas, see),
        }
    }

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
        // One comparison instead of two: what is below `from` wraps to a large number.
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
            Deltas::U64(deltas) => Mask(integers_between(deltas, from, from + width, &within.0)),
        }
    }

    /// The slots of `within` whose distance from the least value is marked in `marked`.
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
                // The remainder changes nothing but spares the bounds check.
                Mask::of(deltas, within, |delta| {
                    table[delta as usize % BLOCK_RECORDS]
                })
            }
            Deltas::U32(_) | Deltas::U64(_) => Mask::empty(),
        }
    }

    /// For offsets: the slots of `within` for which `test` holds of the distances from the least
    /// value, `(delta(slot), delta(slot + 1))`.
    pub(crate) fn mask_spans(&self, within: &Mask, test: impl Fn(usize, usize) -> bool) -> Mask {
        match &self.deltas {
            Deltas::Zero => within.iter().filter(|_| test(0, 0)).collect(),
            Deltas::U8(deltas) => spans(deltas, within, test),
            Deltas::U16(deltas) => spans(deltas, within, test),
            Deltas::U32(deltas) => spans(deltas, within, test),
            Deltas::U64(deltas) => {
                let spans = |slot: &usize| test(deltas[*slot] as usize, deltas[slot + 1] as usize);
                within.iter().filter(spans).collect()
            }
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
                Deltas::U64(_) => 8,
            }
    }

    /// Appends the file form: base, width, deltas. The number of values is the reader's to know.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.base.to_le_bytes());
        match &self.deltas {
            Deltas::Zero => out.push(0),
            Deltas::U8(deltas) => {
                out.push(1);
                out.extend_from_slice(deltas);
            }
            Deltas::U16(deltas) => {
                out.push(2);
                put_values(deltas, u16::to_le_bytes, out);
            }
            Deltas::U32(deltas) => {
                out.push(4);
                put_values(deltas, u32::to_le_bytes, out);
            }
            Deltas::U64(deltas) => {
                out.push(8);
                put_values(deltas, u64::to_le_bytes, out);
            }
        }
    }

    /// Reads the file form of `len` integers that fills all of `bytes`.
    ///
    /// # Errors
    /// [`Damaged`] when it is not such a form.
    pub(crate) fn read(bytes: &[u8], len: usize) -> Result<Self, Damaged> {
        let mut form = FormReader::new(bytes);
        let integers = Self::read_from(&mut form, len)?;
        if form.is_at_end() {
            Ok(integers)
        } else {
            Err(Damaged {
                part: "bytes after integers",
            })
        }
    }

    pub(crate) fn read_from(form: &mut FormReader<'_>, len: usize) -> Result<Self, Damaged> {
        let base = form.array().map(i64::from_le_bytes)?;
        let deltas = match form.u8()? {
            0 => Deltas::Zero,
            1 => Deltas::U8(form.bytes(len)?.into()),
            2 => Deltas::U16(form.values(len, u16::from_le_bytes)?),
            4 => Deltas::U32(form.values(len, u32::from_le_bytes)?),
            8 => Deltas::U64(form.values(len, u64::from_le_bytes)?),
            _ => {
                return Err(Damaged {
                    part: "width of integers",
                });
            }
        };
        let span = match &deltas {
            Deltas::Zero => 0,
            Deltas::U8(deltas) => deltas.iter().copied().max().unwrap_or(0).into(),
            Deltas::U16(deltas) => deltas.iter().copied().max().unwrap_or(0).into(),
            Deltas::U32(deltas) => deltas.iter().copied().max().unwrap_or(0).into(),
            Deltas::U64(deltas) => deltas.iter().copied().max().unwrap_or(0),
        };
        if i128::from(base) + i128::from(span) > i128::from(i64::MAX) {
            return Err(Damaged {
                part: "range of integers",
            });
        }
        Ok(Self {
            base,
            span,
            len,
            deltas,
        })
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_round_trips_and_filters() {
        for spread in [0, 200, 60_000, 4_000_000_000, i64::MAX] {
            let values: Vec<i64> = (0..1000i64)
                .map(|at| {
                    if spread == 0 {
                        7
                    } else {
                        -5 + (at * 7_919_777_777).rem_euclid(spread)
                    }
                })
                .collect();
            let integers = Integers::build(&values);
            assert_eq!(integers.iter().collect::<Vec<_>>(), values);
            let mut bytes = Vec::new();
            integers.write(&mut bytes);
            let read = Integers::read(&bytes, values.len()).expect("own form");
            assert_eq!(read.range(), integers.range());
            assert_eq!(read.iter().collect::<Vec<_>>(), values);
            let (low, high) = (values[3].min(values[9]), values[3].max(values[9]));
            for (low, high) in [(low, high), (i64::MIN, i64::MAX), (high, low - 1), (7, 7)] {
                let mask = read.mask_between(low, high, &Mask::full(1000));
                let expected: Vec<usize> = (0..1000)
                    .filter(|&at| (low..=high).contains(&values[at]))
                    .collect();
                assert_eq!(
                    mask.iter().collect::<Vec<_>>(),
                    expected,
                    "{spread} {low} {high}"
                );
            }
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        let integers = Integers::build(&[i64::MIN, i64::MAX, 0]);
        assert_eq!(integers.iter().collect::<Vec<_>>(), [i64::MIN, i64::MAX, 0]);
        assert_eq!(
            integers.mask_between(0, i64::MAX, &Mask::full(3)).0[0],
            0b110
        );
    }
}
