//! Bounds of scores: the bounds that follow from a record's codes, and the range of cosines that a search needs.

use cosift_kernels::Candidate;

use crate::record::Score;

/// Two scores between which the score of a record certainly lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScoreBounds {
    pub(crate) lowest: Score,
    pub(crate) highest: Score,
}

impl ScoreBounds {
    /// The bounds of a cosine that follow from codes.
    pub(crate) fn of(candidate: &Candidate) -> Self {
        Self {
            lowest: Score::no_less(lower_bound(candidate)),
            highest: Score::at_most(upper_bound(candidate)),
        }
    }
}

/// A cosine that the record certainly reaches.
pub(crate) fn lower_bound(candidate: &Candidate) -> f32 {
    candidate.estimate - candidate.error
}

/// A cosine that the record certainly does not exceed.
pub(crate) fn upper_bound(candidate: &Candidate) -> f32 {
    candidate.estimate + candidate.error
}

/// The range of cosines that a scan looks for, the way the kernels compare it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoreRange {
    /// Records below are left out.
    pub(crate) floor: f32,
    /// Records above are left out.
    pub(crate) ceiling: f32,
}

impl ScoreRange {
    pub(crate) fn new(floor: Score, ceiling: Option<Score>) -> Self {
        Self {
            // A score is clamped at 0: when 0 is high enough, every cosine is.
            floor: match floor {
                Score(0) => f32::NEG_INFINITY,
                floor => floor.value() as f32,
            },
            ceiling: ceiling.map_or(f32::INFINITY, |score| score.value() as f32),
        }
    }
}
