//! Which records belong to a page, while the scores of most are still bounds.
//!
//! A record that certainly matches is scored after every block was scanned, because the score floor has its highest value
//! then, and only if its bounds do not decide whether it belongs to the page.

use std::cmp::Reverse;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};

use parking_lot::{Mutex, MutexGuard};

use crate::error::Error;
use crate::record::{Extra, Hit, PageStart, Position, RecordRow, Score, TopK};
use crate::search::best_scores::BestScores;
use crate::search::bounds::ScoreBounds;
use crate::search::floor_estimate::FloorEstimate;

/// Once `MAX_UNSCORED + 4 * size` records wait for their score, those below the floor are removed.
const MAX_UNSCORED: usize = 4096;

/// The best records of a search so far, shared by the scan threads.
pub(crate) struct Ranking {
    /// Places to fill.
    size: usize,
    threshold: Score,
    /// Where the page begins; `None` for a first page.
    start: Option<PageStart<Position>>,
    /// The score floor: no record below it enters the page. It is the threshold, then the lowest score that fills the
    /// page. It never decreases.
    floor: AtomicU32,
    /// An estimate of the floor at the end of the scan, 0 without one.
    estimated_floor: AtomicU32,
    /// Whether the floor may be estimated.
    may_estimate: AtomicBool,
    best: Mutex<Best>,
}

struct Best {
    /// Records whose score is known.
    scored: TopK<Hit>,
    /// Records whose score is computed at the end of the scan.
    unscored: Vec<UnscoredMatch>,
    /// Scores that the records of `scored` and `unscored` certainly reach.
    lowest: BestScores,
    /// Scores that records of the first blocks certainly reach, before the blocks are scanned: the scan adds the same
    /// records to `lowest`, so the two are kept apart.
    previewed: BestScores,
    estimate: Option<FloorEstimate>,
}

impl Best {
    fn new(size: usize) -> Self {
        Self {
            scored: TopK::new(size),
            unscored: Vec::new(),
            lowest: BestScores::new(size),
            previewed: BestScores::new(size),
            estimate: None,
        }
    }
}

/// A record that certainly matches, its score between two bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnscoredMatch {
    row: RecordRow,
    /// The other parts of the score, as words take a comparison with each word of the record; 0 where scores are cosines.
    extra: Extra,
    pub(crate) lowest: Score,
    highest: Score,
}

impl Ranking {
    /// A ranking of the first `size` places from `start` on, of scores from `threshold` on.
    pub(crate) fn new(size: usize, threshold: Score, start: Option<PageStart<Position>>) -> Self {
        Self {
            size,
            threshold,
            start,
            floor: AtomicU32::new(threshold.0),
            estimated_floor: AtomicU32::new(0),
            may_estimate: AtomicBool::new(false),
            best: Mutex::new(Best::new(size)),
        }
    }

    /// Places to fill.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The lowest score of a match.
    pub(crate) fn threshold(&self) -> Score {
        self.threshold
    }

    /// Where the page begins; `None` for a first page.
    pub(crate) fn start(&self) -> Option<PageStart<Position>> {
        self.start
    }

    /// The score below which the scan leaves records out: the larger of the certain floor and its estimate.
    pub(crate) fn floor(&self) -> Score {
        self.certain_floor()
            .max(Score(self.estimated_floor.load(Relaxed)))
    }

    /// The score below which no record enters the page.
    fn certain_floor(&self) -> Score {
        Score(self.floor.load(Relaxed))
    }

    /// From now on, estimates the floor of a scan of `records` from the blocks scanned so far.
    pub(crate) fn estimate_floor_of(&self, records: usize) {
        self.lock().estimate = FloorEstimate::new(self.size, records);
        self.may_estimate.store(true, Relaxed);
    }

    /// Whether nothing but the threshold rules out records of a first page, and the floor may be estimated.
    pub(crate) fn lacks_floor(&self) -> bool {
        self.start.is_none() && self.floor() == self.threshold && self.may_estimate.load(Relaxed)
    }

    /// Estimates the floor by scores that records probably reach, if they fill the page.
    pub(crate) fn estimate_floor_by(&self, scores: &mut [Score]) {
        let last = self.size - 1;
        if last < scores.len() {
            let (_, score, _) = scores.select_nth_unstable_by_key(last, |&score| Reverse(score));
            self.estimated_floor.fetch_max(score.0, Relaxed);
        }
    }

    /// Raises the floor by scores that records of a block certainly reach, before the block is scanned.
    pub(crate) fn preview_block(&self, lowest: &[Score]) {
        let mut best = self.lock();
        for &score in lowest {
            if let Some(floor) = best.previewed.add(score) {
                self.raise_floor_to(floor);
            }
        }
    }

    /// Improves the estimate of the floor by scores that records of a block of `len` reach, certainly or by their estimates.
    /// Empties the list.
    pub(crate) fn observe_block(&self, len: usize, scores: &mut Vec<Score>) {
        let mut best = self.lock();
        if let Some(estimate) = &mut best.estimate {
            scores.sort_unstable_by_key(|&score| Reverse(score));
            if let Some(floor) = estimate.observe_block(len, scores) {
                self.estimated_floor.fetch_max(floor.0, Relaxed);
            }
        }
        scores.clear();
    }

    /// Whether the floor has reached its estimate, once every block was scanned: then no record that was left out
    /// belongs to the page.
    pub(crate) fn estimate_held(&self) -> bool {
        self.certain_floor().0 >= self.estimated_floor.load(Relaxed)
    }

    /// Removes the records and the estimate, for a second scan. The floor stays: it is certain.
    pub(crate) fn restart_without_estimate(&self) {
        *self.lock() = Best::new(self.size);
        self.may_estimate.store(false, Relaxed);
        self.estimated_floor.store(0, Relaxed);
    }

    /// Whether a record can still enter the page.
    pub(crate) fn may_enter(&self, bounds: &ScoreBounds) -> bool {
        bounds.highest >= self.floor()
    }

    /// Whether a record certainly comes after the start of the page.
    pub(crate) fn certainly_follows(&self, bounds: &ScoreBounds) -> bool {
        let start = self.start.as_ref();
        start.is_none_or(|start| bounds.highest < start.position().score)
    }

    /// Whether a record is certainly on an earlier page.
    pub(crate) fn certainly_precedes(&self, bounds: &ScoreBounds) -> bool {
        let start = self.start.as_ref();
        start.is_some_and(|start| bounds.lowest > start.position().score)
    }

    /// A record whose score can wait until the end of the scan, because it certainly comes after the start of the page.
    /// The record must certainly match.
    pub(crate) fn unscored(
        &self,
        bounds: &ScoreBounds,
        row: RecordRow,
        extra: Extra,
    ) -> Option<UnscoredMatch> {
        self.certainly_follows(bounds).then_some(UnscoredMatch {
            row,
            extra,
            lowest: bounds.lowest,
            highest: bounds.highest,
        })
    }

    /// Adds records that are scored at the end of the scan. Empties the list.
    pub(crate) fn add_unscored(&self, records: &mut Vec<UnscoredMatch>) {
        if records.is_empty() {
            return;
        }
        let mut best = self.lock();
        for record in records.iter() {
            self.raise_floor(&mut best, record.lowest);
        }
        best.unscored.append(records);
        if best.unscored.len() > MAX_UNSCORED + 4 * self.size {
            let floor = self.certain_floor();
            best.unscored.retain(|record| record.highest >= floor);
        }
    }

    /// Adds a record whose score is known. Returns `false`, and adds nothing, for a record of an earlier page.
    pub(crate) fn add(&self, hit: Hit) -> bool {
        let start = self.start.as_ref();
        if start.is_some_and(|start| !start.admits(&hit.position)) {
            return false;
        }
        let mut best = self.lock();
        self.raise_floor(&mut best, hit.position.score);
        best.scored.push(hit);
        true
    }

    /// The position at the last place, once every place is taken by a record whose score is known.
    pub(crate) fn last(&self) -> Option<Position> {
        self.lock().scored.last().map(|hit| hit.position)
    }

    /// Raises the floor, if needed, because every place is certainly taken by a result that reaches `score`.
    pub(crate) fn raise_floor_to(&self, score: Score) {
        self.floor.fetch_max(score.0, Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Best> {
        self.best.lock()
    }

    /// Raises the floor, if needed, by the fact that one more record certainly reaches `score`.
    fn raise_floor(&self, best: &mut Best, score: Score) {
        if let Some(floor) = best.lowest.add(score) {
            self.raise_floor_to(floor);
        }
    }

    /// The records of the places in order, once every block was scanned. `score` computes the score of a record from its
    /// other parts.
    ///
    /// # Errors
    /// Those of `score`.
    pub(crate) fn finish(
        &self,
        mut score: impl FnMut(RecordRow, Extra) -> Result<Hit, Error>,
    ) -> Result<Vec<Hit>, Error> {
        let mut best = self.lock();
        let mut scored = std::mem::replace(&mut best.scored, TopK::new(1));
        let mut unscored = std::mem::take(&mut best.unscored);
        drop(best);
        let floor = self.certain_floor();
        unscored.retain(|record| record.highest >= floor);
        unscored.sort_unstable_by_key(|record| Reverse(record.highest));
        for record in unscored {
            let last = scored.last();
            if last.is_some_and(|last| record.highest < last.position.score) {
                break;
            }
            scored.push(score(record.row, record.extra)?);
        }
        Ok(scored.into_sorted())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLD: Score = Score(10);

    fn ranking() -> Ranking {
        let ranking = Ranking::new(2, THRESHOLD, None);
        ranking.estimate_floor_of(100);
        ranking
    }

    #[test]
    fn the_floor_is_estimated_once_probable_scores_fill_the_page() {
        let ranking = ranking();
        ranking.estimate_floor_by(&mut [Score(90)]);
        assert!(ranking.lacks_floor(), "one score fills no page of two");
        ranking.estimate_floor_by(&mut [Score(20), Score(90), Score(30), Score(40)]);
        assert_eq!(ranking.floor(), Score(40));
        assert!(!ranking.lacks_floor());
    }

    #[test]
    fn after_an_estimate_that_did_not_hold_nothing_is_estimated() {
        let ranking = ranking();
        ranking.estimate_floor_by(&mut [Score(40), Score(50)]);
        ranking.preview_block(&[Score(60), Score(30)]);
        assert!(!ranking.estimate_held());
        ranking.restart_without_estimate();
        assert_eq!(ranking.floor(), Score(30), "what was certain stays");
        assert!(ranking.estimate_held());

        let empty = self::ranking();
        empty.estimate_floor_by(&mut [Score(40), Score(50)]);
        empty.restart_without_estimate();
        assert_eq!(empty.floor(), THRESHOLD);
        assert!(!empty.lacks_floor());
    }
}
