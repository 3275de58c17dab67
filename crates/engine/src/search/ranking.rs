//! Which records a page will show, while their scores are still bounds.
//!
//! A record is scored exactly only when its bounds leave open whether it belongs to the page, and only
//! once the scan has seen every other: the bar that it must pass is then as high as it gets.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::{Mutex, MutexGuard};

use cosift_kernels::Candidate;

use crate::error::Error;
use crate::record::{Hit, Position, RecordRow, Score, TopK};
use crate::search::floor_estimate::Expectation;

/// Deferred records beyond these, and beyond a few for each place, are looked through for hopeless ones.
const MANY: usize = 4096;

/// The best records of a search so far, shared by its workers.
pub(crate) struct Ranking {
    size: usize,
    /// Strictly after this place.
    after: Option<Position>,
    /// Below this, nothing can enter any more: the threshold, then the lowest score that fills the page.
    tau: AtomicU32,
    /// What `tau` is expected to reach: records below are not looked for.
    expected: AtomicU32,
    best: Mutex<Best>,
}

struct Best {
    /// Records whose score is known.
    scored: TopK,
    /// Records whose score is yet to be found.
    deferred: Vec<Deferred>,
    reached: Reached,
    /// Likewise, of records that were looked at early; they come again.
    foreseen: Reached,
    expectation: Option<Expectation>,
}

impl Best {
    fn new(size: usize) -> Self {
        Self {
            scored: TopK::new(size),
            deferred: Vec::new(),
            reached: Reached::new(size),
            foreseen: Reached::new(size),
            expectation: None,
        }
    }
}

/// The highest of the scores that records surely reach, one for each place.
pub(crate) struct Reached {
    places: usize,
    highest: BinaryHeap<Reverse<Score>>,
}

impl Reached {
    /// None for any of so many places.
    pub(crate) fn new(places: usize) -> Self {
        Self {
            places,
            highest: BinaryHeap::new(),
        }
    }

    /// Notes that one more record reaches `score`; the lowest of the places, once all are taken.
    pub(crate) fn note(&mut self, score: Score) -> Option<Score> {
        self.highest.push(Reverse(score));
        if self.highest.len() > self.places {
            self.highest.pop();
        }
        let Reverse(lowest) = self.highest.peek()?;
        (self.highest.len() == self.places).then_some(*lowest)
    }

    /// The score at a place, the first being 1; `None` when it is not taken.
    pub(crate) fn at(&self, place: usize) -> Option<Score> {
        let mut scores: Vec<Reverse<Score>> = self.highest.iter().copied().collect();
        let at = place.checked_sub(1).filter(|&at| at < scores.len())?;
        // `Reverse` puts the highest first.
        let (_, Reverse(score), _) = scores.select_nth_unstable(at);
        Some(*score)
    }
}

/// A record that surely is a match, its score between two bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deferred {
    row: RecordRow,
    pub(crate) lowest: Score,
    highest: Score,
}

impl Ranking {
    /// A ranking of the first `size` places after a place, of scores from `threshold` on.
    pub(crate) fn new(size: usize, threshold: Score, after: Option<Position>) -> Self {
        Self {
            size,
            after,
            tau: AtomicU32::new(threshold.0),
            expected: AtomicU32::new(0),
            best: Mutex::new(Best::new(size)),
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
    fn tau(&self) -> Score {
        Score(self.tau.load(Relaxed))
    }

    /// Lets what the best of some blocks reach tell what to expect of all `records`.
    pub(crate) fn expect_of(&self, records: usize) {
        self.lock().expectation = Expectation::new(self.size, records);
    }

    /// Takes in what some records of a block of `len` surely reach, before its records are looked at one by
    /// one; leaves the list empty.
    pub(crate) fn foresee(&self, len: usize, reached: &mut Vec<Score>) {
        let mut best = self.lock();
        for &score in &*reached {
            if let Some(lowest) = best.foreseen.note(score) {
                self.tau.fetch_max(lowest.0, Relaxed);
            }
        }
        drop(best);
        self.see(len, reached);
    }

    /// Takes in what the records of a block of `len` surely reach; leaves the list empty.
    pub(crate) fn see(&self, len: usize, reached: &mut Vec<Score>) {
        let mut best = self.lock();
        if let Some(expectation) = &mut best.expectation {
            reached.sort_unstable_by_key(|&score| Reverse(score));
            if let Some(score) = expectation.see(len, reached) {
                self.expected.fetch_max(score.0, Relaxed);
            }
        }
        reached.clear();
    }

    /// The score below which records are not looked for.
    pub(crate) fn bar(&self) -> Score {
        self.tau().max(Score(self.expected.load(Relaxed)))
    }

    /// Whether every place was filled from what was not left out, once every block was scanned.
    pub(crate) fn is_certain(&self) -> bool {
        self.tau().0 >= self.expected.load(Relaxed)
    }

    /// Forgets the records and what was expected. What they told of the last place holds on.
    pub(crate) fn start_over(&self) {
        *self.lock() = Best::new(self.size);
        self.expected.store(0, Relaxed);
    }

    /// Whether a record could still enter.
    pub(crate) fn may_enter(&self, candidate: &Candidate) -> bool {
        Score::at_most(candidate.estimate + candidate.error) >= self.bar()
    }

    /// Whether a record surely comes after the place that the ranking starts at.
    pub(crate) fn surely_follows(&self, candidate: &Candidate) -> bool {
        let highest = Score::at_most(candidate.estimate + candidate.error);
        self.after.is_none_or(|after| highest < after.score)
    }

    /// A record to be scored later, if it surely comes after the place that the ranking starts at.
    pub(crate) fn deferrable(&self, candidate: &Candidate, row: RecordRow) -> Option<Deferred> {
        self.surely_follows(candidate).then(|| Deferred {
            row,
            lowest: Score::no_less(candidate.estimate - candidate.error),
            highest: Score::at_most(candidate.estimate + candidate.error),
        })
    }

    /// Adds records to be scored later; leaves the list empty.
    pub(crate) fn defer(&self, records: &mut Vec<Deferred>) {
        if records.is_empty() {
            return;
        }
        let mut best = self.lock();
        for record in records.iter() {
            self.reach(&mut best, record.lowest);
        }
        best.deferred.append(records);
        if best.deferred.len() > MANY + 4 * self.size {
            let tau = self.tau();
            best.deferred.retain(|record| record.highest >= tau);
        }
    }

    /// Adds a record whose score is known; false when it belongs to an earlier page.
    pub(crate) fn offer(&self, hit: Hit) -> bool {
        if self
            .after
            .is_some_and(|after| hit.position.rank(&after).is_le())
        {
            return false;
        }
        let mut best = self.lock();
        self.reach(&mut best, hit.position.score);
        best.scored.push(hit);
        true
    }

    fn lock(&self) -> MutexGuard<'_, Best> {
        self.best.lock()
    }

    /// Notes that one more record reaches `score`.
    fn reach(&self, best: &mut Best, score: Score) {
        if let Some(lowest) = best.reached.note(score) {
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
        let mut best = self.lock();
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
