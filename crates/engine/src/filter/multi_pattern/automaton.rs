//! An Aho-Corasick automaton over the prefixes of patterns.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use hashbrown::HashMap;

use crate::filter::multi_pattern::patterns::{Patterns, Quantifier};
use crate::runtime::{StopCheck, Stopped};

/// Bytes of a pattern's prefix in the automaton. An automaton of whole patterns would be large: about a page of
/// memory for a few bytes of each pattern.
pub(super) const PREFIX_BYTES: usize = 32;

/// Finds the patterns whose prefix occurs in a text.
#[derive(Debug)]
pub(super) struct PrefixAutomaton {
    automaton: AhoCorasick,
    /// The indexes of the patterns with each prefix.
    patterns: Vec<Vec<usize>>,
}

impl PrefixAutomaton {
    /// Builds the automaton; `None` if the patterns exceed its limits.
    pub(super) fn build(patterns: &Patterns) -> Option<Self> {
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        let mut by_prefix: Vec<Vec<usize>> = Vec::new();
        let mut prefixes = Vec::new();
        for (at, finder) in patterns.finders.iter().enumerate() {
            let pattern = finder.needle();
            let prefix = &pattern[..pattern.len().min(PREFIX_BYTES)];
            let place = *places.entry(prefix).or_insert_with(|| {
                prefixes.push(prefix);
                by_prefix.push(Vec::new());
                by_prefix.len() - 1
            });
            by_prefix[place].push(at);
        }
        // A DFA would take a kilobyte for each byte of a prefix.
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(prefixes)
            .ok()?;
        Some(Self {
            automaton,
            patterns: by_prefix,
        })
    }
}

/// Matches one text after another.
pub(super) struct Matcher<'a> {
    patterns: &'a Patterns,
    automaton: &'a PrefixAutomaton,
    /// The number of the text in which each prefix was last found.
    found_in: Vec<u32>,
    /// The number of the current text, 1 for the first.
    text: u32,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(patterns: &'a Patterns, automaton: &'a PrefixAutomaton) -> Self {
        Self {
            patterns,
            automaton,
            found_in: vec![0; automaton.patterns.len()],
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
        let mut missing = self.patterns.finders.len();
        for found in self.automaton.automaton.find_overlapping_iter(text) {
            let prefix = found.pattern().as_usize();
            if self.found_in[prefix] == self.text {
                continue;
            }
            self.found_in[prefix] = self.text;
            for &at in &self.automaton.patterns[prefix] {
                let finder = &self.patterns.finders[at];
                let is_contained = finder.needle().len() <= PREFIX_BYTES || {
                    // A pattern never occurs before the first occurrence of its prefix.
                    let rest = &text[found.start()..];
                    stop_check.before_testing(rest.len())?;
                    finder.find(rest).is_some()
                };
                match (self.patterns.quantifier, is_contained) {
                    (Quantifier::Any, true) => return Ok(true),
                    (Quantifier::All, false) => return Ok(false),
                    (Quantifier::Any, false) | (Quantifier::All, true) => missing -= 1,
                }
            }
            if missing == 0 {
                break;
            }
        }
        Ok(self.patterns.quantifier == Quantifier::All && missing == 0)
    }
}
