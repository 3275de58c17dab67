//! The rules of a group that search one column for substrings.

use std::sync::{Arc, OnceLock};

use crate::columns::{ColumnId, Columns, Mask, Texts};
use crate::filter::multi_pattern::grams::SCAN_COST;
use crate::filter::multi_pattern::matcher::{Matcher, Tables};
use crate::filter::multi_pattern::patterns::{Patterns, Quantifier};
use crate::filter::predicate::contains_cost;
use crate::runtime::{StopCheck, Stopped};

/// Fewer patterns are searched one after the other.
const MIN_PATTERNS: usize = 16;

/// The rare grams of the patterns are learned from this part of a block's text, and from this many bytes at most.
const SAMPLED_SHARE: usize = 4;
const MAX_SAMPLE_BYTES: usize = 131_072;

/// Estimated nanoseconds to build the tables, and what each byte of the sample and each pattern adds.
const BUILD_COST: f64 = 30_000.0;
const SAMPLE_COST: f64 = 2.0;
const PATTERN_COST: f64 = 500.0;

/// The `contains` or the `not_contains` rules of one group on one column.
#[derive(Clone, Debug)]
pub(in crate::filter) struct MultiPattern {
    column: Option<ColumnId>,
    patterns: Patterns,
    /// Whether the rules are `not_contains`: then the records that do not match pass.
    negated: bool,
    /// Built by the first text that is long enough.
    tables: Arc<OnceLock<Tables>>,
}

impl MultiPattern {
    /// `None` if there are too few patterns. No pattern may be empty.
    pub(in crate::filter) fn new<'p>(
        column: Option<ColumnId>,
        quantifier: Quantifier,
        negated: bool,
        patterns: impl ExactSizeIterator<Item = &'p str>,
    ) -> Option<Self> {
        (patterns.len() >= MIN_PATTERNS).then(|| Self {
            column,
            patterns: Patterns::new(quantifier, patterns),
            negated,
            tables: Arc::default(),
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
            Some(column) => column.by_row(within, |rows| match column.texts(rows) {
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

    /// Whether a record passes that has `text` in the column.
    pub(in crate::filter) fn matches(
        &self,
        text: Option<&str>,
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        let matched = match text {
            None => false,
            Some(text) => {
                let bytes = text.as_bytes();
                match self.tables_for(bytes.len(), [bytes]) {
                    Some(tables) => {
                        Matcher::new(&self.patterns, tables).matches(bytes, stop_check)?
                    }
                    None => self.patterns.match_one_by_one(bytes, stop_check)?,
                }
            }
        };
        Ok(matched != self.negated)
    }

    /// Estimated nanoseconds that [`MultiPattern::mask`] takes for a block.
    pub(in crate::filter) fn cost(&self, columns: &Columns) -> f64 {
        let text = self.column.and_then(|id| columns.column(id)?.text());
        let (one_pass, one_by_one) = self.costs(text.map_or(0, Texts::searched_bytes));
        1000.0 + one_pass.min(one_by_one)
    }

    /// The costs of one pass for all patterns, and of a pass for each pattern.
    fn costs(&self, bytes: usize) -> (f64, f64) {
        let patterns = self.patterns.finders.len() as f64;
        let build = match self.tables.get() {
            Some(_) => 0.0,
            None => BUILD_COST + SAMPLE_COST * sampled(bytes) as f64 + PATTERN_COST * patterns,
        };
        let bytes = bytes as f64;
        (build + SCAN_COST * bytes, patterns * contains_cost(bytes))
    }

    /// The tables, if one pass for all patterns is faster for `bytes` bytes of text than a search for each.
    /// The first call that needs tables makes them for texts like those of `sample`.
    pub(super) fn tables_for<'t>(
        &self,
        bytes: usize,
        sample: impl IntoIterator<Item = &'t [u8]>,
    ) -> Option<&Tables> {
        let (one_pass, one_by_one) = self.costs(bytes);
        let build = || Tables::build(&self.patterns, beginning(sample, sampled(bytes)));
        (one_pass <= one_by_one).then(|| self.tables.get_or_init(build))
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
        let Some(tables) = self.tables_for(texts.searched_bytes(), sample) else {
            return self.patterns.rows_one_by_one(texts, within, stop_check);
        };
        let mut matcher = Matcher::new(&self.patterns, tables);
        texts.by_entry(within, |strings, rows| {
            let mut out = Mask::empty();
            for row in rows.iter() {
                if matcher.matches(strings.bytes(row), stop_check)? {
                    out.set(row);
                }
            }
            Ok(out)
        })
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
