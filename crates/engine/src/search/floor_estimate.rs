//! What score a page will end at, expected from the part of the blocks that was scanned.
//!
//! A scan that knows only what it has found so far looks closely at many records that the final bar
//! rules out: at a million records, at six of every seven. The best of some blocks from all over the
//! database say early on about where the bar will come to lie. They may be wrong: then the ranking
//! comes out uncertain, and the scan is repeated without them. So they decide how much is looked at,
//! never what is found.

use crate::record::Score;
use crate::search::ranking::Reached;

/// Blocks that must have been scanned before anything is expected of the others.
pub(crate) const FIRST_BLOCKS: usize = 4;

/// Fewer records than these are scanned without.
const LEAST_RECORDS: usize = 32_768;

/// Records scanned from one expectation to the next, as a part of those before.
const NEXT_AFTER: f64 = 0.25;

/// Standard deviations by which more of a page's records than usual may lie in the blocks scanned: few
/// scans in a thousand are repeated.
const DEVIATIONS: f64 = 4.0;

/// The best of the blocks that were scanned.
pub(crate) struct Expectation {
    /// Places of the page.
    size: usize,
    /// All records.
    records: usize,
    /// Blocks scanned.
    blocks: usize,
    /// Records scanned.
    scanned: usize,
    /// Records scanned before the next expectation.
    next: usize,
    best: Reached,
}

impl Expectation {
    /// For a page of `size` places out of so many records; `None` where they are too few.
    pub(crate) fn new(size: usize, records: usize) -> Option<Self> {
        (records >= LEAST_RECORDS).then(|| Self {
            size,
            records,
            blocks: 0,
            scanned: 0,
            next: 0,
            best: Reached::new(size),
        })
    }

    /// Takes in what the records of a block of `len` reach, best first; a new expectation, if it is time for
    /// one.
    pub(crate) fn see(&mut self, len: usize, reached: &[Score]) -> Option<Score> {
        for &score in reached.iter().take(self.most(len)) {
            self.best.note(score);
        }
        self.blocks += 1;
        self.scanned += len;
        if self.blocks < FIRST_BLOCKS || self.scanned < self.next {
            return None;
        }
        self.next = self.scanned + (self.scanned as f64 * NEXT_AFTER) as usize;
        self.best.at(self.place())
    }

    /// How many of the best of a block of `len` are taken into account.
    ///
    /// Records that were written one after the other may be alike. A block that has far more of a page's
    /// records than its part says nothing about the others.
    fn most(&self, len: usize) -> usize {
        2 * self.size * len / self.records + 3
    }

    /// The place, among the best of what was scanned, that the page surely reaches down to: seldom do so many
    /// of its records lie there.
    fn place(&self) -> usize {
        let mean = self.size as f64 * self.scanned as f64 / self.records as f64;
        (mean + DEVIATIONS * mean.sqrt() + 1.0).ceil() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 1,000 out of 100,000 records, with scores of which `of_page` tells those of a page of 50.
    fn seen(blocks: usize, reached: impl Fn(usize) -> Vec<u32>) -> Option<Score> {
        let mut expectation = Expectation::new(50, 100_000).expect("enough records");
        (0..blocks)
            .filter_map(|block| {
                let mut scores: Vec<Score> = reached(block).into_iter().map(Score).collect();
                scores.sort_unstable_by(|a, b| b.cmp(a));
                expectation.see(1000, &scores)
            })
            .max()
    }

    #[test]
    fn an_even_spread_comes_close_to_the_last_place_from_below() {
        // Scores of 1 to 100,000 dealt out in turn: the page ends at 99,951.
        let dealt = |block: usize| (0..1000).map(|at| (at * 100 + block + 1) as u32).collect();
        let early = seen(4, dealt).expect("an expectation");
        let late = seen(60, dealt).expect("an expectation");
        assert!(early < late && late <= Score(99_951), "{early:?} {late:?}");
        assert!(late >= Score(99_880), "{late:?}");
    }

    #[test]
    fn one_block_full_of_good_records_says_nothing_about_the_others() {
        let alike = |block: usize| {
            let good = if block == 2 { 50_000 } else { 0 };
            (0..1000).map(|at| good + at).collect()
        };
        let expected = seen(50, alike).expect("an expectation");
        assert!(expected < Score(50_000), "{expected:?}");
    }

    #[test]
    fn few_blocks_or_records_let_expect_nothing() {
        assert_eq!(seen(3, |_| vec![1; 1000]), None);
        assert!(Expectation::new(50, 10_000).is_none());
    }
}
