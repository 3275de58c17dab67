//! Which records a page will show, while their scores are still bounds.
//!
//! A record is scored exactly only when its bounds leave open whether it belongs to the page, and only
//! once the scan has seen every other: the bar that it must pass is then as high as it gets.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use cosift_kernels::Candidate;

use crate::error::Error;
use crate::identity::RecordRow;
use crate::rank::{Hit, Position, TopK};
use crate::score::Score;

/// Deferred records beyond these, and beyond a few for each place, are looked through for hopeless ones.
const MANY: usize = 4096;

/// The best records of a search so far, shared by its workers.
pub(crate) struct Ranking {
    size: usize,
    /// Strictly after this place.
    after: Option<Position>,
    /// Below this, nothing can enter any more: the threshold, then the lowest score that fills the page.
    tau: AtomicU32,
    best: Mutex<Best>,
}

struct Best {
    /// Records whose score is known.
    scored: TopK,
    /// Records whose score is yet to be found.
    deferred: Vec<Deferred>,
    /// The highest of the scores that records surely reach, one for each place.
    reached: BinaryHeap<Reverse<Score>>,
}

/// A record that surely is a match, its score between two bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deferred {
    row: RecordRow,
    lowest: Score,
    highest: Score,
}

impl Ranking {
    /// A ranking of the first `size` places after a place, of scores from `threshold` on.
    pub(crate) fn new(size: usize, threshold: Score, after: Option<Position>) -> Self {
        Self {
            size,
            after,
            tau: AtomicU32::new(threshold.0),
            best: Mutex::new(Best {
                scored: TopK::new(size),
                deferred: Vec::new(),
                reached: BinaryHeap::new(),
            }),
        }
    }

    /// Places to fill.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The place before the first.
    pub(crate) fn after(&self) -> Option<Position> {
        self.after
    }

    /// The score below which nothing can enter any more.
    pub(crate) fn tau(&self) -> Score {
        Score(self.tau.load(Relaxed))
    }

    /// Whether a record could still enter.
    pub(crate) fn may_enter(&self, candidate: &Candidate) -> bool {
        Score::at_most(candidate.estimate + candidate.error) >= self.tau()
    }

    /// A record to be scored later, if it surely comes after the place that the ranking starts at.
    pub(crate) fn deferrable(&self, candidate: &Candidate, row: RecordRow) -> Option<Deferred> {
        let highest = Score::at_most(candidate.estimate + candidate.error);
        let after = self.after.is_none_or(|after| highest < after.score);
        let lowest = Score::no_less(candidate.estimate - candidate.error);
        after.then_some(Deferred {
            row,
            lowest,
            highest,
        })
    }

    /// Adds records to be scored later; leaves the list empty.
    pub(crate) fn defer(&self, records: &mut Vec<Deferred>) {
        if records.is_empty() {
            return;
        }
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        for record in records.iter() {
            self.reach(&mut best, record.lowest);
        }
        best.deferred.append(records);
        if best.deferred.len() > MANY + 4 * self.size {
            let tau = self.tau();
            best.deferred.retain(|record| record.highest >= tau);
        }
    }

    /// Adds a record whose score is known.
    pub(crate) fn offer(&self, hit: Hit) {
        if self
            .after
            .is_some_and(|after| hit.position.rank(&after).is_le())
        {
            return;
        }
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        self.reach(&mut best, hit.position.score);
        best.scored.push(hit);
    }

    /// Notes that one more record reaches `score`.
    fn reach(&self, best: &mut Best, score: Score) {
        best.reached.push(Reverse(score));
        if best.reached.len() > self.size {
            best.reached.pop();
        }
        if best.reached.len() == self.size
            && let Some(Reverse(lowest)) = best.reached.peek()
        {
            self.tau.fetch_max(lowest.0, Relaxed);
        }
    }

    /// The places in order, once every block was scanned; `locate` scores a record and tells its place.
    ///
    /// # Errors
    /// Those of `locate`.
    pub(crate) fn settle(
        &self,
        mut locate: impl FnMut(RecordRow) -> Result<Position, Error>,
    ) -> Result<Vec<Hit>, Error> {
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scored = std::mem::replace(&mut best.scored, TopK::new(1));
        let mut deferred = std::mem::take(&mut best.deferred);
        drop(best);
        let tau = self.tau();
        deferred.retain(|record| record.highest >= tau);
        deferred.sort_unstable_by_key(|record| Reverse(record.highest));
        for record in deferred {
            if scored
                .last()
                .is_some_and(|last| record.highest < last.score)
            {
                break;
            }
            scored.push(Hit {
                position: locate(record.row)?,
                row: record.row,
            });
        }
        Ok(scored.into_sorted())
    }
}
