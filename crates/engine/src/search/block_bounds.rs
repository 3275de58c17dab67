//! Bounds of the scores of the records of one block, for one search.

use cosift_kernels::{Candidate, Counted, HigherFloor, Mask};

use crate::lexical::{BlockMatches, LexicalQuery};
use crate::record::{SCORE_STEPS, Score};
use crate::search::best_estimates::{BestEstimates, in_order, in_order_up_to};
use crate::search::bounds::{ScoreBounds, ScoreRange, upper_bound};
use crate::search::lexical_signal::LexicalSignal;
use crate::search::running::RunningSearch;
use crate::snapshot::Block;

/// What bounds the scores of a block for a search: the cosines alone, or the cosines and the lexical scores.
pub(crate) struct BlockBounds<'a> {
    search: &'a RunningSearch,
    block: &'a Block,
    lexical: Option<Lexical<'a>>,
}

/// The lexical scores of a block.
struct Lexical<'a> {
    signal: &'a LexicalSignal,
    /// `None` for a text without words.
    query: Option<&'a LexicalQuery>,
    matches: &'a BlockMatches,
}

impl<'a> BlockBounds<'a> {
    /// `matches` are the records of the block that have words of the search.
    pub(crate) fn new(
        search: &'a RunningSearch,
        block: &'a Block,
        matches: Option<&'a BlockMatches>,
    ) -> Self {
        let lexical = search.lexical.as_ref().zip(matches);
        let lexical = lexical.map(|(signal, matches)| Lexical {
            signal,
            query: signal.query.as_ref(),
            matches,
        });
        Self {
            search,
            block,
            lexical,
        }
    }

    /// The range of cosines that the search looks for in this block: no record outside has a score that it needs.
    pub(crate) fn range(&self) -> ScoreRange {
        let (floor, ceiling) = self.search.needed_scores();
        let Some(lexical) = &self.lexical else {
            return ScoreRange::new(floor, ceiling);
        };
        let weight = lexical.signal.weight();
        ScoreRange {
            floor: weight.cosine_below(floor, lexical.matches.highest_score()),
            ceiling: ceiling.map_or(f32::INFINITY, |score| weight.cosine_above(score)),
        }
    }

    /// A higher floor than that of the range, for the records without words of the search.
    pub(crate) fn higher_floor(&self) -> Option<HigherFloor<'a>> {
        let lexical = self.lexical.as_ref()?;
        let (floor, _) = self.search.needed_scores();
        Some(HigherFloor {
            floor: lexical.signal.weight().cosine_below(floor, Score(0)),
            except: &lexical.matches.rows().0,
        })
    }

    /// The cosines of records that need no score because they only count as matches; see
    /// [`RunningSearch::needs_no_score`]. Their slots are added to `slots`.
    pub(crate) fn counted<'m>(&self, slots: &'m mut Mask) -> Option<Counted<'m>> {
        if self.lexical.is_some() || !self.search.counts_all() {
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

    /// The records that have words of the search, if no other record can have a score that the search needs.
    pub(crate) fn only_words(&self) -> Option<&'a BlockMatches> {
        let lexical = self.lexical.as_ref()?;
        let (floor, _) = self.search.needed_scores();
        let weight = lexical.signal.weight();
        (weight.blend(Score(SCORE_STEPS), Score(0)) < floor).then_some(lexical.matches)
    }

    /// Bounds of a record's score that follow from its codes and its words.
    pub(crate) fn of(&self, candidate: &Candidate) -> ScoreBounds {
        let cosine = ScoreBounds::of(candidate);
        let Some(lexical) = &self.lexical else {
            return cosine;
        };
        let slot = usize::from(candidate.slot);
        let weight = lexical.signal.weight();
        ScoreBounds {
            lowest: weight.blend(cosine.lowest, lexical.lowest(slot)),
            highest: weight.blend(cosine.highest, lexical.highest(slot)),
        }
    }

    /// The upper bound of [`BlockBounds::of`].
    pub(crate) fn highest(&self, candidate: &Candidate) -> Score {
        let cosine = Score::at_most(upper_bound(candidate));
        let Some(lexical) = &self.lexical else {
            return cosine;
        };
        let highest = lexical.highest(usize::from(candidate.slot));
        lexical.signal.weight().blend(cosine, highest)
    }

    /// A score that a record reaches with a probability above 0.998.
    ///
    /// The error of an estimate is a sum of products, one for each band, of the query and a residual in an arbitrary
    /// direction. The standard deviation of such a product is its bound, divided by the square root of the number of
    /// dimensions of the band.
    pub(crate) fn likely_lowest(&self, candidate: &Candidate) -> Score {
        let smallest_band = self.block.coded.codes.layout().smallest_band();
        let deviation = candidate.error / (smallest_band as f32).sqrt();
        let error = candidate.error.min(LIKELY_DEVIATIONS * deviation);
        let cosine = Score::no_less(candidate.estimate - error);
        self.lexical.as_ref().map_or(cosine, |lexical| {
            let lowest = lexical.lowest(usize::from(candidate.slot));
            lexical.signal.weight().blend(cosine, lowest)
        })
    }

    /// The lexical score of a record, if scores have a lexical part.
    pub(crate) fn lexical_score(&self, slot: usize) -> Option<Score> {
        let lexical = self.lexical.as_ref()?;
        Some(if lexical.matches.rows().get(slot) {
            let found = lexical.matches.found(slot);
            lexical.signal.score(self.block, slot, found)
        } else {
            Score(0)
        })
    }

    /// The same bounds as [`BlockBounds::of`] for a record whose lexical score is known.
    pub(crate) fn with(&self, candidate: &Candidate, lexical: Score) -> ScoreBounds {
        let cosine = ScoreBounds::of(candidate);
        self.lexical.as_ref().map_or(cosine, |signal| {
            let weight = signal.signal.weight();
            ScoreBounds {
                lowest: weight.blend(cosine.lowest, lexical),
                highest: weight.blend(cosine.highest, lexical),
            }
        })
    }

    /// Removes the candidates that certainly have no score that the search needs, because the range of cosines holds for
    /// the best words of the block. Does nothing where scores have no lexical part.
    pub(crate) fn prune(&self, candidates: &mut Vec<Candidate>) {
        let Some(lexical) = &self.lexical else {
            return;
        };
        let (floor, _) = self.search.needed_scores();
        let without_words = lexical.signal.weight().cosine_below(floor, Score(0));
        candidates.retain(|candidate| {
            if lexical.matches.rows().get(usize::from(candidate.slot)) {
                self.highest(candidate) >= floor
            } else {
                upper_bound(candidate) >= without_words
            }
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

    /// As [`BlockBounds::take_best`], and leaves the candidates as they are.
    pub(crate) fn copy_best(&self, candidates: &[Candidate], count: usize) -> Vec<Candidate> {
        let mut best = self.best(candidates, count);
        let numbered = candidates.iter().enumerate();
        numbered
            .filter_map(|(at, candidate)| best.takes(at).then_some(*candidate))
            .collect()
    }

    fn best(&self, candidates: &[Candidate], count: usize) -> BestEstimates {
        let (_, ceiling) = self.search.needed_scores();
        // Each estimate is computed once, because one with words takes longer than a comparison.
        let estimates: Vec<i32> = match (&self.lexical, ceiling) {
            (None, None) => candidates.iter().map(|c| in_order(c.estimate)).collect(),
            (None, Some(ceiling)) => {
                let highest = ceiling.value() as f32;
                let estimates = candidates.iter().map(|candidate| candidate.estimate);
                estimates.map(|e| in_order_up_to(e, highest)).collect()
            }
            (Some(lexical), ceiling) => {
                let highest = ceiling.map_or(f32::MAX, |score| score.0 as f32);
                let estimates = candidates.iter().map(|candidate| {
                    let lowest = lexical.lowest(usize::from(candidate.slot));
                    let cosine = Score::no_less(candidate.estimate);
                    lexical.signal.weight().blend(cosine, lowest).0 as f32
                });
                estimates.map(|e| in_order_up_to(e, highest)).collect()
            }
        };
        BestEstimates::of(estimates, count)
    }

    /// Whether scores have a lexical part.
    pub(crate) fn is_lexical(&self) -> bool {
        self.lexical.is_some()
    }
}

/// Standard deviations of the error of an estimate that are exceeded with a probability below 0.002.
const LIKELY_DEVIATIONS: f32 = 3.0;

impl Lexical<'_> {
    /// A lexical score that a record certainly reaches.
    fn lowest(&self, slot: usize) -> Score {
        let query = self.query_of(slot);
        query.map_or(Score(0), |query| self.matches.lowest(query, slot))
    }

    /// A lexical score that a record certainly does not exceed.
    fn highest(&self, slot: usize) -> Score {
        let query = self.query_of(slot);
        query.map_or(Score(0), |query| self.matches.highest(query, slot))
    }

    /// The text of the search; `None` for a record with none of its words.
    fn query_of(&self, slot: usize) -> Option<&LexicalQuery> {
        self.query.filter(|_| self.matches.rows().get(slot))
    }
}
