//! The queue of a group of scan threads: searches by the step that they wait for.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::error::Error;
use crate::search::running::{RunningSearch, WaitingSearch};
use crate::search::shared_scan::SharedScan;

/// The maximum number of waiting searches. Another search is refused with [`Error::Busy`].
const MAX_WAITING: usize = 4096;

/// Searches of one shared scan: as many as the kernels compare at once.
pub(crate) const MAX_BATCH: usize = 64;

/// Searches of one shared scan that count the facets of many records, because each holds its counts until the scan ends.
const MAX_COUNTING: usize = 4;

/// The load of the scan threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchStats {
    /// Searches that wait for a scan.
    pub waiting: usize,
    /// Shared scans in progress.
    pub shared_scans: usize,
    /// Searches answered since the start.
    pub answered: u64,
}

/// The searches that have arrived and are not yet answered.
#[derive(Default)]
pub(crate) struct Queue {
    /// The threads that share the scans.
    threads: usize,
    /// Searches to bind to a snapshot: single ones, and those of batches.
    arrived: [VecDeque<WaitingSearch>; 2],
    /// Searches to answer: single ones, and those of batches.
    scanned: [VecDeque<Arc<RunningSearch>>; 2],
    /// Searches that wait for a shared scan.
    bound: VecDeque<Arc<RunningSearch>>,
    /// Whether a search of `bound` may start a shared scan: one was added, or all parts of a scan were taken.
    may_start: bool,
    /// Shared scans with parts left to take: of each database at most one for single searches, and one for batches.
    scans: Vec<ScanTurns>,
    /// Whether the last step was to bind or answer a search of a batch.
    was_of_batch: bool,
    answered: u64,
    closed: bool,
}

/// A shared scan, and how much of the time of the threads it took.
///
/// The next part is of the scan that has the least work after it, so no search waits for the scan of another database, and a single
/// search does not wait for those of a batch.
struct ScanTurns {
    scan: Arc<SharedScan>,
    /// The blocks of the parts that were taken, times the searches, plus the work that the others had when the scan began.
    work: usize,
}

/// The places of single searches and of those of batches.
const SINGLE: usize = 0;
const BATCHES: usize = 1;

/// A step of work.
pub(crate) enum Step {
    /// Answer a search.
    Answer(Arc<RunningSearch>),
    /// Scan a part.
    Scan(Arc<SharedScan>, usize),
    /// Bind a search to a snapshot.
    Bind(Box<WaitingSearch>),
}

impl Queue {
    /// The queue of so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads,
            ..Self::default()
        }
    }

    /// Queues a search, or returns it with the reason for the refusal.
    pub(crate) fn push(
        &mut self,
        search: WaitingSearch,
    ) -> Result<(), (Box<WaitingSearch>, Error)> {
        if self.closed {
            return Err((Box::new(search), Error::Closed));
        }
        if self.waiting() >= MAX_WAITING {
            let busy = Error::Busy {
                what: "searches",
                limit: MAX_WAITING,
            };
            return Err((Box::new(search), busy));
        }
        self.arrived[usize::from(search.is_of_batch)].push_back(search);
        Ok(())
    }

    /// Puts a bound search before the step that it needs: an answer if its hits are cached, otherwise a scan.
    pub(crate) fn push_bound(&mut self, search: RunningSearch) {
        if search.is_cached() {
            self.push_scanned(Arc::new(search));
        } else {
            self.bound.push_back(Arc::new(search));
            self.may_start = true;
        }
    }

    /// Ends a shared scan: its searches are answered, or scan every block once more.
    pub(crate) fn end_scan(&mut self, scan: &SharedScan) {
        for search in &scan.searches {
            if search.is_complete() {
                self.push_scanned(Arc::clone(search));
            } else {
                search.restart();
                self.bound.push_front(Arc::clone(search));
                self.may_start = true;
            }
        }
    }

    fn push_scanned(&mut self, search: Arc<RunningSearch>) {
        self.scanned[usize::from(search.is_of_batch)].push_back(search);
    }

    /// Counts an answered search.
    pub(crate) fn count_answer(&mut self) {
        self.answered += 1;
    }

    /// Refuses further searches.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// Whether a thread may end after [`Queue::next_step`] returned `None`: the queue is closed and no shared scan has parts
    /// left. A thread that still runs a step takes the steps that follow from it.
    pub(crate) fn is_done(&self) -> bool {
        self.closed && self.scans.is_empty()
    }

    /// Adds the load of this queue to `stats`.
    pub(crate) fn add_to(&self, stats: &mut SearchStats) {
        stats.waiting += self.waiting();
        stats.shared_scans += self.scans.len();
        stats.answered += self.answered;
    }

    fn waiting(&self) -> usize {
        self.arrived.iter().map(VecDeque::len).sum::<usize>() + self.bound.len()
    }

    /// The next step: an answer, then a bind, then a part of the scan whose turn it is. `None` when there is nothing to do
    /// now. The answers and binds of batches take turns with the scans, because a batch has many of them.
    pub(crate) fn next_step(&mut self) -> Option<Step> {
        // Before any scan: otherwise a search would wait for the scans of other databases before its own can begin.
        if let Some(step) = self.answer_or_bind(SINGLE) {
            return Some(step);
        }
        if let Some(search) = self.take_stopped() {
            return Some(Step::Answer(search));
        }
        if std::mem::take(&mut self.was_of_batch) {
            let scan = self.next_part();
            if scan.is_some() {
                return scan;
            }
        }
        let step = self.answer_or_bind(BATCHES);
        self.was_of_batch = step.is_some();
        step.or_else(|| self.next_part())
    }

    /// The next step of a single search; `None` also when it is the turn of a batch.
    pub(crate) fn next_single_step(&mut self) -> Option<Step> {
        if let Some(step) = self.answer_or_bind(SINGLE) {
            return Some(step);
        }
        self.start_scans();
        let at = self.next_scan()?;
        if self.scans[at].scan.is_of_batch() {
            return None;
        }
        self.next_part()
    }

    fn answer_or_bind(&mut self, of: usize) -> Option<Step> {
        if let Some(search) = self.scanned[of].pop_front() {
            return Some(Step::Answer(search));
        }
        let search = self.arrived[of].pop_front()?;
        Some(Step::Bind(Box::new(search)))
    }

    /// The next part of the scan whose turn it is.
    fn next_part(&mut self) -> Option<Step> {
        self.start_scans();
        while let Some(at) = self.next_scan() {
            let ScanTurns { scan, work } = &mut self.scans[at];
            let scan = Arc::clone(scan);
            *work += scan.next_work();
            let part = scan.take_part();
            if !scan.has_more() {
                self.scans.remove(at);
                self.may_start = true;
            }
            if let Some(part) = part {
                return Some(Step::Scan(scan, part));
            }
        }
        None
    }

    /// The place of the scan that will have the least work after its next part.
    fn next_scan(&self) -> Option<usize> {
        let work_after = |at: &usize| self.scans[*at].work + self.scans[*at].scan.next_work();
        (0..self.scans.len()).min_by_key(work_after)
    }

    /// Removes a search that was stopped while it waited for a shared scan.
    fn take_stopped(&mut self) -> Option<Arc<RunningSearch>> {
        let at = self
            .bound
            .iter()
            .position(|search| search.outcome.is_over())?;
        self.bound.remove(at)
    }

    /// Starts a shared scan for each database that has bound searches and no scan of their kind: of searches of one snapshot,
    /// all single or all of batches. A search with many words is alone in its scan, because others would wait for its words.
    fn start_scans(&mut self) {
        if !std::mem::take(&mut self.may_start) {
            return;
        }
        let mut batches: Vec<Vec<Arc<RunningSearch>>> = Vec::new();
        let mut others = VecDeque::new();
        for search in self.bound.drain(..) {
            // The others of its batch are to share its scan.
            if search.is_of_batch && !self.arrived[BATCHES].is_empty() {
                others.push_back(search);
                continue;
            }
            let is_same = |other: &[Arc<RunningSearch>]| {
                (other.first()).is_some_and(|other| {
                    Arc::ptr_eq(&other.database, &search.database)
                        && other.is_of_batch == search.is_of_batch
                })
            };
            if (self.scans.iter()).any(|turns| is_same(&turns.scan.searches)) {
                others.push_back(search);
                continue;
            }
            match batches.iter_mut().find(|batch| is_same(batch)) {
                None => batches.push(vec![search]),
                Some(batch) if may_join(&search, batch) => batch.push(search),
                Some(_) => others.push_back(search),
            }
        }
        self.bound = others;
        self.may_start = !self.arrived[BATCHES].is_empty();
        let least = self.scans.iter().map(|turns| turns.work).min();
        let begin = |searches| ScanTurns {
            scan: Arc::new(SharedScan::new(searches, self.threads)),
            work: least.unwrap_or(0),
        };
        self.scans.extend(batches.into_iter().map(begin));
    }

    /// Whether there is another step to take now.
    pub(crate) fn has_more(&self) -> bool {
        self.scanned.iter().any(|scanned| !scanned.is_empty())
            || self.arrived.iter().any(|arrived| !arrived.is_empty())
            || !self.scans.is_empty()
            || self.may_start && !self.bound.is_empty()
    }
}

/// Whether a search may share the scan of others of its database.
fn may_join(search: &RunningSearch, batch: &[Arc<RunningSearch>]) -> bool {
    let first = &batch[0];
    let counting = batch.iter().filter(|other| other.holds_many_counts());
    let is_full =
        batch.len() >= MAX_BATCH || search.holds_many_counts() && counting.count() >= MAX_COUNTING;
    let has_many_words = first.scope.has_many_words || search.scope.has_many_words;
    let with_words = batch.iter().filter(|other| other.has_words()).count();
    let waits_for_words =
        search.has_words() && with_words >= search.database.lexical_pace.searches_of_a_scan();
    !is_full
        && !has_many_words
        && !waits_for_words
        && Arc::ptr_eq(first.snapshot(), search.snapshot())
}

#[cfg(test)]
pub(super) mod tests;
