//! What pass 1 found in a block for a search, and what decides about its candidates.

use cosift_kernels::Candidate;

use crate::columns::Mask;
use crate::error::Error;
use crate::record::{Extra, Score};
use crate::search::block_bounds::BlockBounds;
use crate::search::bounds::ScoreBounds;
use crate::search::passage_rows::PassageRows;
use crate::search::ranking::UnscoredMatch;
use crate::search::running::RunningSearch;
use crate::snapshot::{Block, EqualVectors};

/// Buffers of passes 2 and 3.
#[derive(Default)]
pub(crate) struct RankingScratch {
    pub(crate) unscored: Vec<UnscoredMatch>,
    /// Scores that records of the block certainly reach.
    pub(crate) lowest: Vec<Score>,
}

/// What pass 1 found in a block for a search, besides the candidates.
pub(crate) struct FoundInBlock<'a> {
    pub(crate) bounds: BlockBounds<'a>,
    /// The vectors of candidates with several passages.
    pub(crate) rows: &'a PassageRows,
    /// The selected records with equal vectors, and their groups. Only the first of each group is a candidate.
    pub(crate) equal: Option<(&'a Mask, &'a EqualVectors)>,
}

impl FoundInBlock<'_> {
    /// Whether a candidate stands for other records with the same vector.
    pub(super) fn stands_for_others(&self, slot: usize) -> bool {
        self.equal.is_some_and(|(selected, _)| selected.get(slot))
    }

    /// The selected records with the vector of a candidate that stands for them.
    pub(super) fn equal_to(&self, slot: usize) -> impl Iterator<Item = usize> {
        let equal = self.equal.into_iter();
        equal.flat_map(move |(selected, equal)| equal.group_of(slot, selected))
    }

    /// Adds the records with the same vector to each match.
    pub(super) fn add_equal(&self, matches: &mut Mask) {
        let Some((selected, equal)) = self.equal else {
            return;
        };
        for group in equal.selected_groups(selected) {
            let mut group = group.peekable();
            if group.peek().is_some_and(|&first| matches.get(first)) {
                group.for_each(|slot| matches.set(slot));
            }
        }
    }
}

/// Whether the bounds of a record tell enough: it cannot enter the page, and does not match or only counts as a match, or it
/// is on an earlier page.
pub(super) fn is_decided(
    search: &RunningSearch,
    candidate: &Candidate,
    bounds: &ScoreBounds,
    matches: &mut Mask,
) -> bool {
    let (floor, ceiling) = search.needed_scores();
    bounds.highest < floor
        || ceiling.is_some_and(|ceiling| bounds.lowest > ceiling)
        || counted_unscored(search, candidate, bounds, matches)
}

/// Whether a candidate needs no score because it only counts as a match. It is then added to `matches`.
fn counted_unscored(
    search: &RunningSearch,
    candidate: &Candidate,
    bounds: &ScoreBounds,
    matches: &mut Mask,
) -> bool {
    let counted = search.needs_no_score(bounds);
    if counted {
        matches.set(usize::from(candidate.slot));
    }
    counted
}

/// The score of a record whose cosine is at most `highest`, and whose other parts are known.
pub(super) fn score(
    block: &Block,
    search: &RunningSearch,
    slot: usize,
    highest: f32,
    extra: Extra,
) -> Result<Score, Error> {
    // The cosine is certainly below 0, so it is clamped to 0.
    let cosine = if highest < 0.0 {
        Score(0)
    } else {
        search.cosine(block, slot)?
    };
    Ok(search.blended(cosine, extra))
}
