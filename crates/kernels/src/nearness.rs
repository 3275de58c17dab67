//! How near numbers are to a target.

/// A target, and the distance from which on a number counts nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearness {
    target: f64,
    scale: f64,
}

/// What a number at the target counts.
pub const NEAREST: u32 = 1_000_000_000;

impl Nearness {
    /// `target` is finite; `scale` is finite and above 0.
    #[must_use]
    pub fn new(target: f64, scale: f64) -> Self {
        Self { target, scale }
    }

    /// `max(0, 1 - |number - target| / scale)` for a finite number, in steps of `1 / NEAREST`, rounded to the nearest step,
    /// halves up.
    ///
    /// Each operation is one of IEEE 754 in double precision, in this order, so that every CPU and every language gets the
    /// same steps. A distance beyond all doubles is infinite, and counts nothing.
    #[inline(always)]
    #[must_use]
    pub fn of(self, number: f64) -> u32 {
        let part = (1.0 - (number - self.target).abs() / self.scale).max(0.0);
        floor(part * f64::from(NEAREST) + 0.5)
    }

    /// What a number between `min` and `max` counts at most.
    #[must_use]
    pub fn highest_between(self, min: f64, max: f64) -> u32 {
        self.of(self.target.clamp(min, max))
    }
}

/// Adds what the numbers count, times `weight`, to their sums; only for those whose bit is set in `within`.
#[inline(always)]
pub(crate) fn add_nearness(
    numbers: &[f64; 64],
    within: u64,
    nearness: Nearness,
    weight: u32,
    sums: &mut [u64; 64],
) {
    for (bit, (sum, &number)) in sums.iter_mut().zip(numbers).enumerate() {
        let weight = u64::from(weight) * (within >> bit & 1);
        *sum += weight * u64::from(nearness.of(number));
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
            (10.0, 4.0, 10.0, NEAREST),
            (10.0, 4.0, 11.0, 750_000_000),
            (10.0, 4.0, 9.0, 750_000_000),
            (10.0, 4.0, 14.0, 0),
            (10.0, 4.0, 1e300, 0),
            (0.0, 3.0, 1.0, 666_666_667),
            (0.0, 1.0, 1.0 - 0.6e-9, 1),
            (0.0, 1.0, 1.0 - 0.4e-9, 0),
            (-f64::MAX, f64::MAX, f64::MAX, 0),
            (0.0, f64::MIN_POSITIVE, 0.0, NEAREST),
            (0.0, 5e-324, 5e-324, 0),
            (-0.0, 5e-324, 0.0, NEAREST),
            (f64::MAX, f64::MAX, f64::MAX / 2.0, 500_000_000),
        ] {
            let nearness = Nearness::new(target, scale);
            assert_eq!(nearness.of(number), expected, "{nearness:?} {number}");
            assert_eq!(nearness.highest_between(number, number), expected);
            assert!(nearness.highest_between(target.min(number), target.max(number)) == NEAREST);
        }
    }

    #[test]
    fn numbers_are_rounded_down() {
        for whole in [0_u32, 1, 2, 3, 499_999_999, 999_999_999, NEAREST] {
            let value = f64::from(whole);
            assert_eq!(floor(value), whole);
            assert_eq!(floor(value + 0.25), whole);
            assert_eq!(floor(value + 0.5), whole);
            assert_eq!(floor((value + 1.0).next_down()), whole);
        }
    }
}
