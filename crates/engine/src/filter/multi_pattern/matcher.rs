//! Matching one text after another against many patterns.

use std::sync::OnceLock;

use crate::filter::multi_pattern::automaton::PrefixAutomaton;
use crate::filter::multi_pattern::grams::{GramTable, TooManyComparisons};
use crate::filter::multi_pattern::patterns::Patterns;

use crate::runtime::{StopCheck, Stopped};

/// What a search for some patterns needs.
#[derive(Debug)]
pub(super) struct Tables {
    grams: GramTable,
    /// For texts with very many possible occurrences: its time does not depend on them. Built by the first such text; `None`
    /// if the patterns exceed the limits of an automaton.
    automaton: OnceLock<Option<PrefixAutomaton>>,
}

impl Tables {
    /// The tables for texts like those of `sample`.
    pub(super) fn build<'t>(
        patterns: &Patterns,
        sample: impl IntoIterator<Item = &'t [u8]>,
    ) -> Self {
        Self {
            grams: GramTable::build(patterns, sample),
            automaton: OnceLock::new(),
        }
    }
}

/// Matches one text after another.
pub(super) struct Matcher<'a> {
    patterns: &'a Patterns,
    tables: &'a Tables,
    /// The number of the text in which each pattern, or each prefix of a pattern, was last found.
    found_in: Vec<u32>,
    /// The number of the current text, 1 for the first.
    text: u32,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(patterns: &'a Patterns, tables: &'a Tables) -> Self {
        Self {
            patterns,
            tables,
            found_in: vec![0; patterns.finders.len()],
            text: 0,
        }
    }

    /// Whether the next text contains as many of the patterns as it must.
    pub(super) fn matches(
        &mut self,
        text: &[u8],
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        self.text += 1;
        stop_check.before_testing(text.len())?;
        let grams = &self.tables.grams;
        match grams.matches(self.patterns, text, &mut self.found_in, self.text) {
            Ok(matches) => Ok(matches),
            Err(TooManyComparisons) => self.match_by_automaton(text, stop_check),
        }
    }

    fn match_by_automaton(
        &mut self,
        text: &[u8],
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        let build = || PrefixAutomaton::build(self.patterns);
        let Some(automaton) = self.tables.automaton.get_or_init(build) else {
            return self.patterns.match_one_by_one(text, stop_check);
        };
        // The numbers that the first search noted are those of patterns, not of prefixes.
        self.text += 1;
        automaton.matches(
            self.patterns,
            text,
            (&mut self.found_in, self.text),
            stop_check,
        )
    }
}
