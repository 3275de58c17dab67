//! Pruning passes 2 and 3, and exact scores: the candidates of one block for one search.
//!
//! The passes bound their scores by the rest of their codes. Those whose bounds decide nothing are scored exactly; a
//! candidate that certainly matches waits for its score until the end of the scan.

use std::sync::atomic::Ordering::Relaxed;

use cosift_kernels::{Candidate, Wanted};

use crate::columns::Mask;
use crate::record::{Extra, Score};
use crate::search::bounds::upper_bound;
use crate::search::floor_estimate::max_of_part;
use crate::search::found_in_block::{FoundInBlock, RankingScratch, is_decided, score};
use crate::search::group_candidates::add_to_groups;
use crate::search::running::RunningSearch;
use crate::snapshot::Block;

/// The candidates of a block for a search.
pub(crate) struct Candidates<'a> {
    /// Those that were refined.
    pub(crate) refined: &'a mut Vec<Candidate>,
    pub(crate) others: &'a mut Vec<Candidate>,
}

/// Takes the best candidates of a block for [`preview`]. `records` are those of all blocks that are previewed: about twice as
/// many candidates are taken as the page has places, and more of the first block, which raises the floor of the others.
pub(crate) fn take_best(
    (block, records): (&Block, usize),
    search: &RunningSearch,
    found: &FoundInBlock<'_>,
    candidates: Candidates<'_>,
) {
    if search.counts_all() {
        return;
    }
    let Candidates { refined, others } = candidates;
    let ranking = &search.ranking;
    let count = if ranking.start().is_none() && ranking.floor() > ranking.threshold() {
        max_of_part(ranking.size(), block.len(), records)
    } else {
        ranking.size()
    };
    *refined = if others.len() > count {
        found.bounds.take_best(others, count)
    } else {
        std::mem::take(others)
    };
}

/// Refines the best candidates of a block without ranking them: they raise the score floor and its estimate.
pub(crate) fn preview(
    block: &Block,
    search: &RunningSearch,
    found: &FoundInBlock<'_>,
    refined: &mut Vec<Candidate>,
    lowest: &mut Vec<Score>,
) {
    if search.counts_all() {
        return;
    }
    refine_codes(block, search, found, refined, None);
    let stop_check = &search.outcome.stop_check();
    refined.retain(|candidate| {
        let slot = usize::from(candidate.slot);
        let passes = search.scope.passes_deferred(block, slot, stop_check);
        if passes {
            let bounds = found.bounds.of(candidate);
            lowest.extend((search.ranking.certainly_follows(&bounds)).then_some(bounds.lowest));
        }
        // Another record with the same vector may pass.
        passes || found.stands_for_others(slot)
    });
    search.ranking.preview_block(lowest);
    if let Some(start) = search.ranking.start() {
        // Deep down, scores are so close to that of the cursor that the bounds of hardly any record of the page tell on which
        // side of the cursor it is.
        let likely = refined
            .iter()
            .map(|candidate| found.bounds.likely_lowest(candidate));
        lowest.clear();
        lowest.extend(likely.filter(|&score| score < start.position().score));
    }
    search.ranking.observe_block(block.len(), lowest);
}

/// Ranks the candidates of pass 1, or adds them to their groups. Returns the bytes of the codes that pass 2 read.
///
/// Where there are many, those with the highest estimates come first, unless [`is_above_threshold`]: they raise the score
/// floor, and most of the others are then pruned without being refined.
pub(crate) fn rank(
    block: &Block,
    search: &RunningSearch,
    found: &FoundInBlock<'_>,
    candidates: Candidates<'_>,
    scratch: &mut RankingScratch,
) -> u64 {
    let Candidates {
        refined,
        others: candidates,
    } = candidates;
    if refined.is_empty() && candidates.is_empty() {
        return 0;
    }
    let mut matches = Mask::empty();
    rank_refined(block, search, found, refined, scratch, &mut matches);
    drop_unwanted(found, candidates);
    let bounds = &found.bounds;
    bounds.prune(candidates);
    let compared = refined.len() + candidates.len();
    let layout = block.coded.codes.layout();
    // Low nibbles are read for few.
    let bytes = compared * (layout.row_bytes() - layout.low_bytes());
    let first = search.ranking.size();
    if candidates.len() > 2 * first {
        if !is_above_threshold(search) {
            let mut best = bounds.take_best(candidates, first);
            refine_matches(block, search, found, &mut best, scratch, &mut matches);
        }
        if bounds.is_blended() {
            candidates.retain(|candidate| {
                let bounds = bounds.of(candidate);
                !is_decided(search, candidate, &bounds, &mut matches)
            });
        } else {
            wanted(found, Some(&mut matches)).retain(candidates);
        }
    }
    refine_matches(block, search, found, candidates, scratch, &mut matches);
    found.add_equal(&mut matches);
    search.count_matches(block, &matches);
    bytes as u64
}

/// Whether a search that counts all matches knows a score floor above its threshold. Ranking the best candidates first then
/// prunes few others, because the floor excludes most matches from the page already.
fn is_above_threshold(search: &RunningSearch) -> bool {
    search.counts_all() && search.ranking.floor() > search.ranking.threshold()
}

/// Passes 2 and 3. Adds the slots of matches to `matches`, and ranks those that may enter the page or adds them to their
/// groups.
fn refine_matches(
    block: &Block,
    search: &RunningSearch,
    found: &FoundInBlock<'_>,
    candidates: &mut Vec<Candidate>,
    scratch: &mut RankingScratch,
    matches: &mut Mask,
) {
    refine_codes(block, search, found, candidates, Some(matches));
    rank_refined(block, search, found, candidates, scratch, matches);
}

/// Ranks refined candidates, or adds them to their groups.
fn rank_refined(
    block: &Block,
    search: &RunningSearch,
    found: &FoundInBlock<'_>,
    candidates: &[Candidate],
    scratch: &mut RankingScratch,
    matches: &mut Mask,
) {
    match &search.groups {
        Some(groups) => add_to_groups(block, search, (found, groups), candidates, scratch, matches),
        None => rank_candidates(block, search, found, candidates, scratch, matches),
    }
    // Also when the search is over, because the buffer is shared with other searches.
    search.ranking.add_unscored(&mut scratch.unscored);
}

/// Ranks refined candidates.
fn rank_candidates(
    block: &Block,
    search: &RunningSearch,
    found: &FoundInBlock<'_>,
    candidates: &[Candidate],
    scratch: &mut RankingScratch,
    matches: &mut Mask,
) {
    let threshold = search.ranking.threshold();
    let stop_check = &search.outcome.stop_check();
    for candidate in candidates {
        let slot = usize::from(candidate.slot);
        let mut bounds = found.bounds.of(candidate);
        if is_decided(search, candidate, &bounds, matches) {
            continue;
        }
        if found.stands_for_others(slot) {
            match score(
                block,
                search,
                slot,
                upper_bound(candidate),
                Extra::default(),
            ) {
                Ok(score) => {
                    if score >= threshold {
                        matches.set(slot);
                    }
                    rank_equal(block, search, found, (slot, score), scratch);
                    continue;
                }
                Err(error) => {
                    search.outcome.fail(error);
                    break;
                }
            }
        }
        if !search.scope.passes_deferred(block, slot, stop_check) {
            continue;
        }
        let extra = found.bounds.extra(slot);
        if let Some(extra) = extra {
            bounds = found.bounds.with(candidate, extra);
            if is_decided(search, candidate, &bounds, matches) {
                continue;
            }
        }
        let extra = extra.unwrap_or_default();
        if bounds.lowest >= threshold
            && let Some(record) = search.ranking.unscored(&bounds, block.row(slot), extra)
        {
            matches.set(slot);
            scratch.lowest.push(record.lowest);
            scratch.unscored.push(record);
            continue;
        }
        if search.outcome.is_over() {
            break;
        }
        match score(block, search, slot, upper_bound(candidate), extra) {
            Ok(score) if score >= threshold => {
                matches.set(slot);
                if search.ranking.may_enter(&bounds)
                    && search.ranking.add(search.hit(block, slot, score))
                {
                    scratch.lowest.push(score);
                }
            }
            Ok(_) => {}
            Err(error) => search.outcome.fail(error),
        }
    }
}

/// Ranks the records whose vector is that of the candidate `first`, which has this score. Those that come after the last
/// place of the page are skipped.
fn rank_equal(
    block: &Block,
    search: &RunningSearch,
    found: &FoundInBlock<'_>,
    (first, score): (usize, Score),
    scratch: &mut RankingScratch,
) {
    let (Some((selected, equal)), true) = (found.equal, score >= search.ranking.floor()) else {
        return;
    };
    let stop_check = &search.outcome.stop_check();
    let mut last = search.ranking.last();
    for slot in equal.group_of(first, selected) {
        let hit = search.hit(block, slot, score);
        if last.is_none_or(|last| hit.position < last)
            && search.scope.passes_deferred(block, slot, stop_check)
            && search.ranking.add(hit)
        {
            scratch.lowest.push(score);
            last = search.ranking.last();
        }
    }
}

/// Refines candidates: bounds their scores by the rest of their codes, and removes those outside the range that the search
/// looks for. Those that only count as matches are moved to `matches` as soon as their bounds tell so.
fn refine_codes(
    block: &Block,
    search: &RunningSearch,
    found: &FoundInBlock<'_>,
    candidates: &mut Vec<Candidate>,
    matches: Option<&mut Mask>,
) {
    let refined = candidates.len() as u64;
    search.counters.refined.fetch_add(refined, Relaxed);
    let query = search.query.coded_for(block);
    let mut several = Vec::new();
    if block.body.passages.is_some() {
        candidates.retain(|candidate| {
            let has_one = block.has_one_vector(usize::from(candidate.slot));
            if !has_one {
                several.push(*candidate);
            }
            has_one
        });
    }
    let wanted = &mut wanted(found, matches);
    block.coded.refine(0, query, wanted, candidates);
    if !several.is_empty() {
        let range = found.bounds.range();
        found.rows.refine(block, query, &range, &mut several);
        candidates.append(&mut several);
    }
    found.bounds.prune(candidates);
}

/// Drops the candidates whose scores the search does not need: the floor may be higher than when the heads of the block were
/// compared.
pub(crate) fn drop_unwanted(found: &FoundInBlock<'_>, candidates: &mut Vec<Candidate>) {
    wanted(found, None).retain(candidates);
}

/// The candidates whose scores the search needs. Those that only count as matches are moved to `matches`.
fn wanted<'a>(found: &FoundInBlock<'_>, matches: Option<&'a mut Mask>) -> Wanted<'a> {
    let range = found.bounds.range();
    Wanted {
        floor: range.floor,
        ceiling: range.ceiling,
        counted: matches.and_then(|matches| found.bounds.counted(&mut matches.0)),
    }
}
