//! One pass over the blocks of a snapshot for all the searches that ride it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Relaxed};

use crate::search::job::Job;
use crate::search::scan::{Scratch, scan_block};

/// A pass: workers take its blocks one by one until none is left.
pub(crate) struct Pass {
    pub(crate) jobs: Vec<Arc<Job>>,
    next: AtomicUsize,
    left: AtomicUsize,
}

impl Pass {
    pub(crate) fn new(jobs: Vec<Arc<Job>>) -> Self {
        let blocks = jobs.first().map_or(0, |job| job.snapshot.blocks.len());
        jobs.iter().for_each(|job| job.mark_scan_start());
        Self {
            jobs,
            next: AtomicUsize::new(0),
            left: AtomicUsize::new(blocks),
        }
    }

    fn blocks(&self) -> usize {
        self.jobs.first().map_or(0, |job| job.snapshot.blocks.len())
    }

    /// Takes the next block, `None` when all are taken.
    pub(crate) fn take(&self) -> Option<usize> {
        let at = self.next.fetch_add(1, Relaxed);
        (at < self.blocks()).then_some(at)
    }

    pub(crate) fn has_blocks(&self) -> bool {
        self.next.load(Relaxed) < self.blocks()
    }

    /// Scans a block that was taken.
    pub(crate) fn scan(&self, at: usize, scratch: &mut Scratch) {
        let jobs: Vec<&Job> = self.jobs.iter().map(Arc::as_ref).collect();
        scan_block(&self.jobs[0].snapshot.blocks[at], &jobs, scratch);
    }

    /// Marks a taken block as done; true for the last one.
    pub(crate) fn done(&self) -> bool {
        self.left.fetch_sub(1, AcqRel) == 1
    }
}
