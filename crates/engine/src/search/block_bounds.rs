//! Bounds of the scores of the records of one block, for one search.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cosift_kernels::{Candidate, Counted, HigherFloor, Mask};

use crate::lexical::{BlockMatches, LexicalQuery};
use crate::record::{SCORE_STEPS, Score};
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
    /// The error of an estimate is the product of the query and a residual in an arbitrary direction, so its standard
    /// deviation is the bound of the error, divided by the square root of the number of dimensions.
    pub(crate) fn likely_lowest(&self, candidate: &Candidate) -> Score {
        let deviation = candidate.error / (self.block.exact.dimensions() as f32).sqrt();
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
        let (_, ceiling) = self.search.needed_scores();
        let (highest, highest_cosine) = ceiling.map_or((f32::MAX, f32::MAX), |score| {
            (score.0 as f32, score.value() as f32)
        });
        let in_order_of = |candidate: &Candidate| {
            let (estimate, highest) = match &self.lexical {
                None => (candidate.estimate, highest_cosine),
                Some(lexical) => {
                    let lowest = lexical.lowest(usize::from(candidate.slot));
                    let cosine = Score::no_less(candidate.estimate);
                    let score = lexical.signal.weight().blend(cosine, lowest);
                    (score.0 as f32, highest)
                }
            };
            if estimate > highest {
                NOT_TAKEN
            } else {
                in_order(estimate)
            }
        };
        // Each estimate is computed once, because one with words takes longer than a comparison.
        let estimates: Vec<i32> = candidates.iter().map(in_order_of).collect();
        let mut best = BinaryHeap::with_capacity(count + 1);
        for &estimate in &estimates {
            if best.len() < count {
                if estimate != NOT_TAKEN {
                    best.push(Reverse(estimate));
                }
            } else if let Some(mut least) = best.peek_mut()
                && estimate > least.0
            {
                *least = Reverse(estimate);
            }
        }
        let least = best.peek().map_or(i32::MAX, |least| least.0);
        let mut taken = Vec::with_capacity(count);
        let mut estimates = estimates.into_iter();
        candidates.retain(|candidate| {
            let is_best = estimates.next() >= Some(least) && taken.len() < count;
            if is_best {
                taken.push(*candidate);
            }
            !is_best
        });
        taken
    }

    /// Whether scores have a lexical part.
    pub(crate) fn is_lexical(&self) -> bool {
        self.lexical.is_some()
    }
}

/// Standard deviations of the error of an estimate that are exceeded with a probability below 0.002.
const LIKELY_DEVIATIONS: f32 = 3.0;

/// Less than [`in_order`] of any number.
const NOT_TAKEN: i32 = i32::MIN;

/// An integer in the order of [`f32::total_cmp`].
fn in_order(number: f32) -> i32 {
    let bits = number.to_bits().cast_signed();
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

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
