//! Bounds of the scores of the records of one block, for one search.

use cosift_kernels::{Candidate, Counted, HigherFloor, Mask};

use crate::columns;
use crate::record::{Extra, Score};
use crate::search::best_estimates::{BestEstimates, in_order, in_order_up_to};
use crate::search::blend::{BlendOfBlock, BlockParts};
use crate::search::bounds::{ScoreBounds, ScoreRange, upper_bound};
use crate::search::running::RunningSearch;
use crate::snapshot::Block;

/// What bounds the scores of a block for a search: the cosines alone, or the cosines and the other parts.
pub(crate) struct BlockBounds<'a> {
    search: &'a RunningSearch,
    block: &'a Block,
    blend: Option<BlendOfBlock<'a>>,
}

impl<'a> BlockBounds<'a> {
    /// `parts` are what records of the block have of the other parts of scores, if scores have several parts.
    pub(crate) fn new(
        search: &'a RunningSearch,
        block: &'a Block,
        parts: Option<&'a BlockParts>,
    ) -> Self {
        let blend = search.blend.as_ref().zip(parts);
        let blend = blend.map(|(blend, parts)| BlendOfBlock::new(blend, block, parts));
        Self {
            search,
            block,
            blend,
        }
    }

    /// The range of cosines that the search looks for in this block: no record outside has a score that it needs.
    pub(crate) fn range(&self) -> ScoreRange {
        let (floor, ceiling) = self.search.needed_scores();
        let Some(blend) = &self.blend else {
            return ScoreRange::new(floor, ceiling);
        };
        let weight = blend.cosine();
        ScoreRange {
            floor: weight.cosine_below(floor, blend.highest_of_all()),
            ceiling: ceiling.map_or(f32::INFINITY, |score| weight.cosine_above(score)),
        }
    }

    /// A higher floor than that of the range, for the records whose other parts are not among the highest.
    pub(crate) fn higher_floor(&self) -> Option<HigherFloor<'a>> {
        let blend = self.blend.as_ref()?;
        let (floor, _) = self.search.needed_scores();
        Some(HigherFloor {
            floor: blend.cosine().cosine_below(floor, blend.high()),
            except: &blend.above_high().0,
        })
    }

    /// Removes the records whose other parts are so low that no cosine gives them a score that the search needs.
    pub(crate) fn remove_unreachable(&self, mask: &mut columns::Mask) {
        if let Some(blend) = &self.blend {
            let (floor, _) = self.search.needed_scores();
            blend.remove_unreachable(mask, floor);
        }
    }

    /// The cosines of records that need no score because they only count as matches; see
    /// [`RunningSearch::needs_no_score`]. Their slots are added to `slots`.
    pub(crate) fn counted<'m>(&self, slots: &'m mut Mask) -> Option<Counted<'m>> {
        if self.blend.is_some() || !self.search.counts_all() {
            return None;
        }
        let ranking = &self.search.ranking;
        // A score is clamped at 0, so a cosine below 0 may belong to a record of the page.
        let below = Some(ranking.floor()).filter(|&floor| floor > Score(0))?;
        let lowest = match ranking.threshold() {
            Score(0) => f32::NEG_INFINITY,
            threshold => (threshold.value() as f32).next_up(),
        };
        Some(Counted {
            lowest,
            below: (below.value() as f32).next_down(),
            slots,
        })
    }

    /// Bounds of a record's score that follow from its codes and the other parts of its score.
    pub(crate) fn of(&self, candidate: &Candidate) -> ScoreBounds {
        let cosine = ScoreBounds::of(candidate);
        let Some(blend) = &self.blend else {
            return cosine;
        };
        let slot = usize::from(candidate.slot);
        let weight = blend.cosine();
        ScoreBounds {
            lowest: weight.blend(cosine.lowest, blend.lowest(slot)),
            highest: weight.blend(cosine.highest, blend.highest(slot)),
        }
    }

    /// The upper bound of [`BlockBounds::of`].
    pub(crate) fn highest(&self, candidate: &Candidate) -> Score {
        let cosine = Score::at_most(upper_bound(candidate));
        let Some(blend) = &self.blend else {
            return cosine;
        };
        let highest = blend.highest(usize::from(candidate.slot));
        blend.cosine().blend(cosine, highest)
    }

    /// A score that a record reaches with a probability above 0.998.
    ///
    /// The error of an estimate is a sum of products, one for each band, of the query and a residual in an arbitrary
    /// direction. The standard deviation of such a product is its bound, divided by the square root of the number of
    /// dimensions of the band.
    pub(crate) fn likely_lowest(&self, candidate: &Candidate) -> Score {
        let layout = self.block.coded.codes.layout();
        if layout.row_bytes() == 0 {
            // No later pass narrows the bounds, so the floor will not rise above what is certain.
            return self.of(candidate).lowest;
        }
        let smallest_band = layout.smallest_band();
        let deviation = candidate.error / (smallest_band as f32).sqrt();
        let error = candidate.error.min(LIKELY_DEVIATIONS * deviation);
        let cosine = Score::no_less(candidate.estimate - error);
        self.blend.as_ref().map_or(cosine, |blend| {
            let lowest = blend.lowest(usize::from(candidate.slot));
            blend.cosine().blend(cosine, lowest)
        })
    }

    /// What the other parts of a record add to its score, if scores have several parts.
    pub(crate) fn extra(&self, slot: usize) -> Option<Extra> {
        self.blend.as_ref().map(|blend| blend.exact(slot))
    }

    /// The same bounds as [`BlockBounds::of`] for a record whose other parts are known.
    pub(crate) fn with(&self, candidate: &Candidate, extra: Extra) -> ScoreBounds {
        let cosine = ScoreBounds::of(candidate);
        self.blend.as_ref().map_or(cosine, |blend| {
            let weight = blend.cosine();
            ScoreBounds {
                lowest: weight.blend(cosine.lowest, extra),
                highest: weight.blend(cosine.highest, extra),
            }
        })
    }

    /// Removes the candidates that certainly have no score that the search needs, because the range of cosines holds for
    /// the best other parts of the block. Does nothing where scores are cosines.
    pub(crate) fn prune(&self, candidates: &mut Vec<Candidate>) {
        let Some(blend) = &self.blend else {
            return;
        };
        let (floor, _) = self.search.needed_scores();
        let of_cosine = blend.cosine().cosine_below(floor, Extra::default());
        candidates.retain(|candidate| {
            upper_bound(candidate) >= of_cosine
                || blend.has_others(usize::from(candidate.slot)) && self.highest(candidate) >= floor
        });
    }

    /// Takes the `count` candidates with the highest estimates. The others keep their order, so that their codes are read in
    /// order. Candidates whose estimate is above the score of the cursor are not taken: most are on earlier pages.
    pub(crate) fn take_best(
        &self,
        candidates: &mut Vec<Candidate>,
        count: usize,
    ) -> Vec<Candidate> {
        let mut best = self.best(candidates, count);
        let mut taken = Vec::with_capacity(count);
        let mut kept = 0;
        for at in 0..candidates.len() {
            let candidate = candidates[at];
            let is_taken = best.takes(at);
            if is_taken {
                taken.push(candidate);
            }
            candidates[kept] = candidate;
            kept += usize::from(!is_taken);
        }
        candidates.truncate(kept);
        taken
    }

    fn best(&self, candidates: &[Candidate], count: usize) -> BestEstimates {
        let (_, ceiling) = self.search.needed_scores();
        // Each estimate is computed once, because one of several parts takes longer than a comparison.
        let estimates: Vec<i32> = match (&self.blend, ceiling) {
            (None, None) => candidates.iter().map(|c| in_order(c.estimate)).collect(),
            (None, Some(ceiling)) => {
                let highest = ceiling.value() as f32;
                let estimates = candidates.iter().map(|candidate| candidate.estimate);
                estimates.map(|e| in_order_up_to(e, highest)).collect()
            }
            (Some(blend), ceiling) => {
                let highest = ceiling.map_or(f32::MAX, |score| score.value() as f32);
                let estimates = candidates.iter().map(|candidate| {
                    let lowest = blend.lowest(usize::from(candidate.slot));
                    blend.cosine().estimate(candidate.estimate, lowest)
                });
                estimates.map(|e| in_order_up_to(e, highest)).collect()
            }
        };
        BestEstimates::of(estimates, count)
    }

    /// Whether scores have several parts.
    pub(crate) fn is_blended(&self) -> bool {
        self.blend.is_some()
    }
}

/// Standard deviations of the error of an estimate that are exceeded with a probability below 0.002.
const LIKELY_DEVIATIONS: f32 = 3.0;
