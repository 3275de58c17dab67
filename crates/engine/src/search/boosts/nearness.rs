//! How near a number is to a target.

use crate::record::{SCORE_STEPS, Score};

/// A target, and the distance from which on a number counts nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nearness {
    target: f64,
    scale: f64,
}

impl Nearness {
    /// `target` is finite; `scale` is finite and above 0.
    pub(super) fn new(target: f64, scale: f64) -> Self {
        Self { target, scale }
    }

    /// `max(0, 1 - |number - target| / scale)` for a finite number, rounded to the nearest step, halves up.
    ///
    /// Each operation is one of IEEE 754 in double precision, in this order, so that every CPU and every language gets the
    /// same steps. A distance beyond all doubles is infinite, and counts nothing.
    #[inline(always)]
    pub(super) fn of(self, number: f64) -> Score {
        let part = (1.0 - (number - self.target).abs() / self.scale).max(0.0);
        Score(floor(part * f64::from(SCORE_STEPS) + 0.5))
    }

    /// Whether a number between `min` and `max` may count.
    pub(super) fn reaches(self, min: f64, max: f64) -> bool {
        self.of(self.target.clamp(min, max)) > Score(0)
    }
}

/// The largest whole number that is at most `value`, which is at least 0 and below 2^31.
///
/// It has no branch and no conversion, so that the compiler vectorises loops that call it.
#[inline(always)]
fn floor(value: f64) -> u32 {
    // 2^52: doubles from it on have no fraction, and their lowest bits are those of the whole number.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    let nearest = (value + WHOLE) - WHOLE;
    let floor = nearest - f64::from(u8::from(nearest > value));
    (floor + WHOLE).to_bits() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_less_the_farther_they_are_from_the_target() {
        for (target, scale, number, expected) in [
            (10.0, 4.0, 10.0, SCORE_STEPS),
            (10.0, 4.0, 11.0, 750_000_000),
            (10.0, 4.0, 9.0, 750_000_000),
            (10.0, 4.0, 14.0, 0),
            (10.0, 4.0, 1e300, 0),
            (0.0, 3.0, 1.0, 666_666_667),
            (0.0, 1.0, 1.0 - 0.6e-9, 1),
            (0.0, 1.0, 1.0 - 0.4e-9, 0),
            (-f64::MAX, f64::MAX, f64::MAX, 0),
            (0.0, f64::MIN_POSITIVE, 0.0, SCORE_STEPS),
            (0.0, 5e-324, 5e-324, 0),
            (-0.0, 5e-324, 0.0, SCORE_STEPS),
            (f64::MAX, f64::MAX, f64::MAX / 2.0, 500_000_000),
        ] {
            let nearness = Nearness::new(target, scale);
            assert_eq!(
                nearness.of(number),
                Score(expected),
                "{nearness:?} {number}"
            );
            assert_eq!(nearness.reaches(number, number), expected > 0);
            assert!(nearness.reaches(target.min(number), target.max(number)));
        }
    }

    #[test]
    fn numbers_are_rounded_down() {
        for whole in [0_u32, 1, 2, 3, 499_999_999, 999_999_999, SCORE_STEPS] {
            let value = f64::from(whole);
            assert_eq!(floor(value), whole);
            assert_eq!(floor(value + 0.25), whole);
            assert_eq!(floor(value + 0.5), whole);
            assert_eq!(floor((value + 1.0).next_down()), whole);
        }
    }
}
