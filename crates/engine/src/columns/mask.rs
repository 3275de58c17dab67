//! Sets of the records of one block.

/// The maximal number of records of a block.
pub(crate) const BLOCK_RECORDS: usize = 4096;

/// A bitmap of up to 4,096 records: slot `s` is bit `s % 64` of word `s / 64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mask(pub(crate) [u64; BLOCK_RECORDS / 64]);

impl Mask {
    /// A mask without records.
    pub(crate) const fn empty() -> Self {
        Self([0; BLOCK_RECORDS / 64])
    }

    /// A mask of the first `len` records; `len` is at most [`BLOCK_RECORDS`].
    pub(crate) fn full(len: usize) -> Self {
        let mut mask = Self::empty();
        mask.0[..len / 64].fill(u64::MAX);
        if !len.is_multiple_of(64) {
            mask.0[len / 64] = (1 << (len % 64)) - 1;
        }
        mask
    }

    /// Removes the records that are not in `other`.
    pub(crate) fn and(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    /// Adds the records of `other`.
    pub(crate) fn or(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// Removes the records of `other`.
    pub(crate) fn and_not(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= !other;
        }
    }

    /// The records that are in this mask and not in `other`.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let mut mask = self.clone();
        mask.and_not(other);
        mask
    }

    /// The number of records.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The number of records before `slot`.
    pub(crate) fn count_before(&self, slot: usize) -> usize {
        let whole: u32 = self.0[..slot / 64]
            .iter()
            .map(|word| word.count_ones())
            .sum();
        let rest = self.0[slot / 64] & ((1 << (slot % 64)) - 1);
        (whole + rest.count_ones()) as usize
    }

    /// Whether the mask has no record.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Whether the mask has `slot`.
    pub(crate) fn get(&self, slot: usize) -> bool {
        self.0[slot / 64] >> (slot % 64) & 1 == 1
    }

    /// Adds `slot`.
    pub(crate) fn set(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    /// Removes `slot`.
    pub(crate) fn clear(&mut self, slot: usize) {
        self.0[slot / 64] &= !(1 << (slot % 64));
    }

    /// The slots, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            std::iter::successors((word != 0).then_some(word), |word| {
                let rest = word & (word - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |word| at * 64 + word.trailing_zeros() as usize)
        })
    }

    /// Calls `visit` with each slot, ascending; faster than [`Mask::iter`].
    pub(crate) fn each_slot(&self, mut visit: impl FnMut(usize)) {
        for (at, &word) in self.0.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                visit(at * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }

    /// Calls `visit` with each word that is not 0 and its first slot, ascending.
    #[inline(always)]
    pub(crate) fn each_word(&self, mut visit: impl FnMut(usize, u64)) {
        for (at, &word) in self.0.iter().enumerate() {
            if word != 0 {
                visit(at * 64, word);
            }
        }
    }

    /// The words, little-endian.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Reads the bytes of [`Mask::to_bytes`]; `None` if the length differs.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (words, []) = bytes.as_chunks::<8>() else {
            return None;
        };
        let mut mask = Self::empty();
        if words.len() != mask.0.len() {
            return None;
        }
        for (word, bytes) in mask.0.iter_mut().zip(words) {
            *word = u64::from_le_bytes(*bytes);
        }
        Some(mask)
    }

    /// Calls `visit` with the value of each record of the mask; `values` has one for every record of the block.
    #[inline(always)]
    pub(crate) fn each<T: Copy>(&self, values: &[T], mut visit: impl FnMut(T)) {
        for (chunk, &word) in values.chunks(64).zip(&self.0) {
            if word == u64::MAX {
                chunk.iter().for_each(|&value| visit(value));
                continue;
            }
            let mut left = word;
            while left != 0 {
                visit(chunk[left.trailing_zeros() as usize]);
                left &= left - 1;
            }
        }
    }

    /// The records of `within` for whose value `test` holds; `values` has one for every record of the block.
    #[inline(always)]
    pub(crate) fn of<T: Copy>(values: &[T], within: &Self, test: impl Fn(T) -> bool) -> Self {
        let mut out = Self::empty();
        let (chunks, rest) = values.as_chunks::<64>();
        for ((chunk, out), &within) in chunks.iter().zip(&mut out.0).zip(&within.0) {
            if within == 0 {
                continue;
            }
            *out = test_chunk(chunk, &test) & within;
        }
        for (at, &value) in rest.iter().enumerate() {
            let slot = chunks.len() * 64 + at;
            if within.get(slot) && test(value) {
                out.set(slot);
            }
        }
        out
    }
}

/// A bit for each of 64 values: whether `test` holds.
///
/// The loop has no branch, so that the compiler vectorises it if `test` has none.
#[inline(always)]
pub(super) fn test_chunk<T: Copy>(chunk: &[T; 64], test: impl Fn(T) -> bool) -> u64 {
    let mut held = [0u8; 64];
    for (held, &value) in held.iter_mut().zip(chunk) {
        *held = u8::from(test(value));
    }
    let mut word = 0;
    for (at, eight) in held.as_chunks::<8>().0.iter().enumerate() {
        // The multiplication moves the lowest bit of each of the eight bytes into the top byte.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word |= bits << (8 * at);
    }
    word
}

impl FromIterator<usize> for Mask {
    fn from_iter<I: IntoIterator<Item = usize>>(slots: I) -> Self {
        let mut mask = Self::empty();
        slots.into_iter().for_each(|slot| mask.set(slot));
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_masks_and_complements_stay_within_len() {
        for len in [0, 1, 63, 64, 65, 4095, 4096] {
            assert_eq!(Mask::full(len).count(), len);
            assert_eq!(Mask::full(len).without(&Mask::empty()), Mask::full(len));
            assert!(Mask::full(len).without(&Mask::full(len)).is_empty());
        }
    }
}
