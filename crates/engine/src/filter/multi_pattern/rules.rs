//! The rules of a group that search one column for substrings.

use std::sync::{Arc, OnceLock};

use memchr::memmem::Finder;

use crate::columns::{Column, ColumnId, Columns, Mask, Scalars, Texts};
use crate::filter::multi_pattern::grams::{GramTable, SCAN_COST, TooManyComparisons};
use crate::filter::predicate::contains_cost;
use crate::runtime::{StopCheck, Stopped};

/// Fewer patterns are searched one after the other.
const MIN_PATTERNS: usize = 16;

/// The rare grams of the patterns are learned from this part of a block's text, and from this many bytes at most.
const SAMPLED_SHARE: usize = 4;
const MAX_SAMPLE_BYTES: usize = 131_072;

/// Estimated nanoseconds to build the table, and what each byte of the sample and each pattern adds.
const BUILD_COST: f64 = 30_000.0;
const SAMPLE_COST: f64 = 2.0;
const PATTERN_COST: f64 = 500.0;

/// Rules of one group on one column: "one of the substrings is contained", or its complement "none is contained".
#[derive(Clone, Debug)]
pub(crate) struct MultiPattern {
    column: Option<ColumnId>,
    patterns: Arc<[Finder<'static>]>,
    /// Whether the rules are `not_contains`: then the records that do not match pass.
    negated: bool,
    /// Built by the first text that is long enough.
    table: Arc<OnceLock<GramTable>>,
}

impl MultiPattern {
    /// `None` if there are too few patterns. No pattern may be empty.
    pub(in crate::filter) fn new<'p>(
        column: Option<ColumnId>,
        negated: bool,
        patterns: impl ExactSizeIterator<Item = &'p str>,
    ) -> Option<Self> {
        (patterns.len() >= MIN_PATTERNS).then(|| Self {
            column,
            patterns: patterns
                .map(|pattern| Finder::new(pattern).into_owned())
                .collect(),
            negated,
            table: Arc::default(),
        })
    }

    pub(in crate::filter) fn column(&self) -> Option<ColumnId> {
        self.column
    }

    /// The records of `within` that pass.
    pub(in crate::filter) fn mask(
        &self,
        columns: &Columns,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        let matched = match self.column.and_then(|id| columns.column(id)) {
            None => Mask::empty(),
            Some(column) => column.any(within, |values, rows| match values.texts(rows) {
                Some((texts, rows)) => self.rows(texts, &rows, stop_check),
                None => Ok(Mask::empty()),
            })?,
        };
        Ok(if self.negated {
            within.without(&matched)
        } else {
            matched
        })
    }

    /// Whether a record passes that has these strings in the column.
    pub(in crate::filter) fn matches<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t str>,
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        for text in texts {
            let bytes = text.as_bytes();
            let matched = match self.table_for(bytes.len(), [bytes]) {
                Some(table) => self.is_in(table, bytes, stop_check)?,
                None => self.is_in_one_by_one(bytes, stop_check)?,
            };
            if matched {
                return Ok(!self.negated);
            }
        }
        Ok(self.negated)
    }

    /// Estimated nanoseconds that [`MultiPattern::mask`] takes for a block.
    pub(in crate::filter) fn cost(&self, columns: &Columns) -> f64 {
        let column = self.column.and_then(|id| columns.column(id));
        let texts = column
            .into_iter()
            .flat_map(Column::parts)
            .filter_map(Scalars::text);
        let (one_pass, one_by_one) = self.costs(texts.map(Texts::searched_bytes).sum());
        1000.0 + one_pass.min(one_by_one)
    }

    /// The costs of one pass for all patterns, and of a pass for each pattern.
    fn costs(&self, bytes: usize) -> (f64, f64) {
        let patterns = self.patterns.len() as f64;
        let build = match self.table.get() {
            Some(_) => 0.0,
            None => BUILD_COST + SAMPLE_COST * sampled(bytes) as f64 + PATTERN_COST * patterns,
        };
        let bytes = bytes as f64;
        (build + SCAN_COST * bytes, patterns * contains_cost(bytes))
    }

    /// The table, if one pass for all patterns is faster for `bytes` bytes of text than a search for each.
    /// The first call that needs the table makes it for texts like those of `sample`.
    pub(super) fn table_for<'t>(
        &self,
        bytes: usize,
        sample: impl IntoIterator<Item = &'t [u8]>,
    ) -> Option<&GramTable> {
        let (one_pass, one_by_one) = self.costs(bytes);
        let build = || GramTable::build(&self.patterns, beginning(sample, sampled(bytes)));
        (one_pass <= one_by_one).then(|| self.table.get_or_init(build))
    }

    /// The rows of `within` whose text matches.
    fn rows(
        &self,
        texts: &Texts,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        let strings = texts.strings();
        let sample = (0..strings.len()).map(|entry| strings.bytes(entry));
        let Some(table) = self.table_for(texts.searched_bytes(), sample) else {
            let mut left = within.clone();
            for finder in self.patterns.iter() {
                if left.is_empty() {
                    break;
                }
                left.and_not(&texts.containing(finder, &left, stop_check)?);
            }
            return Ok(within.without(&left));
        };
        texts.by_entry(within, |strings, rows| {
            let mut out = Mask::empty();
            for row in rows.iter() {
                if self.is_in(table, strings.bytes(row), stop_check)? {
                    out.set(row);
                }
            }
            Ok(out)
        })
    }

    /// Whether one of the patterns is in a text.
    fn is_in(
        &self,
        table: &GramTable,
        text: &[u8],
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        stop_check.before_testing(text.len())?;
        match table.matches(&self.patterns, text) {
            Ok(matches) => Ok(matches),
            Err(TooManyComparisons) => self.is_in_one_by_one(text, stop_check),
        }
    }

    /// As [`MultiPattern::is_in`], by one search for each pattern.
    fn is_in_one_by_one(&self, text: &[u8], stop_check: &StopCheck<'_>) -> Result<bool, Stopped> {
        for finder in self.patterns.iter() {
            stop_check.before_testing(text.len())?;
            if finder.find(text).is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Bytes of text from which the rare grams are learned, for a block with `bytes` bytes.
fn sampled(bytes: usize) -> usize {
    (bytes / SAMPLED_SHARE).min(MAX_SAMPLE_BYTES)
}

/// The first `bytes` bytes of texts.
fn beginning<'t>(
    texts: impl IntoIterator<Item = &'t [u8]>,
    bytes: usize,
) -> impl Iterator<Item = &'t [u8]> {
    let mut left = bytes;
    texts.into_iter().map_while(move |text| {
        let text = (left > 0).then(|| &text[..text.len().min(left)])?;
        left -= text.len();
        Some(text)
    })
}
