//! Substrings that are searched together.

use std::sync::Arc;

use memchr::memmem::Finder;

use crate::columns::{Mask, Texts};
use crate::runtime::{StopCheck, Stopped};

/// How many of the patterns a text must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) enum Quantifier {
    Any,
    All,
}

/// Non-empty substrings, and how many of them a text must contain.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    pub(super) quantifier: Quantifier,
    pub(super) finders: Arc<[Finder<'static>]>,
    /// The length of the shortest.
    pub(super) shortest: usize,
}

impl Patterns {
    pub(super) fn new<'p>(
        quantifier: Quantifier,
        patterns: impl ExactSizeIterator<Item = &'p str>,
    ) -> Self {
        let finders = patterns.map(|pattern| Finder::new(pattern).into_owned());
        let finders: Arc<[Finder<'static>]> = finders.collect();
        let lengths = finders.iter().map(|finder| finder.needle().len());
        Self {
            quantifier,
            shortest: lengths.min().unwrap_or(0),
            finders,
        }
    }

    /// The rows of `within` whose text matches, by one search for each pattern.
    pub(super) fn rows_one_by_one(
        &self,
        texts: &Texts,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        let mut left = within.clone();
        for finder in self.finders.iter() {
            if left.is_empty() {
                break;
            }
            let found = texts.containing(finder, &left, stop_check)?;
            match self.quantifier {
                Quantifier::Any => left.and_not(&found),
                Quantifier::All => left = found,
            }
        }
        Ok(match self.quantifier {
            Quantifier::Any => within.without(&left),
            Quantifier::All => left,
        })
    }

    /// Whether a text matches, by one search for each pattern.
    pub(super) fn match_one_by_one(
        &self,
        text: &[u8],
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        let needs_all = self.quantifier == Quantifier::All;
        for finder in self.finders.iter() {
            stop_check.before_testing(text.len())?;
            let found = finder.find(text).is_some();
            if found != needs_all {
                return Ok(found);
            }
        }
        Ok(needs_all)
    }
}
