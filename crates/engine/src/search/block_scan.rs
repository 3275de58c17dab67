//! Scanning one block for several searches: mask, the three pruning passes, exact scores.
//!
//! Pass 1 bounds every score by the head of the codes, for all searches together. Passes 2 and 3 bound the scores of the
//! remaining candidates by the rest of their codes, and what is still undecided is scored exactly ([`candidates`]).
//!
//! [`candidates`]: crate::search::candidates

use std::sync::atomic::Ordering::Relaxed;

use cosift_kernels::{Candidate, Query, Residence, Scan, prefetch, scan_codes};

use crate::columns::Mask;
use crate::record::Score;
use crate::search::answer::answer;
use crate::search::blend::BlockParts;
use crate::search::block_bounds::BlockBounds;
use crate::search::bounds::ScoreRange;
use crate::search::candidates::{Candidates, drop_unwanted, preview, rank, take_best};
use crate::search::found_in_block::{FoundInBlock, RankingScratch};
use crate::search::passage_rows::{PassageRows, SeveralPassages, scan_later};
use crate::search::running::RunningSearch;
use crate::snapshot::Block;

/// Buffers that a thread keeps from block to block.
#[derive(Default)]
pub(crate) struct Scratch {
    first_passes: Vec<FirstPass>,
    /// The records that each search selects in the block whose heads are compared; `None` for a search that selects none.
    masks: Vec<Option<Mask>>,
    pub(crate) ranking: RankingScratch,
    /// Bytes of codes read since they were last reported.
    pub(crate) bytes: u64,
}

/// Buffers of parts of scores that are kept from block to block. They take up to 130 kB each.
const KEPT_PARTS: usize = 8;

/// The result of pass 1 over a block.
#[derive(Default)]
struct FirstPass {
    /// Candidates of each search.
    candidates: Vec<Vec<Candidate>>,
    /// The best of them, once they were refined.
    refined: Vec<Vec<Candidate>>,
    /// What records have of the parts of the scores of each search; `None` for a search whose scores are cosines.
    parts: Vec<Option<BlockParts>>,
    /// The records with several passages that each search selects; empty where there are none.
    several: Vec<Option<Mask>>,
    /// The vectors of these records that pass 1 did not exclude.
    rows: Vec<PassageRows>,
    /// The records with equal vectors that each search selects; of these, only the first of each group is a candidate. Empty
    /// where there are none.
    equal: Vec<Option<Mask>>,
}

/// Scans a block for all of `searches`. `give_way` is called after each piece of the work.
pub(crate) fn scan_block(
    block: &Block,
    searches: &[&RunningSearch],
    scratch: &mut Scratch,
    give_way: &mut dyn FnMut(),
) {
    let mut first = scratch.first_passes.pop().unwrap_or_default();
    first.run(block, searches, scratch);
    for (at, search) in searches.iter().enumerate() {
        give_way();
        let (found, candidates) = first.of_search(at, block, search);
        scratch.bytes += rank(block, search, &found, candidates, &mut scratch.ranking);
        let lowest = &mut scratch.ranking.lowest;
        search.ranking.observe_block(block.len(), lowest);
    }
    scratch.first_passes.push(first);
}

/// Scans several blocks for all of `searches`. The best candidates of all of these blocks raise the score floor and its
/// estimate before any other candidate is refined. While the candidates of a search are refined, those of the next one are
/// fetched from memory. `give_way` is called after each piece of the work.
pub(crate) fn scan_blocks(
    blocks: &[&Block],
    searches: &[&RunningSearch],
    scratch: &mut Scratch,
    give_way: &mut dyn FnMut(),
) {
    let mut first_passes = std::mem::take(&mut scratch.first_passes);
    first_passes.resize_with(blocks.len().max(first_passes.len()), FirstPass::default);
    let records = blocks.iter().map(|block| block.len()).sum();
    for (block, first) in blocks.iter().zip(&mut first_passes) {
        first.run(block, searches, scratch);
        for (at, search) in searches.iter().enumerate() {
            let (found, candidates) = first.of_search(at, block, search);
            take_best((block, records), search, &found, candidates);
        }
        for (at, search) in searches.iter().enumerate() {
            give_way();
            let next = first.refined.get(at + 1);
            prefetch(&block.coded.codes, next.map_or(&[], Vec::as_slice));
            let (found, candidates) = first.of_search(at, block, search);
            let lowest = &mut scratch.ranking.lowest;
            preview(block, search, &found, candidates.refined, lowest);
        }
    }
    for (block, first) in blocks.iter().zip(&mut first_passes) {
        for (at, search) in searches.iter().enumerate() {
            give_way();
            if let Some(next) = searches.get(at + 1) {
                let (found, candidates) = first.of_search(at + 1, block, next);
                drop_unwanted(&found, candidates.others);
                prefetch(&block.coded.codes, candidates.others);
            }
            let (found, candidates) = first.of_search(at, block, search);
            scratch.bytes += rank(block, search, &found, candidates, &mut scratch.ranking);
            scratch.ranking.lowest.clear();
        }
    }
    scratch.first_passes = first_passes;
}

impl FirstPass {
    /// Compares the heads of a block's codes.
    fn run(&mut self, block: &Block, searches: &[&RunningSearch], scratch: &mut Scratch) {
        let Scratch { masks, bytes, .. } = scratch;
        masks.clear();
        masks.extend(searches.iter().map(|search| select(block, search)));
        for found in [&mut self.candidates, &mut self.refined] {
            found.resize_with(searches.len(), Vec::new);
            found.iter_mut().for_each(Vec::clear);
        }
        self.find_parts(block, searches, masks);
        let mut ranges: Vec<ScoreRange> = (searches.iter().zip(&mut *masks).zip(&self.parts))
            .map(|((search, mask), parts)| {
                let bounds = BlockBounds::new(search, block, parts.as_ref());
                if let Some(mask) = mask {
                    bounds.remove_unreachable(mask);
                }
                bounds.range()
            })
            .collect();
        self.split_off_several(block, masks);
        self.split_off_equal(block, searches, masks);
        let queries: Vec<&Query> = (searches.iter())
            .map(|search| search.query.coded_for(block))
            .collect();
        let codes = &block.coded.codes;
        let snapshot = searches.first().map(|search| search.snapshot());
        let residence = snapshot.map_or(Residence::Cache, |snapshot| snapshot.residence_of(codes));
        self.run_first(block, residence, (searches, &queries), (masks, &mut ranges));
        let mut scans: Vec<Scan<'_>> = Vec::with_capacity(searches.len());
        for (at, found) in self.candidates.iter_mut().enumerate() {
            let (query, range) = (queries[at], ranges[at]);
            let bounds = BlockBounds::new(searches[at], block, self.parts[at].as_ref());
            scans.extend(masks[at].as_ref().map(|mask| Scan {
                query,
                mask: &mask.0,
                floor: range.floor,
                higher: bounds.higher_floor(),
                ceiling: range.ceiling,
                found,
            }));
        }
        for (at, rows) in self.rows.iter_mut().enumerate() {
            let several = self.several.get(at).and_then(Option::as_ref);
            scans.extend(several.map(|records| rows.begin(queries[at], records, ranges[at].floor)));
        }
        scan_codes(codes, residence, &mut scans);
        if !scans.is_empty() {
            // The codes are read once for all searches.
            *bytes += block.coded.codes.head_bytes().len() as u64;
        }
        drop(scans);
        let parts = self
            .several
            .iter()
            .zip(&mut self.rows)
            .zip(&mut self.candidates);
        let mut several: Vec<SeveralPassages<'_>> = (parts.zip(&queries).zip(&ranges))
            .filter_map(|((((records, rows), candidates), query), range)| {
                Some(SeveralPassages {
                    query,
                    records: records.as_ref()?,
                    range: *range,
                    rows,
                    candidates,
                })
            })
            .collect();
        if !several.is_empty() {
            *bytes += scan_later(block, residence, &mut several);
        }
    }

    /// Compares the first records of the block for searches that know no score floor. They estimate one, which excludes most of
    /// the other records, and leave `masks`.
    fn run_first(
        &mut self,
        block: &Block,
        residence: Residence,
        (searches, queries): (&[&RunningSearch], &[&Query]),
        (masks, ranges): (&mut [Option<Mask>], &mut [ScoreRange]),
    ) {
        if !searches.iter().any(|search| search.ranking.lacks_floor()) {
            return;
        }
        let firsts: Vec<Option<Mask>> = (searches.iter().zip(&mut *masks))
            .map(|(search, mask)| split_off_first(block, search, mask.as_mut()?))
            .collect();
        let mut scans: Vec<Scan<'_>> = Vec::new();
        for (at, found) in self.candidates.iter_mut().enumerate() {
            scans.extend(firsts[at].as_ref().map(|first| Scan {
                query: queries[at],
                mask: &first.0,
                floor: ranges[at].floor,
                higher: None,
                ceiling: ranges[at].ceiling,
                found,
            }));
        }
        if scans.is_empty() {
            return;
        }
        scan_codes(&block.coded.codes, residence, &mut scans);
        for (at, search) in searches.iter().enumerate() {
            if firsts[at].is_some() {
                let bounds = BlockBounds::new(search, block, None);
                let candidates = self.candidates[at].iter();
                let mut likely: Vec<Score> = candidates
                    .map(|candidate| bounds.likely_lowest(candidate))
                    .collect();
                search.ranking.estimate_floor_by(&mut likely);
                ranges[at] = bounds.range();
            }
        }
    }

    /// Moves the records with several passages from `masks` to `several`.
    fn split_off_several(&mut self, block: &Block, masks: &mut [Option<Mask>]) {
        self.rows.resize_with(masks.len(), PassageRows::default);
        self.several.clear();
        let Some(passages) = &block.body.passages else {
            return;
        };
        for selected in masks {
            let several = selected.as_mut().and_then(|mask| {
                let mut several = mask.clone();
                several.and(&passages.records);
                mask.and_not(&passages.records);
                (!several.is_empty()).then_some(several)
            });
            self.several.push(several);
            *selected = selected.take().filter(|mask| !mask.is_empty());
        }
    }

    /// Leaves one record of each group with equal vectors in `masks`: the others have the same cosine.
    fn split_off_equal(
        &mut self,
        block: &Block,
        searches: &[&RunningSearch],
        masks: &mut [Option<Mask>],
    ) {
        self.equal.clear();
        let Some(equal) = &block.body.equal else {
            return;
        };
        for (search, selected) in searches.iter().zip(masks) {
            // Records with equal vectors may differ in the other parts.
            let selected = selected.as_mut().filter(|_| search.blend.is_none());
            self.equal.push(selected.and_then(|mask| {
                let mut grouped = mask.clone();
                grouped.and(&equal.records);
                mask.and_not(&grouped);
                equal.firsts(&grouped).for_each(|slot| mask.set(slot));
                (!grouped.is_empty()).then_some(grouped)
            }));
        }
    }

    /// Finds what records have of the parts of the scores of each search that selects records. A search that is stopped
    /// meanwhile selects none.
    fn find_parts(
        &mut self,
        block: &Block,
        searches: &[&RunningSearch],
        masks: &mut [Option<Mask>],
    ) {
        self.parts.truncate(KEPT_PARTS);
        self.parts.resize_with(searches.len(), || None);
        let of_searches = searches.iter().zip(masks).zip(&mut self.parts);
        for ((search, selected), parts) in of_searches {
            let (Some(blend), Some(mask)) = (&search.blend, &*selected) else {
                *parts = None;
                continue;
            };
            let stop_check = &search.outcome.stop_check();
            let found = blend.find(block, mask, stop_check, parts.get_or_insert_default());
            if found.is_err() {
                *selected = None;
            }
        }
    }

    /// What was found for a search, by its place, and its candidates.
    fn of_search<'a>(
        &'a mut self,
        at: usize,
        block: &'a Block,
        search: &'a RunningSearch,
    ) -> (FoundInBlock<'a>, Candidates<'a>) {
        let found = FoundInBlock {
            bounds: BlockBounds::new(search, block, self.parts[at].as_ref()),
            rows: &self.rows[at],
            equal: (self.equal.get(at))
                .and_then(Option::as_ref)
                .zip(block.body.equal.as_deref()),
        };
        let candidates = Candidates {
            refined: &mut self.refined[at],
            others: &mut self.candidates[at],
        };
        (found, candidates)
    }
}

/// Moves the first records of a block out of `mask`, for a search that knows no score floor; `None` for others, and where these
/// records would be most of the block or hardly fill the page.
fn split_off_first(block: &Block, search: &RunningSearch, mask: &mut Mask) -> Option<Mask> {
    let size = search.ranking.size();
    let count = (FIRST_OF_PLACE * size).next_multiple_of(64);
    if 2 * count > block.len() || search.counts_all() || search.blend.is_some() {
        return None;
    }
    if !search.ranking.lacks_floor() || search.scope.defers_rules() {
        return None;
    }
    let mut first = Mask::full(count);
    first.and(mask);
    if first.count() < FIRST_OF_PLACE / 2 * size {
        return None;
    }
    mask.and_not(&first);
    Some(first)
}

/// The first records of a block, for each place of a page.
const FIRST_OF_PLACE: usize = 8;

/// The records of a block that a search selects; `None` for none, or when nothing is left to do for the search.
fn select(block: &Block, search: &RunningSearch) -> Option<Mask> {
    if search.outcome.is_over() {
        // A stopped search is answered at once: its caller does not wait for the other searches of the scan.
        answer(search);
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
