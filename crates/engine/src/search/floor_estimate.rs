//! An estimate of the score floor at the end of a scan, from the blocks scanned so far.
//!
//! A scan that uses only the certain floor evaluates many records that the final floor rules out: at a million
//! records, six of every seven. The best records of a few blocks from all over the database tell early how high the
//! floor will be. The estimate can be too high. Then the ranking finds that it did not hold, and every block is scanned
//! again without it. So the estimate changes how many records are evaluated, and never which records are found.

use crate::record::Score;
use crate::search::best_scores::BestScores;

/// Blocks that must be scanned before the first estimate.
pub(crate) const FIRST_BLOCKS: usize = 4;

/// A scan of fewer records uses no estimate.
const MIN_RECORDS: usize = 32_768;

/// A new estimate is made once the number of records scanned has grown by this part.
const GROWTH: f64 = 0.25;

/// Standard deviations of the margin. The number of a page's records among the records scanned has at most a Poisson
/// distribution's variance, its mean. It is above `mean + 4 * sqrt(mean) + 1` with a probability below 0.001, so a few
/// scans in a thousand are repeated.
const DEVIATIONS: f64 = 4.0;

/// The best records of the blocks that were scanned.
pub(crate) struct FloorEstimate {
    /// Places of the page.
    size: usize,
    /// All records.
    records: usize,
    /// Blocks scanned.
    blocks: usize,
    /// Records scanned.
    scanned: usize,
    /// Number of records scanned at which the next estimate is made.
    next: usize,
    best: BestScores,
}

impl FloorEstimate {
    /// An estimate for a page of `size` places out of `records` records; `None` for too few records.
    pub(crate) fn new(size: usize, records: usize) -> Option<Self> {
        (records >= MIN_RECORDS).then(|| Self {
            size,
            records,
            blocks: 0,
            scanned: 0,
            next: 0,
            best: BestScores::new(size),
        })
    }

    /// Takes in the scores that records of a block of `len` reach, best first. Returns a new estimate when one is due.
    pub(crate) fn observe_block(&mut self, len: usize, scores: &[Score]) -> Option<Score> {
        for &score in scores
            .iter()
            .take(max_of_part(self.size, len, self.records))
        {
            self.best.add(score);
        }
        self.blocks += 1;
        self.scanned += len;
        if self.blocks < FIRST_BLOCKS || self.scanned < self.next {
            return None;
        }
        self.next = self.scanned + (self.scanned as f64 * GROWTH) as usize;
        self.best.at(self.place())
    }

    /// The place, among the best of the records scanned, whose score is the estimate: more of the page's records than
    /// this are among the records scanned with a probability below 0.001.
    fn place(&self) -> usize {
        let mean = self.size as f64 * self.scanned as f64 / self.records as f64;
        (mean + DEVIATIONS * mean.sqrt() + 1.0).ceil() as usize
    }
}

/// How many of the best records of a part of `len` of `records` records are taken into account: twice the share that the part
/// has of the `size` records of a page, and a few.
///
/// Records that were written one after the other may be similar. A part that holds many more of the page's records than its
/// share is not representative, so the rest of its records are ignored.
pub(crate) fn max_of_part(size: usize, len: usize, records: usize) -> usize {
    2 * size * len / records + 3
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The estimate for a page of 50 after `blocks` blocks of 1,000 out of 100,000 records. `reached` returns the
    /// scores of a block.
    fn estimate_after(blocks: usize, reached: impl Fn(usize) -> Vec<u32>) -> Option<Score> {
        let mut estimate = FloorEstimate::new(50, 100_000).expect("enough records");
        (0..blocks)
            .filter_map(|block| {
                let mut scores: Vec<Score> = reached(block).into_iter().map(Score).collect();
                scores.sort_unstable_by(|a, b| b.cmp(a));
                estimate.observe_block(1000, &scores)
            })
            .max()
    }

    #[test]
    fn an_even_spread_is_estimated_closely_from_below() {
        // The blocks get the scores 1 to 100,000 in turn, so the page ends at 99,951.
        let dealt = |block: usize| (0..1000).map(|at| (at * 100 + block + 1) as u32).collect();
        let early = estimate_after(4, dealt).expect("an estimate");
        let late = estimate_after(60, dealt).expect("an estimate");
        assert!(early < late && late <= Score(99_951), "{early:?} {late:?}");
        assert!(late >= Score(99_880), "{late:?}");
    }

    #[test]
    fn one_block_full_of_good_records_does_not_raise_the_estimate() {
        let alike = |block: usize| {
            let good = if block == 2 { 50_000 } else { 0 };
            (0..1000).map(|at| good + at).collect()
        };
        let expected = estimate_after(50, alike).expect("an estimate");
        assert!(expected < Score(50_000), "{expected:?}");
    }

    #[test]
    fn few_blocks_or_records_give_no_estimate() {
        assert_eq!(estimate_after(3, |_| vec![1; 1000]), None);
        assert!(FloorEstimate::new(50, 10_000).is_none());
    }
}
