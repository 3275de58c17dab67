//! Bounds of the scores of the records of one block, for one search.

use std::cmp::Reverse;

use cosift_kernels::{Candidate, HigherFloor};

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

    /// Moves the `count` candidates with the highest estimates before the others. There must be more than `count`
    /// candidates.
    pub(crate) fn move_best_to_front(&self, candidates: &mut [Candidate], count: usize) {
        match &self.lexical {
            None => {
                candidates.select_nth_unstable_by(count, |a, b| b.estimate.total_cmp(&a.estimate));
            }
            Some(lexical) => {
                let estimate = |candidate: &Candidate| {
                    let lowest = lexical.lowest(usize::from(candidate.slot));
                    let cosine = Score::no_less(candidate.estimate);
                    lexical.signal.weight().blend(cosine, lowest)
                };
                // Each estimate is computed once, because it takes longer than to move a candidate.
                let mut estimated: Vec<(Score, Candidate)> = candidates
                    .iter()
                    .map(|candidate| (estimate(candidate), *candidate))
                    .collect();
                estimated.select_nth_unstable_by_key(count, |&(score, _)| Reverse(score));
                for (candidate, (_, estimated)) in candidates.iter_mut().zip(estimated) {
                    *candidate = estimated;
                }
            }
        }
    }
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
