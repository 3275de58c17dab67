//! The canonical relevance score, computed in integers from the vectors to the page.

use cosift_kernels::exact;

use super::unit_vector::COMPONENT_BITS;

/// A relevance score in steps of 1e-9, `0..=1_000_000_000`.
///
/// The score is the cosine of two unit vectors, clamped to 0..1. It is summed in integers, so the same two vectors have
/// the same score on every CPU, with any number of threads, and with every plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Score(pub u32);

/// Steps in a relevance score of 1.
pub(crate) const SCORE_STEPS: u32 = 1_000_000_000;

/// Scores at most this many steps below 1 are rounded to 1, so that a copy of a vector reaches a threshold
/// of 1.
///
/// The components are rounded to fixed point. The cosine of the rounded vector with itself is below 1 by at most 1.8e-8
/// in 384 dimensions and 5.8e-8 in 4,096 (the largest difference of 3,000 random vectors).
const ROUNDING_STEPS: u32 = 64;

impl Score {
    /// The highest score, 1.
    pub(crate) const HIGHEST: Self = Self(SCORE_STEPS);

    /// The score of two unit vectors of Q30 components.
    #[must_use]
    pub(crate) fn of(query: &[i32], record: &[i32]) -> Self {
        let dot = exact(query, record);
        let bits = 2 * COMPONENT_BITS;
        let half = 1_i128 << (bits - 1);
        let steps = (i128::from(dot) * i128::from(SCORE_STEPS) + half) >> bits;
        Self::rounded(steps.clamp(0, i128::from(SCORE_STEPS)) as u32)
    }

    fn rounded(steps: u32) -> Self {
        Self(if steps >= SCORE_STEPS - ROUNDING_STEPS {
            SCORE_STEPS
        } else {
            steps
        })
    }

    /// The smallest score that is at or above `threshold`; `None` when there is none.
    #[must_use]
    pub(crate) fn at_least(threshold: f64) -> Option<Self> {
        let near = (threshold * f64::from(SCORE_STEPS)) as i64;
        // The product is rounded, so the first score whose published number passes is at most one step away.
        (near - 1..=near + 1)
            .filter(|steps| (0..=i64::from(SCORE_STEPS)).contains(steps))
            .map(|steps| Self(steps as u32))
            .find(|score| score.value() >= threshold)
    }

    /// The highest score that a cosine of at most `bound` can have.
    #[must_use]
    pub(crate) fn at_most(bound: f32) -> Self {
        let steps = Self::steps(bound);
        // The cast rounds down; `ceil` would be a function call on CPUs without SSE 4.1.
        let below = steps as u32;
        Self::rounded(below + u32::from(f64::from(below) < steps))
    }

    /// A score that a cosine of at least `bound` certainly reaches.
    #[must_use]
    pub(crate) fn no_less(bound: f32) -> Self {
        Self(Self::steps(bound) as u32)
    }

    /// A bound in steps, clamped to the scores that there are.
    fn steps(bound: f32) -> f64 {
        (f64::from(bound) * f64::from(SCORE_STEPS)).clamp(0.0, f64::from(SCORE_STEPS))
    }

    /// The published number, 0..1.
    #[must_use]
    pub(crate) fn value(self) -> f64 {
        f64::from(self.0) / f64::from(SCORE_STEPS)
    }

    /// Writes the published number with up to nine decimals, `0.734512389`.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        if self.0 == SCORE_STEPS {
            out.push(b'1');
            return;
        }
        out.push(b'0');
        if self.0 == 0 {
            return;
        }
        out.push(b'.');
        let mut rest = self.0;
        let mut unit = SCORE_STEPS / 10;
        while rest > 0 {
            out.push(b'0' + (rest / unit) as u8);
            rest %= unit;
            unit /= 10;
        }
    }

    /// Reads a score as [`Score::write`] prints it: a decimal number of at most nine decimals in 0..=1.
    #[must_use]
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !matches!(whole, "0" | "1") || !digits(decimals) || decimals.len() > 9 {
            return None;
        }
        let fraction: u32 = format!("{decimals:0<9}").parse().ok()?;
        let steps = u32::from(whole == "1") * SCORE_STEPS + fraction;
        (steps <= SCORE_STEPS).then_some(Self(steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::to_unit_q30;

    fn text(score: Score) -> String {
        let mut out = Vec::new();
        score.write(&mut out);
        String::from_utf8(out).expect("digits")
    }

    #[test]
    fn a_score_prints_and_parses_to_itself() {
        for steps in [
            0,
            1,
            10,
            999_999_999,
            1_000_000_000,
            734_512_389,
            500_000_000,
            20,
        ] {
            assert_eq!(Score::parse(&text(Score(steps))), Some(Score(steps)));
            assert_eq!(
                text(Score(steps)).parse::<f64>().expect("number"),
                Score(steps).value()
            );
        }
    }

    #[test]
    fn bounds_are_rounded_away_from_the_cosine_and_clamped() {
        for (bound, below, above) in [
            (f32::NAN, 0, 0),
            (f32::NEG_INFINITY, 0, 0),
            (-0.0, 0, 0),
            (0.5, 500_000_000, 500_000_000),
            (0.1, 100_000_001, 100_000_002),
            (1.0, SCORE_STEPS, SCORE_STEPS),
            (1.0_f32.next_up(), SCORE_STEPS, SCORE_STEPS),
            (f32::INFINITY, SCORE_STEPS, SCORE_STEPS),
        ] {
            assert_eq!(Score::no_less(bound), Score(below), "{bound}");
            assert_eq!(Score::at_most(bound), Score::rounded(above), "{bound}");
        }
    }

    #[test]
    fn what_is_not_a_score_is_refused() {
        for bad in [
            "",
            ".",
            "1.000000001",
            "2",
            "-0",
            "0.",
            "0.1234567890",
            "1e-3",
            "0x1",
            "٠.٥",
            "+0.5",
            "00.5",
        ] {
            assert_eq!(Score::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_score_equal_to_the_threshold_passes() {
        for steps in [
            0,
            1,
            200_000_000,
            199_999_999,
            300_000_001,
            999_999_999,
            1_000_000_000,
        ] {
            let score = Score(steps);
            assert_eq!(Score::at_least(score.value()), Some(score));
        }
        assert_eq!(Score::at_least(0.200_000_000_4), Some(Score(200_000_001)));
    }

    #[test]
    fn scaling_a_vector_does_not_move_its_score() {
        let a = to_unit_q30(&[3.0, 4.0, 0.0]).expect("unit");
        let b = to_unit_q30(&[6.0, 8.0, 0.0]).expect("unit");
        assert_eq!(a, b);
        assert_eq!(Score::of(&a, &b), Score(SCORE_STEPS));
        let opposite = to_unit_q30(&[-3.0, -4.0, 0.0]).expect("unit");
        assert_eq!(Score::of(&a, &opposite), Score(0));
        let right = to_unit_q30(&[4.0, -3.0, 0.0]).expect("unit");
        assert_eq!(Score::of(&a, &right), Score(0));
        let one = to_unit_q30(&[1.0, 0.0]).expect("unit");
        let diagonal = to_unit_q30(&[5.0, 5.0]).expect("unit");
        assert_eq!(Score::of(&one, &diagonal), Score(707_106_781));
    }

    #[test]
    fn a_vector_scores_1_with_itself_however_floats_were_normalised() {
        let mut state = 11_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        for dimensions in [2, 8, 64, 384, 768, 1536, 4096] {
            for _ in 0..100 {
                let mut vector: Vec<f32> = (0..dimensions).map(|_| random()).collect();
                let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
                vector.iter_mut().for_each(|part| *part /= length);
                let unit = to_unit_q30(&vector).expect("unit");
                assert_eq!(Score::of(&unit, &unit), Score(SCORE_STEPS));
            }
        }
    }
}
