//! Search for many patterns by one gram of each, a few of its bytes that are rare in the searched texts.
//!
//! A table of bits, which fits the level-1 cache, tells for each place of a text whether the gram of a pattern may be there.
//! No place depends on another one, so the processor looks several places up at once.

use hashbrown::HashMap;

use crate::filter::multi_pattern::patterns::{Patterns, Quantifier};

/// Maximal length of a gram.
const MAX_GRAM: usize = 4;

/// Bits of the hash of a gram, and of its place in the counts of a sample.
const HASH_BITS: u32 = 17;
const COUNT_BITS: u32 = 13;

/// Bytes of text from which the rare grams are learned.
pub(super) const SAMPLE_BYTES: usize = 32_768;

/// Estimated nanoseconds to look up a byte of text.
pub(super) const SCAN_COST: f64 = 0.6;

/// A pattern is compared at most once for this many bytes of text, on average. Then the search has taken about as long as the
/// automaton takes.
const BYTES_PER_COMPARISON: usize = 4;

/// Comparisons that a text of any length may take.
const MIN_COMPARISONS: usize = 64;

/// Where the grams of patterns are.
#[derive(Debug)]
pub(super) struct GramTable {
    /// The length of every gram: that of the shortest pattern, or [`MAX_GRAM`].
    gram: usize,
    /// A bit for each hash of a gram.
    bits: Box<[u64]>,
    /// By gram, the patterns that have it.
    patterns: HashMap<u32, Vec<PatternGram>>,
}

/// The gram by which a pattern is found.
#[derive(Clone, Copy, Debug)]
struct PatternGram {
    pattern: usize,
    /// Where it begins in the pattern.
    start: usize,
}

/// The text has more possible occurrences of patterns than are worth comparing.
pub(super) struct TooManyComparisons;

impl GramTable {
    /// The table of some patterns, none of them empty, for texts like those of `sample`.
    pub(super) fn build<'t>(
        patterns: &Patterns,
        sample: impl IntoIterator<Item = &'t [u8]>,
    ) -> Self {
        let mut table = Self {
            gram: patterns.shortest.clamp(1, MAX_GRAM),
            bits: vec![0; 1 << (HASH_BITS - 6)].into(),
            patterns: HashMap::new(),
        };
        let counts = table.counts(sample);
        for (pattern, finder) in patterns.finders.iter().enumerate() {
            let needle = finder.needle();
            let grams = (0..=needle.len() - table.gram).map(|start| {
                let gram = table.gram_at(needle, start);
                (counts[hash(gram, COUNT_BITS)], start, gram)
            });
            let Some((_, start, gram)) = grams.min() else {
                continue;
            };
            let at = hash(gram, HASH_BITS);
            table.bits[at / 64] |= 1 << (at % 64);
            let of_gram = table.patterns.entry(gram).or_default();
            of_gram.push(PatternGram { pattern, start });
        }
        table
    }

    /// How often the grams of each hash are in a sample.
    fn counts<'t>(&self, sample: impl IntoIterator<Item = &'t [u8]>) -> Vec<u32> {
        let mut counts = vec![0; 1 << COUNT_BITS];
        let mut left = SAMPLE_BYTES;
        for text in sample {
            let text = &text[..text.len().min(left)];
            left -= text.len();
            for start in 0..(text.len() + 1).saturating_sub(self.gram) {
                counts[hash(self.gram_at(text, start), COUNT_BITS)] += 1;
            }
            if left == 0 {
                break;
            }
        }
        counts
    }

    /// The gram that begins at `start`, as a number.
    #[inline(always)]
    fn gram_at(&self, text: &[u8], start: usize) -> u32 {
        match text[start..].first_chunk::<MAX_GRAM>() {
            // The same number from the bytes that the gram has.
            Some(four) => u32::from_le_bytes(*four) << (8 * (MAX_GRAM - self.gram)),
            None => {
                let mut four = [0; MAX_GRAM];
                four[MAX_GRAM - self.gram..].copy_from_slice(&text[start..start + self.gram]);
                u32::from_le_bytes(four)
            }
        }
    }

    /// Whether a text contains as many of the patterns as it must. `found_in` has the number of the text in which each pattern
    /// was last found; `number` is that of this text.
    ///
    /// # Errors
    /// [`TooManyComparisons`].
    pub(super) fn matches(
        &self,
        patterns: &Patterns,
        text: &[u8],
        found_in: &mut [u32],
        number: u32,
    ) -> Result<bool, TooManyComparisons> {
        let mut comparisons = MIN_COMPARISONS + text.len() / BYTES_PER_COMPARISON;
        let mut missing = patterns.finders.len();
        for at in 0..(text.len() + 1).saturating_sub(self.gram) {
            let gram = self.gram_at(text, at);
            let bit = hash(gram, HASH_BITS);
            if self.bits[bit / 64] >> (bit % 64) & 1 == 0 {
                continue;
            }
            let Some(of_gram) = self.patterns.get(&gram) else {
                continue;
            };
            comparisons = comparisons
                .checked_sub(of_gram.len())
                .ok_or(TooManyComparisons)?;
            for &PatternGram { pattern, start } in of_gram {
                let begins_inside = at.checked_sub(start).map(|begin| &text[begin..]);
                let needle = patterns.finders[pattern].needle();
                if found_in[pattern] != number
                    && begins_inside.is_some_and(|rest| rest.starts_with(needle))
                {
                    if patterns.quantifier == Quantifier::Any {
                        return Ok(true);
                    }
                    found_in[pattern] = number;
                    missing -= 1;
                }
            }
            if missing == 0 {
                break;
            }
        }
        Ok(patterns.quantifier == Quantifier::All && missing == 0)
    }
}

/// A hash of `bits` bits.
#[inline(always)]
fn hash(gram: u32, bits: u32) -> usize {
    (gram.wrapping_mul(0x9e37_79b1) >> (u32::BITS - bits)) as usize
}
