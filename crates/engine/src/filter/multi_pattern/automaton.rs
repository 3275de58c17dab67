//! An Aho-Corasick automaton over the prefixes of patterns.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use hashbrown::HashMap;

use crate::filter::multi_pattern::patterns::{Patterns, Quantifier};
use crate::runtime::{StopCheck, Stopped};

/// Bytes of a pattern's prefix in the automaton. An automaton of whole patterns would be large: about a page of
/// memory for a few bytes of each pattern.
const PREFIX_BYTES: usize = 32;

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

    /// Whether a text contains as many of the patterns as it must. `found_in` has the number of the text in which each prefix
    /// was last found; `number` is that of this text.
    pub(super) fn matches(
        &self,
        patterns: &Patterns,
        text: &[u8],
        (found_in, number): (&mut [u32], u32),
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        stop_check.before_testing(text.len())?;
        let mut missing = patterns.finders.len();
        for found in self.automaton.find_overlapping_iter(text) {
            let prefix = found.pattern().as_usize();
            if found_in[prefix] == number {
                continue;
            }
            found_in[prefix] = number;
            for &at in &self.patterns[prefix] {
                let finder = &patterns.finders[at];
                let is_contained = finder.needle().len() <= PREFIX_BYTES || {
                    // A pattern never occurs before the first occurrence of its prefix.
                    let rest = &text[found.start()..];
                    stop_check.before_testing(rest.len())?;
                    finder.find(rest).is_some()
                };
                match (patterns.quantifier, is_contained) {
                    (Quantifier::Any, true) => return Ok(true),
                    (Quantifier::All, false) => return Ok(false),
                    (Quantifier::Any, false) | (Quantifier::All, true) => missing -= 1,
                }
            }
            if missing == 0 {
                break;
            }
        }
        Ok(patterns.quantifier == Quantifier::All && missing == 0)
    }
}
