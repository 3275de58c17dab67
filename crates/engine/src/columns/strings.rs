//! Strings, concatenated.

use memchr::memmem::Finder;

use crate::columns::encoding::{Damaged, Decoder};
use crate::columns::integers::Integers;
use crate::columns::mask::Mask;
use crate::columns::value_set::TextSet;
use crate::runtime::{CHECK_BYTES, StopCheck, Stopped};

/// Up to 4,096 strings, concatenated in one text.
#[derive(Clone, Debug)]
pub(crate) struct Strings {
    text: Box<str>,
    /// The start of each string, then the end of the last one.
    offsets: Integers,
}

impl Strings {
    pub(crate) fn build<'a>(strings: impl Iterator<Item = &'a str>) -> Self {
        let mut text = String::new();
        let mut offsets = vec![0];
        for string in strings {
            text.push_str(string);
            offsets.push(text.len() as i64);
        }
        Self {
            text: text.into(),
            offsets: Integers::build(&offsets),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn text_bytes(&self) -> usize {
        self.text.len()
    }

    fn span(&self, row: usize) -> (usize, usize) {
        // The smallest offset is 0, so a delta is the offset itself.
        (
            self.offsets.delta(row) as usize,
            self.offsets.delta(row + 1) as usize,
        )
    }

    pub(crate) fn get(&self, row: usize) -> &str {
        let (start, end) = self.span(row);
        &self.text[start..end]
    }

    /// The bytes of a string; unlike [`Strings::get`] it does not check character boundaries.
    pub(crate) fn bytes(&self, row: usize) -> &[u8] {
        let (start, end) = self.span(row);
        &self.text.as_bytes()[start..end]
    }

    /// The rows of `within` that equal `value`.
    pub(crate) fn equal(&self, value: &[u8], within: &Mask) -> Mask {
        let text = self.text.as_bytes();
        let (key, bits) = masked_eight(value);
        self.offsets.mask_spans(within, |start, end| {
            end - start == value.len()
                && first_eight(text, start) & bits == key
                && (value.len() <= 8 || &text[start..end] == value)
        })
    }

    /// The rows of `within` whose first eight bytes are less than those of `low` or greater than those of `high`.
    pub(crate) fn outside(&self, low: &[u8], high: Option<&[u8]>, within: &Mask) -> Mask {
        let text = self.text.as_bytes();
        let low = masked_eight(low).0.swap_bytes();
        let high = high.map_or(u64::MAX, |high| masked_eight(high).0.swap_bytes());
        self.offsets.mask_spans(within, |start, end| {
            let bits = 8 * (end - start).min(8) as u32;
            let own = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
            // The order of big-endian integers is that of their bytes.
            let eight = (first_eight(text, start) & own).swap_bytes();
            (eight < low) | (eight > high)
        })
    }

    /// The rows of `within` that begin with `value`.
    pub(crate) fn starting_with(&self, value: &[u8], within: &Mask) -> Mask {
        let text = self.text.as_bytes();
        let (key, bits) = masked_eight(value);
        self.offsets.mask_spans(within, |start, end| {
            // `&` instead of `&&`: a branch that depends on the data would be mispredicted.
            (end - start >= value.len()) & (first_eight(text, start) & bits == key)
                && (value.len() <= 8 || text[start..end].starts_with(value))
        })
    }

    /// The rows of `within` that end with `value`.
    pub(crate) fn ending_with(&self, value: &[u8], within: &Mask) -> Mask {
        let text = self.text.as_bytes();
        let tail = &value[value.len().saturating_sub(8)..];
        let (key, bits) = masked_eight(tail);
        self.offsets.mask_spans(within, |start, end| {
            let at = end.saturating_sub(tail.len());
            (end - start >= value.len()) & (first_eight(text, at) & bits == key)
                && (value.len() <= 8 || text[start..end].ends_with(value))
        })
    }

    /// The rows of `within` whose string passes the test.
    pub(crate) fn passing(&self, test: impl Fn(&str) -> bool, within: &Mask) -> Mask {
        self.offsets
            .mask_spans(within, |start, end| test(&self.text[start..end]))
    }

    /// The rows of `within` whose string is in the set.
    pub(super) fn in_set(&self, set: &TextSet, within: &Mask) -> Mask {
        let text = self.text.as_bytes();
        self.offsets
            .mask_spans(within, |start, end| set.contains(text, start, end))
    }

    /// The rows of `within` that contain the pattern of the finder.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn containing(
        &self,
        finder: &Finder<'_>,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        let pattern = finder.needle().len();
        if pattern == 0 {
            return Ok(within.clone());
        }
        let mut out = Mask::empty();
        if self.text.is_empty() {
            return Ok(out);
        }
        // One search over the whole text is faster than a search of each string, unless few strings are in `within`.
        if within.count() * 4 < self.len() {
            for row in within.iter() {
                let bytes = self.bytes(row);
                stop_check.before_testing(bytes.len())?;
                if finder.find(bytes).is_some() {
                    out.set(row);
                }
            }
            return Ok(out);
        }
        let text = self.text.as_bytes();
        let mut row = 0;
        while row < self.len() {
            // The text is searched in pieces of whole strings, so that the stop flag is checked in long texts.
            let (mut at, _) = self.span(row);
            let last = self.row_at((at + CHECK_BYTES).min(text.len() - 1), row);
            let (_, end) = self.span(last);
            stop_check.before_testing(end - at)?;
            while let Some(found) = finder.find(&text[at..end]) {
                let start = at + found;
                row = self.row_at(start, row);
                // If this match crosses the end of its string, so does every later match that starts in the string.
                (_, at) = self.span(row);
                if start + pattern <= at {
                    out.set(row);
                }
                stop_check.before_testing(pattern)?;
            }
            row = last + 1;
        }
        out.and(within);
        Ok(out)
    }

    /// The row whose text holds byte `at`, at or after `row`.
    fn row_at(&self, at: usize, row: usize) -> usize {
        let end = |row: usize| self.offsets.delta(row + 1) as usize;
        let mut low = row;
        let mut step = 1;
        // Matches come in ascending order: exponential search from the last row, then binary search.
        while low + step < self.len() && end(low + step - 1) <= at {
            low += step;
            step *= 2;
        }
        let mut high = (low + step).min(self.len());
        while low < high {
            let middle = low.midpoint(high);
            if end(middle) <= at {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }

    /// The number of strings for which `before` holds. They must come before the others.
    pub(crate) fn partition(&self, before: impl Fn(&[u8]) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if before(self.bytes(middle)) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.text.len() + self.offsets.memory_bytes()
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.offsets.write(out);
        out.extend_from_slice(&(self.text.len() as u64).to_le_bytes());
        out.extend_from_slice(self.text.as_bytes());
    }

    pub(crate) fn read(decoder: &mut Decoder<'_>, len: usize) -> Result<Self, Damaged> {
        let offsets = Integers::read_from(decoder, len + 1)?;
        let bytes = usize::try_from(decoder.u64()?).map_err(|_| Damaged("length"))?;
        let text = std::str::from_utf8(decoder.bytes(bytes)?)
            .map_err(|_| Damaged("text that is not UTF-8"))?;
        let mut last = 0;
        let mut sound = offsets
            .range()
            .is_some_and(|(min, max)| min == 0 && max as usize == bytes);
        for row in 0..=len {
            let offset = offsets.delta(row) as usize;
            sound &= last <= offset && text.is_char_boundary(offset);
            last = offset;
        }
        if !sound || last != bytes || offsets.delta(0) != 0 {
            return Err(Damaged("offsets of strings"));
        }
        Ok(Self {
            text: text.into(),
            offsets,
        })
    }
}

/// The eight bytes of `text` from `at` on as a little-endian integer, with zeros for bytes past the end.
#[inline(always)]
fn first_eight(text: &[u8], at: usize) -> u64 {
    match text[at..].first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => masked_eight(&text[at..]).0,
    }
}

/// The first eight bytes of `value` as [`first_eight`] returns them, and a mask of the bytes that `value` has.
fn masked_eight(value: &[u8]) -> (u64, u64) {
    let (mut eight, mut bits) = ([0; 8], [0; 8]);
    for ((eight, bits), byte) in eight.iter_mut().zip(&mut bits).zip(value) {
        *eight = *byte;
        *bits = 0xff;
    }
    (u64::from_le_bytes(eight), u64::from_le_bytes(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_across_two_strings_does_not_count() {
        let strings = Strings::build(["xaa", "", "ab", "aab", "", "b", "aaab"].into_iter());
        let finder = Finder::new("aab");
        let mask = strings
            .containing(&finder, &Mask::full(7), &StopCheck::never())
            .expect("no stop");
        assert_eq!(mask.iter().collect::<Vec<_>>(), [3, 6]);
    }
}
