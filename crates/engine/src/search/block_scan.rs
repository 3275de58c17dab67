//! Scanning one block for several searches: mask, then the three pruning passes.
//!
//! Pass 1 bounds every score by the head of the codes, for all searches together. Pass 2 bounds the scores of the
//! remaining candidates by their full codes, and pass 3 scores exactly what is still undecided ([`candidates`]).
//!
//! [`candidates`]: crate::search::candidates

use std::sync::atomic::Ordering::Relaxed;

use cosift_kernels::{Candidate, Scan, scan_codes};

use crate::columns::Mask;
use crate::search::answer::answer;
use crate::search::bounds::upper_bound;
use crate::search::candidates::{RankingScratch, preview, rank};
use crate::search::running::RunningSearch;
use crate::snapshot::Block;

/// Buffers that a thread keeps from block to block.
#[derive(Default)]
pub(crate) struct Scratch {
    first_passes: Vec<FirstPass>,
    pub(crate) ranking: RankingScratch,
    /// Bytes of codes read since they were last reported.
    pub(crate) bytes: u64,
}

/// The result of pass 1 over a block.
#[derive(Default)]
struct FirstPass {
    /// The records that each search selects; `None` for a search that selects none.
    masks: Vec<Option<Mask>>,
    /// Candidates of each search.
    candidates: Vec<Vec<Candidate>>,
}

/// Scans a block for all of `searches`.
pub(crate) fn scan_block(block: &Block, searches: &[&RunningSearch], scratch: &mut Scratch) {
    let mut first = scratch.first_passes.pop().unwrap_or_default();
    first.run(block, searches, &mut scratch.bytes);
    for (search, candidates) in searches.iter().zip(&mut first.candidates) {
        scratch.bytes += rank(block, search, candidates, &mut scratch.ranking);
        let lowest = &mut scratch.ranking.lowest;
        search.ranking.observe_block(block.len(), lowest);
    }
    scratch.first_passes.push(first);
}

/// Scans the first blocks for all of `searches`. The best candidates of all of these blocks raise the score floor, and
/// give its first estimate, before any other candidate is refined.
pub(crate) fn scan_first_blocks(
    blocks: &[&Block],
    searches: &[&RunningSearch],
    scratch: &mut Scratch,
) {
    let mut first_passes = std::mem::take(&mut scratch.first_passes);
    first_passes.resize_with(blocks.len(), FirstPass::default);
    for (block, first) in blocks.iter().zip(&mut first_passes) {
        first.run(block, searches, &mut scratch.bytes);
        for (search, candidates) in searches.iter().zip(&first.candidates) {
            preview(block, search, candidates, &mut scratch.ranking.lowest);
        }
    }
    for (block, first) in blocks.iter().zip(&mut first_passes) {
        for (search, candidates) in searches.iter().zip(&mut first.candidates) {
            let floor = search.score_range().floor;
            candidates.retain(|candidate| upper_bound(candidate) >= floor);
            scratch.bytes += rank(block, search, candidates, &mut scratch.ranking);
            scratch.ranking.lowest.clear();
        }
    }
    scratch.first_passes = first_passes;
}

impl FirstPass {
    /// Compares the heads of a block's codes. Adds the bytes read to `bytes`.
    fn run(&mut self, block: &Block, searches: &[&RunningSearch], bytes: &mut u64) {
        self.masks.clear();
        self.masks
            .extend(searches.iter().map(|search| select(block, search)));
        self.candidates.resize_with(searches.len(), Vec::new);
        self.candidates.iter_mut().for_each(Vec::clear);
        let parts = searches.iter().zip(&self.masks).zip(&mut self.candidates);
        let mut scans: Vec<Scan<'_>> = parts
            .filter_map(|((search, mask), found)| {
                let range = search.score_range();
                Some(Scan {
                    query: search.query.coded_for(block),
                    mask: &mask.as_ref()?.0,
                    floor: range.floor,
                    ceiling: range.ceiling,
                    found,
                })
            })
            .collect();
        scan_codes(&block.coded.codes, &mut scans);
        if !scans.is_empty() {
            // The codes are read once for all searches.
            *bytes += block.coded.codes.head_bytes().len() as u64;
        }
    }
}

/// The records of a block that a search selects; `None` for none, or when nothing is left to do for the search.
fn select(block: &Block, search: &RunningSearch) -> Option<Mask> {
    if search.outcome.is_over() {
        // A stopped search is answered at once: its caller does not wait for the other searches of the scan.
        answer(search);
        return None;
    }
    if search.is_covered(block) {
        return None;
    }
    let mask = search
        .scope
        .mask(block, &search.outcome.stop_check())
        .ok()?;
    let selected = mask.count() as u64;
    search.counters.scanned.fetch_add(selected, Relaxed);
    (!mask.is_empty()).then_some(mask)
}
