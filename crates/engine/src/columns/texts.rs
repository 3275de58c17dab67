//! The strings of a column.

use std::convert::Infallible;

use hashbrown::HashMap;
use memchr::memmem::Finder;

use crate::columns::encoding::{Damaged, Decoder};
use crate::columns::integers::Integers;
use crate::columns::mask::{BLOCK_RECORDS, Mask};
use crate::columns::strings::Strings;
use crate::columns::value_set::TextSet;
use crate::runtime::{StopCheck, Stopped};

/// One string a row. The string of a row without a value is not specified.
#[derive(Clone, Debug)]
pub(crate) enum Texts {
    /// A string a row.
    Plain(Strings),
    /// A dictionary: the distinct strings, sorted by their bytes, and a code a row.
    Coded { codes: Integers, entries: Strings },
}

/// A string of a set is searched in a dictionary in the time in which as many entries are looked up in the set.
const SEARCHED_ENTRIES: usize = 24;

/// The code of a string; `None` if it is not an entry of the dictionary.
fn code_of(text: &[u8], entries: &Strings) -> Option<usize> {
    let code = entries.partition(|entry| entry < text);
    (code < entries.len() && entries.bytes(code) == text).then_some(code)
}

impl Texts {
    /// Encodes one string a row, in the smaller of the two representations.
    pub(crate) fn build(rows: &[&str]) -> Self {
        let mut codes = HashMap::with_capacity(rows.len().min(256));
        let mut distinct_bytes = 0;
        for &row in rows {
            codes.entry(row).or_insert_with(|| {
                distinct_bytes += row.len();
                0
            });
        }
        let bytes: usize = rows.iter().map(|row| row.len()).sum();
        let code_bytes = if codes.len() <= 256 { 1 } else { 2 };
        let coded = distinct_bytes + codes.len() * 4 + rows.len() * code_bytes;
        if coded >= bytes + rows.len() * 4 {
            return Self::Plain(Strings::build(rows.iter().copied()));
        }
        let mut entries: Vec<&str> = codes.keys().copied().collect();
        entries.sort_unstable();
        for (code, &entry) in (0..).zip(&entries) {
            codes.insert(entry, code);
        }
        let codes: Vec<i64> = rows.iter().map(|row| codes[row]).collect();
        Self::Coded {
            // Every entry is used, so the smallest code is 0 and a delta is the code itself.
            codes: Integers::build(&codes),
            entries: Strings::build(entries.into_iter()),
        }
    }

    pub(crate) fn get(&self, row: usize) -> &str {
        match self {
            Self::Plain(strings) => strings.get(row),
            Self::Coded { codes, entries } => entries.get(codes.delta(row) as usize),
        }
    }

    /// The strings by row, or the distinct strings by code.
    pub(crate) fn strings(&self) -> &Strings {
        match self {
            Self::Plain(strings)
            | Self::Coded {
                entries: strings, ..
            } => strings,
        }
    }

    /// The rows of `within` that equal `value`.
    pub(crate) fn equal(&self, value: &str, within: &Mask) -> Mask {
        let value = value.as_bytes();
        match self {
            Self::Plain(strings) => strings.equal(value, within),
            Self::Coded { codes, entries } => match code_of(value, entries) {
                Some(code) => codes.mask_between(code as i64, code as i64, within),
                None => Mask::empty(),
            },
        }
    }

    /// The rows of `within` whose string is in the set.
    pub(super) fn in_set(&self, set: &TextSet, within: &Mask) -> Mask {
        match self {
            Self::Coded { codes, entries } if set.len() * SEARCHED_ENTRIES < entries.len() => {
                let found = set.iter().filter_map(|text| code_of(text, entries));
                codes.mask_marked(&found.collect(), within)
            }
            _ => self.by_string(within, |strings, rows| strings.in_set(set, rows)),
        }
    }

    /// Rows of `within` whose string is less than `low` or greater than `high`: all of them, or those that differ in their first
    /// bytes.
    pub(crate) fn outside(&self, low: Option<&str>, high: Option<&str>, within: &Mask) -> Mask {
        let low = low.unwrap_or_default().as_bytes();
        let high = high.map(str::as_bytes);
        match self {
            Self::Plain(strings) => strings.outside(low, high, within),
            Self::Coded { codes, entries } => {
                let first = entries.partition(|entry| entry < low) as i64;
                let end = entries.partition(|entry| high.is_none_or(|high| entry <= high)) as i64;
                within.without(&codes.mask_between(first, end - 1, within))
            }
        }
    }

    /// The rows of `within` that begin with `prefix`.
    pub(crate) fn starting_with(&self, prefix: &str, within: &Mask) -> Mask {
        let prefix = prefix.as_bytes();
        match self {
            Self::Plain(strings) => strings.starting_with(prefix, within),
            Self::Coded { codes, entries } => {
                // The entries are sorted, so those with the same prefix are adjacent.
                let first = entries.partition(|entry| entry < prefix);
                let end = entries.partition(|entry| entry < prefix || entry.starts_with(prefix));
                codes.mask_between(first as i64, end as i64 - 1, within)
            }
        }
    }

    /// The rows of `within` that end with `suffix`.
    pub(crate) fn ending_with(&self, suffix: &str, within: &Mask) -> Mask {
        let suffix = suffix.as_bytes();
        self.by_string(within, |strings, rows| strings.ending_with(suffix, rows))
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
        self.by_entry(within, |strings, rows| {
            strings.containing(finder, rows, stop_check)
        })
    }

    /// The rows of `within` that `test` returns. With a dictionary, each distinct string is tested once.
    ///
    /// # Errors
    /// Those of `test`.
    pub(crate) fn by_entry<E>(
        &self,
        within: &Mask,
        test: impl FnOnce(&Strings, &Mask) -> Result<Mask, E>,
    ) -> Result<Mask, E> {
        match self {
            Self::Plain(strings) => test(strings, within),
            Self::Coded { codes, entries } => {
                let mut wanted = Mask::full(entries.len());
                if within.count() < entries.len() {
                    wanted = Mask::empty();
                    within
                        .iter()
                        .for_each(|row| wanted.set(codes.delta(row) as usize));
                }
                let marked = test(entries, &wanted)?;
                Ok(if marked.is_empty() {
                    marked
                } else {
                    codes.mask_marked(&marked, within)
                })
            }
        }
    }

    /// As [`Texts::by_entry`], for a test that does not fail.
    fn by_string(&self, within: &Mask, test: impl FnOnce(&Strings, &Mask) -> Mask) -> Mask {
        let tested: Result<Mask, Infallible> =
            self.by_entry(within, |strings, rows| Ok(test(strings, rows)));
        tested.unwrap_or_else(|never| match never {})
    }

    /// Bytes that a search for a substring reads.
    pub(crate) fn searched_bytes(&self) -> usize {
        self.strings().text_bytes()
    }

    /// Bytes of the strings of all rows: a string that several rows have counts for each of them.
    pub(crate) fn bytes_of_rows(&self) -> usize {
        match self {
            Self::Plain(strings) => strings.text_bytes(),
            Self::Coded { codes, entries } => codes
                .iter()
                .map(|code| entries.bytes(code as usize).len())
                .sum(),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Plain(strings) => strings.memory_bytes(),
            Self::Coded { codes, entries } => codes.memory_bytes() + entries.memory_bytes(),
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Plain(strings) => {
                out.push(0);
                strings.write(out);
            }
            Self::Coded { codes, entries } => {
                out.push(1);
                codes.write(out);
                out.extend_from_slice(&(entries.len() as u32).to_le_bytes());
                entries.write(out);
            }
        }
    }

    pub(crate) fn read(decoder: &mut Decoder<'_>, len: usize) -> Result<Self, Damaged> {
        match decoder.u8()? {
            0 => Strings::read(decoder, len).map(Self::Plain),
            1 => {
                let codes = Integers::read_from(decoder, len)?;
                let count = decoder.count(BLOCK_RECORDS)?;
                let entries = Strings::read(decoder, count)?;
                match codes.range() {
                    Some((0, max)) if (max as usize) < count => {}
                    None => {}
                    _ => {
                        return Err(Damaged("codes of strings"));
                    }
                }
                if !(1..count).all(|at| entries.bytes(at - 1) < entries.bytes(at)) {
                    return Err(Damaged("order of strings"));
                }
                Ok(Self::Coded { codes, entries })
            }
            _ => Err(Damaged("strings")),
        }
    }
}
