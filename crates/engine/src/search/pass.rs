//! One pass over the blocks of a snapshot for all the searches that ride it.
//!
//! Its first part is a few blocks at once, from all over the database; the others are a block each.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

use crate::search::floor_estimate::FIRST_BLOCKS;
use crate::search::job::Job;
use crate::search::scan::{Scratch, scan_block, scan_first};
use crate::snapshot::Block;

/// A pass: workers take its parts one by one until none is left.
pub(crate) struct Pass {
    pub(crate) jobs: Vec<Arc<Job>>,
    /// Places of the blocks, in the order they are scanned in.
    order: Vec<usize>,
    next: AtomicUsize,
    left: AtomicUsize,
}

impl Pass {
    pub(crate) fn new(jobs: Vec<Arc<Job>>) -> Self {
        let blocks = jobs.first().map_or(0, |job| job.snapshot.blocks.len());
        jobs.iter().for_each(|job| job.mark_scan_start());
        Self {
            jobs,
            order: spread(blocks),
            next: AtomicUsize::new(0),
            left: AtomicUsize::new(parts(blocks)),
        }
    }

    /// Takes the next part, `None` when all are taken.
    pub(crate) fn take(&self) -> Option<usize> {
        let part = self.next.fetch_add(1, Relaxed);
        (part < parts(self.order.len())).then_some(part)
    }

    pub(crate) fn has_more(&self) -> bool {
        self.next.load(Relaxed) < parts(self.order.len())
    }

    /// Scans a part that was taken.
    pub(crate) fn scan(&self, part: usize, scratch: &mut Scratch) {
        let jobs: Vec<&Job> = self.jobs.iter().map(Arc::as_ref).collect();
        let blocks = &self.jobs[0].snapshot.blocks;
        let (first, others) = self.order.split_at(FIRST_BLOCKS.min(self.order.len()));
        if part == 0 {
            let first: Vec<&Block> = first.iter().map(|&at| &blocks[at]).collect();
            scan_first(&first, &jobs, scratch);
        } else {
            scan_block(&blocks[others[part - 1]], &jobs, scratch);
        }
    }

    /// Marks a taken part as done; true for the last one.
    pub(crate) fn done(&self) -> bool {
        self.left.fetch_sub(1, AcqRel) == 1
    }
}

/// Parts that so many blocks come in.
fn parts(blocks: usize) -> usize {
    1 + blocks.saturating_sub(FIRST_BLOCKS)
}

/// All numbers below `count`, each far from those just before it.
fn spread(count: usize) -> Vec<usize> {
    // Steps of the golden section leave even gaps, wherever one stops.
    let golden = (count as f64 * 0.618) as usize;
    let step = (golden.max(1)..)
        .find(|&step| gcd(step, count) == 1)
        .unwrap_or(1);
    (0..count).map(|at| at * step % count).collect()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn every_block_comes_once() {
        for count in 0..300 {
            let mut order = spread(count);
            order.sort_unstable();
            assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }
}
