//! One scan over the blocks of a snapshot, shared by all the searches that were batched for it.
//!
//! The first part of the scan is a few blocks at once, from all over the database. Each other part is one block. If a filter
//! or words take long on a block, the first part is one block, too, so that the threads share the work evenly.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::time::Instant;

use crate::search::block_scan::{Scratch, scan_block, scan_first_blocks};
use crate::search::floor_estimate::FIRST_BLOCKS;
use crate::search::running::RunningSearch;
use crate::snapshot::Block;

/// A shared scan: threads take its parts one by one until none is left.
pub(crate) struct SharedScan {
    pub(crate) searches: Vec<Arc<RunningSearch>>,
    /// Places of the blocks, in the order of the scan.
    order: Vec<usize>,
    /// Blocks of the first part.
    first: usize,
    next: AtomicUsize,
    unfinished: AtomicUsize,
}

impl SharedScan {
    /// A scan for searches of the same snapshot.
    pub(crate) fn new(searches: Vec<Arc<RunningSearch>>) -> Self {
        let snapshot = searches.first().map(|search| search.snapshot());
        let blocks = snapshot.map_or(0, |snapshot| snapshot.blocks.len());
        searches
            .iter()
            .for_each(|search| search.timing.start_scan());
        let is_expensive = searches.iter().any(|search| {
            let has_slow_words = search.has_words()
                && search.database.lexical_pace.searches_of_a_scan() < FIRST_BLOCKS;
            search.scope.is_expensive || has_slow_words
        });
        let first = blocks.min(if is_expensive { 1 } else { FIRST_BLOCKS });
        Self {
            searches,
            order: spread(blocks),
            first,
            next: AtomicUsize::new(0),
            unfinished: AtomicUsize::new(1 + blocks - first),
        }
    }

    /// Takes the next part; `None` when all are taken.
    pub(crate) fn take_part(&self) -> Option<usize> {
        let part = self.next.fetch_add(1, Relaxed);
        (part < self.parts()).then_some(part)
    }

    /// Whether parts are left to take.
    pub(crate) fn has_more(&self) -> bool {
        self.next.load(Relaxed) < self.parts()
    }

    /// Whether its searches are those of batches.
    pub(crate) fn is_of_batch(&self) -> bool {
        self.searches.iter().any(|search| search.is_of_batch)
    }

    /// Scans a part that was taken. `give_way` is called after each piece of the work.
    pub(crate) fn scan(&self, part: usize, scratch: &mut Scratch, give_way: &mut dyn FnMut()) {
        let searches: Vec<&RunningSearch> = self.searches.iter().map(Arc::as_ref).collect();
        let blocks = &searches[0].snapshot().blocks;
        let (first, others) = self.order.split_at(self.first);
        let begin = Instant::now();
        if part == 0 {
            let first: Vec<&Block> = first.iter().map(|&at| &blocks[at]).collect();
            scan_first_blocks(&first, &searches, scratch, give_way);
        } else {
            scan_block(&blocks[others[part - 1]], &searches, scratch, give_way);
        }
        let with_words = searches.iter().filter(|search| search.has_words()).count();
        if with_words > 0 {
            let blocks = if part == 0 { first.len() } else { 1 };
            let pace = &searches[0].database.lexical_pace;
            pace.observe(begin.elapsed(), with_words, blocks);
        }
    }

    /// Marks a part as finished; true for the last one.
    pub(crate) fn finish_part(&self) -> bool {
        self.unfinished.fetch_sub(1, AcqRel) == 1
    }

    /// The number of parts: at least one, even without blocks.
    fn parts(&self) -> usize {
        1 + self.order.len() - self.first
    }
}

/// All numbers below `count`, each far from those just before it.
fn spread(count: usize) -> Vec<usize> {
    // Steps of the golden ratio leave nearly even gaps, however many of them are taken.
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
