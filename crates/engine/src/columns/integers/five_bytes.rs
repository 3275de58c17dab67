//! Integers of five bytes.

use cosift_kernels::split_integers_between;

use crate::columns::encoding::{Damaged, Decoder, put_values};
use crate::columns::mask::{BLOCK_RECORDS, Mask, test_chunk};

/// Integers below 2^40. Their lowest bytes are apart from the four upper bytes, because most comparisons read only the
/// upper bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FiveBytes {
    upper: Box<[u32]>,
    lowest: Box<[u8]>,
}

impl FiveBytes {
    /// The largest integer of five bytes.
    pub(super) const MAX: u64 = (1 << 40) - 1;

    /// Encodes integers of at most [`FiveBytes::MAX`].
    pub(super) fn build(integers: impl Iterator<Item = u64> + Clone) -> Self {
        Self {
            upper: integers
                .clone()
                .map(|integer| (integer >> 8) as u32)
                .collect(),
            lowest: integers.map(|integer| integer as u8).collect(),
        }
    }

    /// Appends the upper bytes of all integers, then the lowest ones.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_values(&self.upper, u32::to_le_bytes, out);
        out.extend_from_slice(&self.lowest);
    }

    /// Reads `len` integers that [`FiveBytes::write`] wrote.
    pub(super) fn read(decoder: &mut Decoder<'_>, len: usize) -> Result<Self, Damaged> {
        Ok(Self {
            upper: decoder.values(len, u32::from_le_bytes)?,
            lowest: decoder.bytes(len)?.into(),
        })
    }

    /// The integer at `slot`.
    #[inline]
    pub(super) fn get(&self, slot: usize) -> u64 {
        joined(self.upper[slot], self.lowest[slot])
    }

    /// All integers, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let parts = self.upper.iter().zip(&self.lowest);
        parts.map(|(&upper, &lowest)| joined(upper, lowest))
    }

    /// Calls `visit` with the integer of each slot of `within`.
    #[inline(always)]
    pub(super) fn each(&self, within: &Mask, mut visit: impl FnMut(u64)) {
        for ((upper, lowest), &word) in self.chunks().zip(&within.0) {
            if word == u64::MAX {
                let parts = upper.iter().zip(lowest);
                parts.for_each(|(&upper, &lowest)| visit(joined(upper, lowest)));
                continue;
            }
            let mut left = word;
            while left != 0 {
                let slot = left.trailing_zeros() as usize;
                visit(joined(upper[slot], lowest[slot]));
                left &= left - 1;
            }
        }
    }

    /// The slots of `within` whose integer is in `low..=high`, which must not be empty. There must be at most
    /// [`BLOCK_RECORDS`] integers.
    pub(super) fn mask_between(&self, low: u64, high: u64, within: &Mask) -> Mask {
        let found = split_integers_between(&self.upper, &self.lowest, low, high, &within.0);
        Mask(found)
    }

    /// The slots of `within` for whose integer `test` holds.
    pub(super) fn mask_where(&self, within: &Mask, test: impl Fn(u64) -> bool) -> Mask {
        let mut out = Mask::empty();
        for (((upper, lowest), out), &word) in self.chunks().zip(&mut out.0).zip(&within.0) {
            if word == 0 {
                continue;
            }
            let mut chunk = [0; 64];
            for ((integer, &upper), &lowest) in chunk.iter_mut().zip(upper).zip(lowest) {
                *integer = joined(upper, lowest);
            }
            *out = test_chunk(&chunk, &test) & word;
        }
        out.and(&Mask::full(self.upper.len().min(BLOCK_RECORDS)));
        out
    }

    /// The two parts of 64 integers at a time.
    fn chunks(&self) -> impl Iterator<Item = (&[u32], &[u8])> {
        self.upper.chunks(64).zip(self.lowest.chunks(64))
    }
}

#[inline(always)]
fn joined(upper: u32, lowest: u8) -> u64 {
    u64::from(upper) << 8 | u64::from(lowest)
}
