//! Search for many patterns with a window that moves several bytes at a time.
//!
//! Method: Wu and Manber, "A fast algorithm for multi-pattern searching", <https://www.cs.arizona.edu/sites/default/files/TR94-17.pdf>.

use crate::filter::multi_pattern::patterns::{Patterns, Quantifier};

/// Maximal length of the window. A longer window moves further, but more of the grams of a text are in a pattern.
const MAX_WINDOW: usize = 12;

/// Maximal length of a gram.
const MAX_GRAM: usize = 4;

/// Bits of the hash of a gram. A table of two bytes for each hash fits the level-1 cache, or nearly so.
const HASH_BITS: u32 = 15;

/// Table entries below are distances, the others are this number and a bucket.
const FIRST_BUCKET: u16 = MAX_WINDOW as u16 + 1;

/// A pattern is compared at most once for this many bytes of text, on average. Then the search has taken about as long as the
/// automaton takes.
const BYTES_PER_COMPARISON: usize = 4;

/// Comparisons that a text of any length may take.
const MIN_COMPARISONS: usize = 64;

/// For each gram of a text how far the window can move.
#[derive(Debug)]
pub(super) struct ShiftTable {
    /// The length of the window: that of the shortest pattern, or [`MAX_WINDOW`].
    window: usize,
    /// The length of a gram.
    gram: usize,
    /// By the hash of the gram at the end of the window: how far the window can move without passing the beginning of a
    /// pattern, or the bucket of the patterns that may begin with the window.
    entries: Box<[u16]>,
    /// Indexes of patterns.
    buckets: Vec<Vec<usize>>,
}

/// The text has more possible occurrences of patterns than are worth comparing.
pub(super) struct TooManyComparisons;

impl ShiftTable {
    /// The table of some patterns. None may be empty.
    pub(super) fn build(patterns: &Patterns) -> Self {
        let needles = || patterns.finders.iter().map(|finder| finder.needle());
        let (window, gram) = lengths(patterns);
        let furthest = (window - gram + 1) as u16;
        let mut table = Self {
            window,
            gram,
            entries: vec![furthest; 1 << HASH_BITS].into(),
            buckets: Vec::new(),
        };
        for needle in needles() {
            for end in gram..window {
                let hash = table.hash(needle, end);
                let shift = (window - end) as u16;
                table.entries[hash] = table.entries[hash].min(shift);
            }
        }
        for (at, needle) in needles().enumerate() {
            let hash = table.hash(needle, window);
            let entry = &mut table.entries[hash];
            if *entry < FIRST_BUCKET {
                *entry = FIRST_BUCKET + table.buckets.len() as u16;
                table.buckets.push(Vec::new());
            }
            table.buckets[usize::from(*entry - FIRST_BUCKET)].push(at);
        }
        table
    }

    /// Estimated nanoseconds that a search for some patterns takes for a byte of text.
    pub(super) fn scan_cost(patterns: &Patterns) -> f64 {
        let (window, gram) = lengths(patterns);
        0.3 + 2.0 / (window - gram + 1) as f64
    }

    /// The hash of the gram that ends before `end`.
    #[inline(always)]
    fn hash(&self, text: &[u8], end: usize) -> usize {
        let gram = match text[..end].last_chunk::<MAX_GRAM>() {
            Some(four) => u32::from_le_bytes(*four) >> (8 * (MAX_GRAM - self.gram)),
            // The same number from the few bytes that there are.
            None => text[end - self.gram..end]
                .iter()
                .rev()
                .fold(0, |gram, &byte| gram << 8 | u32::from(byte)),
        };
        (gram.wrapping_mul(0x9e37_79b1) >> (u32::BITS - HASH_BITS)) as usize
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
        let mut end = self.window;
        while end <= text.len() {
            let entry = self.entries[self.hash(text, end)];
            let Some(bucket) = entry.checked_sub(FIRST_BUCKET) else {
                end += usize::from(entry);
                continue;
            };
            let rest = &text[end - self.window..];
            let bucket = &self.buckets[usize::from(bucket)];
            comparisons = comparisons
                .checked_sub(bucket.len())
                .ok_or(TooManyComparisons)?;
            for &at in bucket {
                if found_in[at] != number && rest.starts_with(patterns.finders[at].needle()) {
                    if patterns.quantifier == Quantifier::Any {
                        return Ok(true);
                    }
                    found_in[at] = number;
                    missing -= 1;
                }
            }
            if missing == 0 {
                break;
            }
            end += 1;
        }
        Ok(patterns.quantifier == Quantifier::All && missing == 0)
    }
}

/// The length of the window, and that of a gram.
fn lengths(patterns: &Patterns) -> (usize, usize) {
    let window = patterns.shortest.clamp(1, MAX_WINDOW);
    (window, window.min(MAX_GRAM))
}
