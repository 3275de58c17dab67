//! The candidates of one block for a search with `distinct`: a match that may be on the page is added to its group.
//!
//! Which match of a group is its first one is known once every block was scanned. Until then the score floor is a score that
//! as many groups as the page has places certainly reach, and excludes the matches below.

use cosift_kernels::Candidate;

use crate::columns::Mask;
use crate::search::bounds::{ScoreBounds, upper_bound};
use crate::search::distinct::{BoundedMatch, DistinctMatches};
use crate::search::found_in_block::{FoundInBlock, RankingScratch, is_decided, score};
use crate::search::running::RunningSearch;
use crate::snapshot::Block;

/// Adds the matches among refined candidates to their groups, and ranks those without a value.
pub(crate) fn add_to_groups(
    block: &Block,
    search: &RunningSearch,
    (found, groups): (&FoundInBlock<'_>, &DistinctMatches),
    candidates: &[Candidate],
    scratch: &mut RankingScratch,
    matches: &mut Mask,
) {
    let bounded = bounded_matches(block, search, found, candidates, matches);
    match groups.add(block, bounded, &search.ranking) {
        Ok(alone) => rank_alone(block, search, found, &alone, scratch),
        Err(error) => search.outcome.fail(error),
    }
}

/// The matches that may be on the page, with bounds of their scores. Adds the slots of all matches to `matches`.
fn bounded_matches(
    block: &Block,
    search: &RunningSearch,
    found: &FoundInBlock<'_>,
    candidates: &[Candidate],
    matches: &mut Mask,
) -> Vec<BoundedMatch> {
    let threshold = search.ranking.threshold();
    let mut bounded: Vec<BoundedMatch> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let slot = usize::from(candidate.slot);
        let mut bounds = found.bounds.of(candidate);
        if is_decided(search, candidate, &bounds, matches) {
            continue;
        }
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
        matches.set(slot);
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
}
