//! The unit vectors of fixed-point components that scores are computed from.

/// Fractional bits of a vector component in fixed point.
pub(super) const COMPONENT_BITS: u32 = 30;

/// A vector that cannot be compared by cosine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the vector can't be used: {reason}")]
pub struct InvalidVector {
    /// Why, for people.
    pub reason: &'static str,
}

/// The smallest sum of squares of a vector that has a direction. Somewhat below, squares are subnormal numbers, which have
/// so few digits that the scaled vector would not have the length 1.
const MIN_SQUARES: f64 = 1e-290;

/// Scales a vector to the unit vector of Q30 components that scores are computed from.
///
/// The function is idempotent: a vector that it returned, given again as the numbers `component / 2^30`, is returned
/// unchanged. So a vector that was exported is stored again bit for bit.
///
/// # Errors
/// [`InvalidVector`] when a component is not finite, or the length is 0 or not finite.
pub(crate) fn to_unit_q30<T: Copy + Into<f64>>(vector: &[T]) -> Result<Vec<i32>, InvalidVector> {
    if let Some(unit) = as_unit_q30(vector) {
        return Ok(unit);
    }
    let mut squares = 0.0_f64;
    for &component in vector {
        let component: f64 = component.into();
        if !component.is_finite() {
            return Err(InvalidVector {
                reason: "a component is not a finite number",
            });
        }
        squares += component * component;
    }
    if squares < MIN_SQUARES || !squares.is_finite() {
        return Err(InvalidVector {
            reason: "its length is 0, or too large or small to compute: it has no direction",
        });
    }
    let scale = f64::from(1_u32 << COMPONENT_BITS) / squares.sqrt();
    Ok(vector
        .iter()
        .map(|&component| nearest(component.into() * scale))
        .collect())
}

/// The nearest integer, and of two that are equally near the one further from 0, as `f64::round` finds it, which is a
/// function call on CPUs without SSE 4.1.
fn nearest(value: f64) -> i32 {
    // A half itself would round the largest number below a half up to 1.
    const BEFORE_HALF: f64 = 0.5_f64.next_down();
    (value + BEFORE_HALF.copysign(value)) as i32
}

/// The components of a vector that is a rounded unit vector of Q30 components already; `None` for every other vector.
///
/// Rounding moves a component of a unit vector by at most half a step, so the length of the rounded vector differs from 1
/// by at most `sqrt(dimensions) / 2` steps.
fn as_unit_q30<T: Copy + Into<f64>>(vector: &[T]) -> Option<Vec<i32>> {
    const STEPS: f64 = (1_u32 << COMPONENT_BITS) as f64;
    // More than the error of floating-point numbers in the length, and in the components before they were rounded.
    const SLACK: f64 = 1e-3;
    // Multiplying by a power of 2 is exact.
    let steps = || vector.iter().map(|&component| component.into() * STEPS);
    if steps().any(|steps| steps.trunc() != steps || steps.abs() > STEPS) {
        return None;
    }
    let unit: Vec<_> = steps().map(|steps| steps as i32).collect();
    let squares: u128 = unit
        .iter()
        .map(|steps| u128::from(steps.unsigned_abs()).pow(2))
        .sum();
    let length = (squares as f64).sqrt();
    let bound = (vector.len() as f64).sqrt() / 2.0 + SLACK;
    ((length - STEPS).abs() <= bound).then_some(unit)
}

/// The components of a Q30 vector as the numbers that [`to_unit_q30`] returns unchanged.
pub(crate) fn q30_to_f64(vector: &[i32]) -> impl Iterator<Item = f64> + '_ {
    const UNIT: f64 = 1.0 / (1_u32 << COMPONENT_BITS) as f64;
    vector.iter().map(|&component| f64::from(component) * UNIT)
}

/// The stored form of a text's vector. A vector of zeros means that the model found no token in the text: then the record
/// has no vector.
///
/// # Errors
/// As [`to_unit_q30`].
pub(crate) fn text_vector(vector: &[f32]) -> Result<Vec<i32>, InvalidVector> {
    if vector.iter().all(|&component| component == 0.0) {
        return Ok(vec![0; vector.len()]);
    }
    to_unit_q30(vector)
}

/// The direction of a sum of Q30 vectors, each times its weight. The vector of a sum with one vector of weight 1 is
/// returned unchanged.
///
/// The sum is exact if the weights sum up to less than 2^23, because it has less than 2^53 steps then.
///
/// # Errors
/// [`InvalidVector`] when the sum is 0.
pub(crate) fn direction_of<'a>(
    vectors: impl Iterator<Item = (i64, &'a [i32])>,
    dimensions: usize,
) -> Result<Vec<i32>, InvalidVector> {
    const UNIT: f64 = 1.0 / (1_u32 << COMPONENT_BITS) as f64;
    let mut sum = vec![0_i64; dimensions];
    for (weight, vector) in vectors {
        for (sum, &component) in sum.iter_mut().zip(vector) {
            *sum += weight * i64::from(component);
        }
    }
    let sum: Vec<f64> = sum.into_iter().map(|steps| steps as f64 * UNIT).collect();
    to_unit_q30(&sum)
}

/// The components of a Q30 vector as floats.
pub(crate) fn q30_to_f32(vector: &[i32], out: &mut Vec<f32>) {
    const UNIT: f32 = 1.0 / (1_u32 << COMPONENT_BITS) as f32;
    out.clear();
    out.extend(vector.iter().map(|&component| component as f32 * UNIT));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_too_small_before_its_squares_lose_digits() {
        let unit = to_unit_q30(&[2.0, 2.0, 1.0]).expect("it has a direction");
        for exponent in -170..0 {
            let size = 10_f64.powi(exponent);
            match to_unit_q30(&[2.0 * size, 2.0 * size, size]) {
                Ok(same) => assert_eq!(same, unit, "1e{exponent}"),
                Err(_) => assert!(exponent < -140, "1e{exponent}"),
            }
        }
    }

    #[test]
    fn components_are_rounded_as_the_standard_library_rounds() {
        let halves = (-9..=9).map(|at| f64::from(at) + 0.5);
        let near = halves.flat_map(|half| [half.next_down(), half, half.next_up()]);
        let largest = f64::from(1 << COMPONENT_BITS);
        for value in near.chain([0.0, largest, -largest, largest - 0.5]) {
            assert_eq!(nearest(value), value.round() as i32, "{value}");
        }
    }

    #[test]
    fn a_stored_vector_is_stored_again_bit_for_bit() {
        let mut state = 7_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 11
        };
        let mut random = || next() as f64 / (1_u64 << 52) as f64 - 1.0;
        let mut vectors: Vec<Vec<f64>> = Vec::new();
        for dimensions in [1, 2, 3, 7, 64, 384, 1024, 4096] {
            for _ in 0..100 {
                vectors.push((0..dimensions).map(|_| random()).collect());
            }
            // Every component is rounded by nearly half a step in the same direction: the longest way from length 1.
            let length = f64::from(dimensions).sqrt();
            for towards in [-0.5, -0.499, 0.499, 0.5] {
                let steps = (f64::from(1 << 30) / length).floor() + towards;
                vectors.push(vec![steps; dimensions as usize]);
            }
            let mut one_large = vec![1e-30; dimensions as usize];
            one_large[0] = -1.0;
            vectors.push(one_large);
        }
        // Components that are whole steps, with a length far from 1 and next to 1.
        vectors.push(vec![0.5, 0.25]);
        vectors.push(vec![1.0 - 1.0 / f64::from(1 << 30), 0.0]);
        vectors.push(vec![0.6, 0.8]);
        for vector in vectors {
            let stored = to_unit_q30(&vector).expect("unit");
            let exported: Vec<f64> = q30_to_f64(&stored).collect();
            let read: Vec<f64> = exported
                .iter()
                .map(|component| component.to_string().parse().expect("a number"))
                .collect();
            assert_eq!(to_unit_q30(&read).expect("unit"), stored, "{vector:?}");
        }
    }

    #[test]
    fn a_direction_is_that_of_the_weighted_sum() {
        let unit = |vector: &[f64]| to_unit_q30(vector).expect("a direction");
        let (east, north) = (unit(&[1.0, 0.0]), unit(&[0.0, 1.0]));
        let direction = |weights: [i64; 2]| {
            direction_of([(weights[0], &*east), (weights[1], &*north)].into_iter(), 2)
        };
        assert_eq!(direction([1, 1]).expect("a sum"), unit(&[1.0, 1.0]));
        assert_eq!(direction([2, -1]).expect("a sum"), unit(&[2.0, -1.0]));
        assert!(direction([0, 0]).is_err());
        let slanted = unit(&[0.3, 0.1]);
        let alone = direction_of([(1, &*slanted)].into_iter(), 2);
        assert_eq!(alone.expect("a vector"), slanted);
    }

    #[test]
    fn a_vector_that_is_no_unit_vector_is_scaled() {
        // Whole steps all of them, so only the length decides.
        assert_eq!(to_unit_q30(&[0.5, 0.5]), to_unit_q30(&[7.0, 7.0]));
        assert_eq!(to_unit_q30(&[0.5, 0.0]).expect("unit"), [1 << 30, 0]);
    }

    #[test]
    fn a_vector_without_direction_is_refused() {
        assert!(to_unit_q30(&[0.0, -0.0]).is_err());
        assert!(to_unit_q30(&[1.0, f32::NAN]).is_err());
        assert!(to_unit_q30(&[1.0, f32::INFINITY]).is_err());
    }
}
