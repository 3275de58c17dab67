//! The weights of the parts of a score: the cosine has what the others leave.

use std::iter::Sum;
use std::ops::Add;

use crate::record::score::{SCORE_STEPS, Score};

/// The weight of a part of a score, in steps of 1e-9 from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Weight(u32);

/// The weighted sum of all parts of a score except the cosine, in steps of 1e-18.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Extra(u64);

impl Add for Extra {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sum for Extra {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self(0), Self::add)
    }
}

impl Extra {
    /// As many steps of 1e-18.
    pub(crate) fn from_steps(steps: u64) -> Self {
        Self(steps)
    }

    pub(crate) fn steps(self) -> u64 {
        self.0
    }

    fn value(self) -> f64 {
        self.0 as f64 / (f64::from(SCORE_STEPS) * f64::from(SCORE_STEPS))
    }
}

impl Weight {
    /// All the weight.
    pub(crate) const ALL: Self = Self(SCORE_STEPS);

    /// The weight nearest to a number from 0 to 1.
    pub(crate) fn new(weight: f64) -> Self {
        Self((weight * f64::from(SCORE_STEPS)).round() as u32)
    }

    /// Whether the part counts.
    pub(crate) fn counts(self) -> bool {
        self.0 > 0
    }

    /// Takes a weight out of this one: the nearest to a number from 0 to 1, or all that is left if rounding takes it beyond.
    pub(crate) fn take(&mut self, weight: f64) -> Self {
        let taken = Self(Self::new(weight).0.min(self.0));
        self.0 -= taken.0;
        taken
    }

    /// Steps of 1e-9.
    pub(crate) fn steps(self) -> u32 {
        self.0
    }

    /// The published number.
    pub(crate) fn value(self) -> f64 {
        f64::from(self.0) / f64::from(SCORE_STEPS)
    }

    /// What a part with this weight adds to the score.
    pub(crate) fn of(self, part: Score) -> Extra {
        Extra(u64::from(self.0) * u64::from(part.0))
    }

    /// The score of a record: `weight * cosine + extra`, rounded to the nearest step, halves up. The weights of all parts
    /// sum to 1. It does not decrease when one of the parts rises.
    pub(crate) fn blend(self, cosine: Score, extra: Extra) -> Score {
        let one = u64::from(SCORE_STEPS);
        let Extra(sum) = self.of(cosine) + extra;
        Score(((sum + one / 2) / one) as u32)
    }

    /// The lowest sum of other parts with which a record reaches `score`, whatever its cosine.
    pub(crate) fn extra_needed(self, score: Score) -> Extra {
        let one = u64::from(SCORE_STEPS);
        let Extra(highest) = self.of(Score::HIGHEST);
        Extra((u64::from(score.0) * one).saturating_sub(highest + one / 2))
    }

    /// About the score of a record whose cosine is about `cosine`.
    pub(crate) fn estimate(self, cosine: f32, extra: Extra) -> f32 {
        self.value() as f32 * cosine.max(0.0) + extra.value() as f32
    }

    /// A cosine that certainly lies at or below every cosine with which a record with these other parts reaches `score`.
    pub(crate) fn cosine_below(self, score: Score, extra: Extra) -> f32 {
        // More than the rounding of scores and floats.
        const SLACK: f64 = 1e-6;
        let cosine = (score.value() - extra.value() - SLACK) / self.value() - SLACK;
        // A weight of 0 leaves the cosine without influence: the division has no result that bounds anything.
        if self.counts() && cosine > 0.0 {
            cosine as f32
        } else {
            f32::NEG_INFINITY
        }
    }

    /// A cosine that certainly lies at or above every cosine with which a record does not exceed `score`.
    pub(crate) fn cosine_above(self, score: Score) -> f32 {
        const SLACK: f64 = 1e-6;
        let cosine = (score.value() + SLACK) / self.value() + SLACK;
        // Cosines are clamped at 0, so every cosine below 0 has the same score as 0.
        if self.counts() && cosine < 1.0 {
            cosine as f32
        } else {
            f32::INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_needs_the_lowest_sum_that_reaches_a_score() {
        for (weight, score) in [
            (0.8, 0.9),
            (0.8, 0.8),
            (0.8, 0.1),
            (0.0, 1.0),
            (1.0, 1.0),
            (0.3, 0.300_000_001),
        ] {
            let (weight, score) = (Weight::new(weight), Score((score * 1e9_f64).round() as u32));
            let needed = weight.extra_needed(score);
            assert!(
                weight.blend(Score::HIGHEST, needed) >= score,
                "{weight:?} {score:?}"
            );
            if needed > Extra(0) {
                assert!(
                    weight.blend(Score::HIGHEST, Extra(needed.0 - 1)) < score,
                    "{weight:?} {score:?}"
                );
            }
        }
    }

    #[test]
    fn weights_are_rounded_to_steps_and_sum_to_1() {
        assert!(!Weight::new(1e-10).counts());
        assert_eq!(Weight::new(1.0), Weight::ALL);
        let mut left = Weight::ALL;
        assert_eq!(left.take(0.7), Weight(700_000_000));
        assert_eq!(left.take(0.2), Weight(200_000_000));
        assert_eq!(left, Weight(100_000_000));
        let mut left = Weight::ALL;
        let sixths = [1.0 / 6.0; 6].map(|weight| left.take(weight).0);
        assert_eq!(sixths[4..], [166_666_667, 166_666_665]);
        assert_eq!(left, Weight(0));
    }

    #[test]
    fn scores_are_blended_in_whole_steps() {
        let blend = |weight, cosine, other| {
            let mut rest = Weight::ALL;
            let weight = rest.take(weight);
            rest.blend(Score(cosine), weight.of(Score(other))).0
        };
        assert_eq!(blend(0.3, 500_000_000, 1_000_000_000), 650_000_000);
        assert_eq!(blend(0.5, 1, 0), 1, "halves are rounded up");
        assert_eq!(blend(0.5, 2, 1), 2);
        assert_eq!(blend(1.0, 123, 456), 456);
        assert_eq!(blend(0.25, SCORE_STEPS, SCORE_STEPS), SCORE_STEPS);
    }

    #[test]
    fn the_bounds_of_cosines_leave_out_no_record() {
        let mut seed = 5_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            Score(((seed >> 33) % u64::from(SCORE_STEPS + 1)) as u32)
        };
        for round in 0..20_000 {
            let weight = Weight(if round % 10 == 0 {
                SCORE_STEPS
            } else {
                random().0.max(1)
            });
            let rest = Weight(SCORE_STEPS - weight.0);
            let (cosine, extra) = (random(), weight.of(random()));
            let score = rest.blend(cosine, extra);
            assert!(f64::from(rest.cosine_below(score, extra)) <= cosine.value());
            assert!(f64::from(rest.cosine_above(score)) >= cosine.value());
        }
    }
}
