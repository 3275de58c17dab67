//! One scan over the blocks of a snapshot, shared by all the searches that were batched for it.
//!
//! A part of the scan is a few blocks, from all over the database: the best candidates of all of them raise the score floor
//! before the others are refined. The last parts are smaller, so that the threads end together. If a block takes long, not just
//! the records with the best cosines are looked for, or the blocks are not in a cache, each part is one block, except the first.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::time::Instant;

use cosift_kernels::Residence;

use crate::search::block_scan::{Scratch, scan_block, scan_blocks};
use crate::search::floor_estimate::FIRST_BLOCKS;
use crate::search::running::RunningSearch;
use crate::snapshot::Block;

/// A shared scan: threads take its parts one by one until none is left.
pub(crate) struct SharedScan {
    pub(crate) searches: Vec<Arc<RunningSearch>>,
    /// Places of the blocks, in the order of the scan.
    order: Vec<usize>,
    /// Where each part ends in `order`.
    ends: Vec<usize>,
    next: AtomicUsize,
    unfinished: AtomicUsize,
}

impl SharedScan {
    /// A scan for searches of the same snapshot, all single or all of batches, by so many threads.
    pub(crate) fn new(searches: Vec<Arc<RunningSearch>>, threads: usize) -> Self {
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
        let is_of_best = |search: &Arc<RunningSearch>| {
            let is_first_page = search.ranking.start().is_none();
            is_first_page && search.blend.is_none() && !search.counts_all()
        };
        // A part comes back to each of its blocks, which takes longer than it saves where they are not in a cache.
        let is_in_cache = snapshot.is_some_and(|snapshot| {
            let mut codes = snapshot.blocks.iter().map(|block| &block.coded.codes);
            let residence = codes.next().map(|codes| snapshot.residence_of(codes));
            residence == Some(Residence::Cache)
        });
        let most = if is_expensive || !is_in_cache || !searches.iter().all(is_of_best) {
            1
        } else if searches.iter().any(|search| search.is_of_batch) {
            MAX_OF_BATCH
        } else {
            MAX_OF_SINGLE
        };
        let first = if is_expensive { 1 } else { FIRST_BLOCKS };
        let ends = ends_of_parts(blocks, threads, first, most);
        Self {
            searches,
            order: spread(blocks),
            next: AtomicUsize::new(0),
            unfinished: AtomicUsize::new(ends.len()),
            ends,
        }
    }

    /// Takes the next part; `None` when all are taken.
    pub(crate) fn take_part(&self) -> Option<usize> {
        let part = self.next.fetch_add(1, Relaxed);
        (part < self.ends.len()).then_some(part)
    }

    /// The work of the next part: its blocks, times the searches.
    pub(crate) fn next_work(&self) -> usize {
        let part = self.next.load(Relaxed);
        let blocks = (part < self.ends.len()).then(|| self.places(part).len());
        blocks.unwrap_or(0).max(1) * self.searches.len()
    }

    /// Whether parts are left to take.
    pub(crate) fn has_more(&self) -> bool {
        self.next.load(Relaxed) < self.ends.len()
    }

    /// Whether its searches are those of batches.
    pub(crate) fn is_of_batch(&self) -> bool {
        self.searches.iter().any(|search| search.is_of_batch)
    }

    /// Scans a part that was taken. `give_way` is called after each piece of the work.
    pub(crate) fn scan(&self, part: usize, scratch: &mut Scratch, give_way: &mut dyn FnMut()) {
        let searches: Vec<&RunningSearch> = self.searches.iter().map(Arc::as_ref).collect();
        let blocks = &searches[0].snapshot().blocks;
        let places = self.places(part);
        let begin = Instant::now();
        if let [at] = places {
            scan_block(&blocks[*at], &searches, scratch, give_way);
        } else {
            let blocks: Vec<&Block> = places.iter().map(|&at| &blocks[at]).collect();
            scan_blocks(&blocks, &searches, scratch, give_way);
        }
        let with_words = searches.iter().filter(|search| search.has_words()).count();
        if with_words > 0 {
            let pace = &searches[0].database.lexical_pace;
            pace.observe(begin.elapsed(), with_words, places.len());
        }
    }

    /// Marks a part as finished; true for the last one.
    pub(crate) fn finish_part(&self) -> bool {
        self.unfinished.fetch_sub(1, AcqRel) == 1
    }

    /// The places of the blocks of a part.
    fn places(&self, part: usize) -> &[usize] {
        let start = part.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.order[start..self.ends[part]]
    }
}

/// Blocks of a part at most: of single searches, which others wait for, and of batches, which give way within a part.
const MAX_OF_SINGLE: usize = 16;
const MAX_OF_BATCH: usize = 32;

/// Where each part ends: a part is the share of a thread of what is left, up to `most`, and the first is no less than `first`.
/// There is at least one part, even without blocks.
fn ends_of_parts(blocks: usize, threads: usize, first: usize, most: usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let (mut end, mut least) = (0, first);
    loop {
        let left = blocks - end;
        let share = (left / threads.max(1)).clamp(1, most);
        end += share.max(least).min(left);
        ends.push(end);
        least = 1;
        if end == blocks {
            return ends;
        }
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
    use super::{ends_of_parts, spread};

    #[test]
    fn the_parts_of_a_scan_become_smaller_and_hold_every_block() {
        assert_eq!(ends_of_parts(25, 1, 4, 32), [25]);
        assert_eq!(ends_of_parts(25, 2, 4, 32), [12, 18, 21, 23, 24, 25]);
        assert_eq!(ends_of_parts(25, 1, 4, 8), [8, 16, 24, 25]);
        assert_eq!(ends_of_parts(6, 2, 4, 1), [4, 5, 6]);
        assert_eq!(ends_of_parts(2, 2, 4, 8), [2]);
        assert_eq!(ends_of_parts(0, 2, 4, 8), [0]);
    }

    #[test]
    fn every_block_comes_once() {
        for count in 0..300 {
            let mut order = spread(count);
            order.sort_unstable();
            assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }
}
