//! The candidates of one block for a search with `distinct`: every match is added to its group.
//!
//! Which match of a group is its first one is known once every block was scanned, so the score floor excludes only the
//! matches without a value, which are results of their own.

use std::sync::atomic::Ordering::Relaxed;

use cosift_kernels::Candidate;

use crate::columns::Mask;
use crate::search::bounds::{ScoreBounds, upper_bound};
use crate::search::candidates::{FoundInBlock, RankingScratch, refine_codes, score};
use crate::search::distinct::{BoundedMatch, DistinctMatches};
use crate::search::running::RunningSearch;
use crate::snapshot::Block;

/// Adds the matches among the candidates of pass 1 to their groups, and ranks those without a value. Returns the bytes of the
/// full codes of the candidates.
pub(crate) fn rank_groups(
    block: &Block,
    search: &RunningSearch,
    (found, groups): (&FoundInBlock<'_>, &DistinctMatches),
    candidates: &mut Vec<Candidate>,
    scratch: &mut RankingScratch,
) -> u64 {
    found.bounds.prune(candidates);
    let bytes = candidates.len() * block.coded.codes.layout().row_bytes();
    if !candidates.is_empty() {
        let bounded = match_candidates(block, search, found, candidates);
        let mut matches = Mask::empty();
        bounded.iter().for_each(|found| matches.set(found.slot));
        match groups.add(block, bounded) {
            Ok(alone) => rank_alone(block, search, found, &alone, scratch),
            Err(error) => search.outcome.fail(error),
        }
        search.count_matches(block, &matches);
    }
    bytes as u64
}

/// Passes 2 and 3: the matches among the candidates, with bounds of their scores.
fn match_candidates(
    block: &Block,
    search: &RunningSearch,
    found: &FoundInBlock<'_>,
    candidates: &mut Vec<Candidate>,
) -> Vec<BoundedMatch> {
    let refined = candidates.len() as u64;
    search.counters.refined.fetch_add(refined, Relaxed);
    refine_codes(block, search, found, candidates, None);
    let threshold = search.ranking.threshold();
    let mut bounded: Vec<BoundedMatch> = Vec::with_capacity(candidates.len());
    for candidate in candidates.iter() {
        let slot = usize::from(candidate.slot);
        let mut bounds = found.bounds.of(candidate);
        let stands_for_others = found.stands_for_others(slot);
        if bounds.lowest < threshold || stands_for_others {
            if search.outcome.is_over() {
                break;
            }
            let extra = found.bounds.extra(slot).unwrap_or_default();
            let score = match score(block, search, slot, upper_bound(candidate), extra) {
                Ok(score) => score,
                Err(error) => {
                    search.outcome.fail(error);
                    break;
                }
            };
            if score < threshold {
                continue;
            }
            bounds = ScoreBounds {
                lowest: score,
                highest: score,
            };
        }
        if stands_for_others {
            let equal = found.equal_to(slot);
            bounded.extend(equal.map(|slot| BoundedMatch { slot, bounds }));
        } else {
            bounded.push(BoundedMatch { slot, bounds });
        }
    }
    bounded
}

/// Ranks matches that are results of their own.
fn rank_alone(
    block: &Block,
    search: &RunningSearch,
    found: &FoundInBlock<'_>,
    alone: &[BoundedMatch],
    scratch: &mut RankingScratch,
) {
    for &BoundedMatch { slot, bounds } in alone {
        if !search.ranking.may_enter(&bounds) || search.ranking.certainly_precedes(&bounds) {
            continue;
        }
        let extra = found.bounds.extra(slot).unwrap_or_default();
        if bounds.lowest < bounds.highest
            && let Some(record) = search.ranking.unscored(&bounds, block.row(slot), extra)
        {
            scratch.unscored.push(record);
            continue;
        }
        if search.outcome.is_over() {
            break;
        }
        let score = match bounds.lowest == bounds.highest {
            true => Ok(bounds.lowest),
            false => search.score(block, slot),
        };
        match score {
            Ok(score) => {
                search.ranking.add(search.hit(block, slot, score));
            }
            Err(error) => search.outcome.fail(error),
        }
    }
    // Also when the search is over, because the buffer is shared with other searches.
    search.ranking.add_unscored(&mut scratch.unscored);
}
