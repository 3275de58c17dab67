//! The queue of a group of scan threads: searches by the step that they wait for.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::error::Error;
use crate::search::running::{RunningSearch, WaitingSearch};
use crate::search::scheduler::stats::SearchStats;
use crate::search::shared_scan::SharedScan;

/// The maximum number of waiting searches. Another search is refused with [`Error::Busy`].
const MAX_WAITING: usize = 4096;

/// Searches of one shared scan: as many as the kernels compare at once.
const MAX_BATCH: usize = 64;

/// The searches that have arrived and are not yet answered.
#[derive(Default)]
pub(crate) struct Queue {
    /// Searches to bind to a snapshot.
    arrived: VecDeque<WaitingSearch>,
    /// Searches that wait for a shared scan.
    bound: VecDeque<Arc<RunningSearch>>,
    /// Shared scans with parts left to take.
    scans: VecDeque<Arc<SharedScan>>,
    /// Searches to answer.
    scanned: VecDeque<Arc<RunningSearch>>,
    answered: u64,
    closed: bool,
}

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
        self.arrived.push_back(search);
        Ok(())
    }

    /// Puts a bound search before the step that it needs: an answer if it needs no scan.
    pub(crate) fn push_bound(&mut self, search: RunningSearch, needs_scan: bool) {
        if needs_scan {
            self.bound.push_back(Arc::new(search));
        } else {
            self.scanned.push_back(Arc::new(search));
        }
    }

    /// Ends a shared scan: its searches are answered, or scan every block once more.
    pub(crate) fn end_scan(&mut self, scan: &SharedScan) {
        for search in &scan.searches {
            if search.is_complete() {
                self.scanned.push_back(Arc::clone(search));
            } else {
                search.restart();
                self.bound.push_front(Arc::clone(search));
            }
        }
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
        self.arrived.len() + self.bound.len()
    }

    /// The next step: the one that is nearest to an answer. `None` when there is nothing to do now.
    pub(crate) fn next_step(&mut self) -> Option<Step> {
        if let Some(search) = self.scanned.pop_front() {
            return Some(Step::Answer(search));
        }
        while let Some(scan) = self.scans.front() {
            if let Some(part) = scan.take_part() {
                return Some(Step::Scan(Arc::clone(scan), part));
            }
            self.scans.pop_front();
        }
        if let Some(search) = self.arrived.pop_front() {
            return Some(Step::Bind(Box::new(search)));
        }
        self.start_scan();
        let scan = self.scans.front()?;
        scan.take_part()
            .map(|part| Step::Scan(Arc::clone(scan), part))
    }

    /// Starts a shared scan for the bound searches of one snapshot.
    fn start_scan(&mut self) {
        let Some(first) = self.bound.front() else {
            return;
        };
        let snapshot = Arc::clone(first.snapshot());
        let mut batch = Vec::new();
        let mut others = VecDeque::new();
        for search in self.bound.drain(..) {
            if batch.len() < MAX_BATCH && Arc::ptr_eq(search.snapshot(), &snapshot) {
                batch.push(search);
            } else {
                others.push_back(search);
            }
        }
        self.bound = others;
        self.scans.push_back(Arc::new(SharedScan::new(batch)));
    }

    /// Whether there is another step to take now.
    pub(crate) fn has_more(&self) -> bool {
        !self.scanned.is_empty()
            || !self.arrived.is_empty()
            || !self.bound.is_empty()
            || self.scans.iter().any(|scan| scan.has_more())
    }
}
