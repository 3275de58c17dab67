//! A query prepared for every kernel.

use crate::layout::{Layout, UNIT};
use crate::nibble_codes::{NibbleCodes, sum};
use crate::steps::{MAX_CODE, Steps};

/// A unit vector as 8-bit codes and the weights that turn integer dot products into bounds.
///
/// Let `q'` and `x'` be the vectors that the codes of query and record represent, and `r_q = q - q'` and `r_x = x - x'`
/// the residuals. Then
/// `|<q,x> - <q',x'>| = |<q',r_x> + <r_q,x>| <= |q'| |r_x| + |r_q| |x|`, and `|x| = 1`.
///
/// `|<q',r_x>|` is bounded band by band: by the sum over the bands of the norm of `q'` times the norm of `r_x`. By the
/// Cauchy–Schwarz inequality, the sum is never more than `|q'| |r_x|`. It is much less once all codes are known, because a
/// usual query is longest in the fine band, whose residual then is the shortest.
///
/// Pass 1 ignores the tail of `x`, which costs at most its norm times the norm of the query's tail. Once its high nibbles are
/// known, the low ones cost at most their norm times the norm of the codes of the query's tail.
#[derive(Clone, Debug)]
pub struct Query {
    layout: Layout,
    pub(crate) codes: BandCodes,
    pub(crate) weights: Weights,
    /// What the product with the axis adds to each fine dot product; 0 in a layout without an axis.
    pub(crate) axis_dot: i32,
    /// The residual of the query, quantised with steps 254 times finer.
    pub(crate) remainder: BandCodes,
    pub(crate) remainder_weights: RemainderWeights,
}

/// Codes of a vector by band, in the order of the bytes of a record.
#[derive(Clone, Debug)]
pub(crate) struct BandCodes {
    /// Codes of fine and coarse dimensions, in order.
    pub(crate) head: Vec<i8>,
    /// Sum of the fine codes. The bytes of a record are its codes plus 128.
    pub(crate) fine_sum: i32,
    /// For the low nibbles of the fine band; empty if the head holds all codes.
    pub(crate) fine: NibbleCodes,
    pub(crate) coarse: NibbleCodes,
    pub(crate) tail: NibbleCodes,
}

/// Factors of the bounds at the end of pass 3, in the units of [`Weights`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemainderWeights {
    /// Of the dot product with the fine codes in the head.
    pub(crate) fine: f32,
    /// Of the dot product with the low nibbles of the fine band.
    pub(crate) fine_low: f32,
    /// Of the dot product of whole coarse codes.
    pub(crate) coarse: f32,
    /// Of the tail dot product.
    pub(crate) tail: f32,
    /// Of the residual of each band.
    pub(crate) residuals: [f32; 3],
    /// Of the axis residual; 0 in a layout without an axis.
    pub(crate) axis_residual: f32,
    /// The error that does not depend on the record.
    pub(crate) slack: f32,
}

/// Factors of the bounds of passes 1 and 2. They contain the unit of scales, residuals and norms, 1/65535.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    /// Of the fine dot product.
    pub(crate) fine: f32,
    /// Of the dot product with the low nibbles of the fine band.
    pub(crate) fine_low: f32,
    /// Of the dot product of high nibbles.
    pub(crate) high: f32,
    /// Of the dot product of low nibbles.
    pub(crate) low: f32,
    /// Of the dot product of high nibbles of the tail.
    pub(crate) tail_high: f32,
    /// Of the dot product of low nibbles of the tail.
    pub(crate) tail_low: f32,
    /// Of the scale times the norm of the low nibbles of the tail, as long as only its high nibbles are known.
    pub(crate) tail_low_norm: f32,
    /// Of the fine residual.
    pub(crate) fine_residual: f32,
    /// Of the coarse residual.
    pub(crate) coarse_residual: f32,
    /// Of the residual of the tail.
    pub(crate) tail_residual: f32,
    /// Of the tail norm.
    pub(crate) tail_norm: f32,
    /// The error of pass 1 that does not depend on the record.
    pub(crate) head_slack: f32,
    /// The error of later bounds that does not depend on the record.
    pub(crate) full_slack: f32,
}

impl Query {
    /// `rotated` has `layout.dims()` components.
    pub(crate) fn new(layout: Layout, steps: Steps, rotated: &[f32]) -> Self {
        if layout.is_along_axis() {
            return Self::along_axis(layout, steps, rotated);
        }
        let (fine, others) = rotated.split_at(layout.fine());
        let (coarse, tail) = others.split_at(layout.coarse());
        let [fine, coarse, tail_band] = [fine, coarse, tail].map(Band::new);
        let rounding = rounding_error(layout.dims());

        let tail_norm = norm(tail.iter().map(|&value| f64::from(value).powi(2)));
        let weights = Weights {
            fine: (fine.step * f64::from(steps.fine) * UNIT) as f32,
            fine_low: (fine.step * f64::from(steps.fine) / 16.0 * UNIT) as f32,
            high: (16.0 * coarse.step * f64::from(steps.coarse) * UNIT) as f32,
            low: (coarse.step * f64::from(steps.coarse) * UNIT) as f32,
            tail_high: (16.0 * tail_band.step * f64::from(steps.tail) * UNIT) as f32,
            tail_low: (tail_band.step * f64::from(steps.tail) * UNIT) as f32,
            tail_low_norm: above(norm([tail_band.represented]) * f64::from(steps.tail) * UNIT),
            fine_residual: above(norm([fine.represented]) * UNIT),
            coarse_residual: above(norm([coarse.represented]) * UNIT),
            tail_residual: above(norm([tail_band.represented]) * UNIT),
            tail_norm: above(tail_norm * UNIT),
            head_slack: above(norm([fine.residual, coarse.residual]) + rounding),
            full_slack: above(
                norm([fine.residual, coarse.residual, tail_band.residual]) + rounding,
            ),
        };

        let bands = [fine, coarse, tail_band];
        let (remainder, remainder_weights) = remainder(steps, &bands, rounding);
        let [fine, coarse, tail] = bands.map(|band| band.codes);
        Self {
            layout,
            codes: BandCodes::new(&fine, &coarse, &tail),
            weights,
            axis_dot: 0,
            remainder,
            remainder_weights,
        }
    }

    /// A query in a layout along an axis.
    ///
    /// Let `s` and `x'` be the component along the axis and the other components that a record's scale and codes represent,
    /// `r_s` and `r_x` their residuals, and `x` the other components. `q_0` is the query's component along the axis, `q'` what
    /// its codes represent, and `r_q` their residual. Then
    /// `|<q,x> - q_0 s - <q',x'>| <= |q_0| |r_s| + |q'| |r_x| + |r_q| |x|`.
    fn along_axis(layout: Layout, steps: Steps, rotated: &[f32]) -> Self {
        let (along, rest) = rotated.split_first().unwrap_or((&0.0, &[]));
        let along = f64::from(*along);
        let rest: Vec<f32> = std::iter::once(0.0).chain(rest.iter().copied()).collect();
        let shortest = along.abs() / (MAX_AXIS_DOT * f64::from(steps.fine));
        let bands = [
            Band::no_finer(&rest, shortest),
            Band::new(&[]),
            Band::new(&[]),
        ];
        let [band, ..] = &bands;
        let unit = band.step * f64::from(steps.fine);
        // The cast turns the NaN of a vector of zeros into 0.
        let axis_dot = (along / unit).round() as i32;
        let slack = rounding_error(layout.dims()) + unit / 2.0;
        let axis_residual = above(along.abs() * UNIT);
        let weights = Weights {
            fine: (unit * UNIT) as f32,
            fine_low: 0.0,
            high: 0.0,
            low: 0.0,
            tail_high: 0.0,
            tail_low: 0.0,
            tail_low_norm: 0.0,
            fine_residual: above(norm([band.represented]) * UNIT),
            coarse_residual: axis_residual,
            tail_residual: 0.0,
            tail_norm: above(norm([band.residual]) * UNIT),
            head_slack: above(slack),
            full_slack: above(slack),
        };
        let (remainder, mut remainder_weights) = remainder(steps, &bands, slack);
        remainder_weights.axis_residual = axis_residual;
        let [fine, ..] = bands.map(|band| band.codes);
        Self {
            layout,
            codes: BandCodes::new(&fine, &[], &[]),
            weights,
            axis_dot,
            remainder,
            remainder_weights,
        }
    }

    /// The layout of the codes this query can scan.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// What products with the head of a record contain in addition to the dot products: those with its bytes, which are codes
    /// plus `byte_offset`, and those with its high nibbles.
    #[inline(always)]
    pub(crate) fn biases(&self, byte_offset: i32) -> [i32; 2] {
        let fine = byte_offset * self.codes.fine_sum - self.axis_dot;
        [fine, self.codes.coarse.bias]
    }
}

impl BandCodes {
    fn new(fine: &[i8], coarse: &[i8], tail: &[i8]) -> Self {
        let has_rest = !coarse.is_empty() || !tail.is_empty();
        Self {
            head: [fine, coarse].concat(),
            fine_sum: sum(fine),
            fine: NibbleCodes::new(if has_rest { fine } else { &[] }),
            coarse: NibbleCodes::new(coarse),
            tail: NibbleCodes::new(tail),
        }
    }
}

/// The residual of a query's bands, quantised, and its factors.
fn remainder(steps: Steps, bands: &[Band; 3], rounding: f64) -> (BandCodes, RemainderWeights) {
    let remainders =
        [0, 1, 2].map(|at: usize| Band::with_step(&bands[at].residuals, bands[at].step / FINER));
    let residuals = [0, 1, 2].map(|at: usize| {
        let (band, remainder) = (&bands[at], &remainders[at]);
        let both = |(&code, &finer): (&i8, &i8)| {
            (band.step * f64::from(code) + remainder.step * f64::from(finer)).powi(2)
        };
        above(norm(band.codes.iter().zip(&remainder.codes).map(both)) * UNIT)
    });
    let slack = norm(remainders.iter().map(|band| band.residual)) + rounding;
    let [fine, coarse, tail] = remainders;
    let weights = RemainderWeights {
        fine: (fine.step * f64::from(steps.fine) * UNIT) as f32,
        fine_low: (fine.step * f64::from(steps.fine) / 16.0 * UNIT) as f32,
        coarse: (coarse.step * f64::from(steps.coarse) * UNIT) as f32,
        tail: (tail.step * f64::from(steps.tail) * UNIT) as f32,
        residuals,
        axis_residual: 0.0,
        slack: above(slack),
    };
    let codes = BandCodes::new(&fine.codes, &coarse.codes, &tail.codes);
    (codes, weights)
}

/// The steps of the remainder are this many times finer: 127 of them are half a step.
const FINER: f64 = 254.0;

/// The largest product with the axis, in units of the fine dot product. Its sum with the other products fits an i32.
const MAX_AXIS_DOT: f64 = (1 << 28) as f64;

/// A sum with this has the nearest integer in its lowest bits. The compiler vectorises this, and neither `round`, which is a
/// function call on CPUs without SSE 4.1, nor the cast to an integer.
const TO_LOWEST_BITS: f64 = 1.5 * (1_u64 << 52) as f64;

/// One band of a query, quantised with its own step.
struct Band {
    codes: Vec<i8>,
    step: f64,
    /// The residual of each value.
    residuals: Vec<f64>,
    /// Squared norm of the values that the codes represent.
    represented: f64,
    /// Squared norm of the residuals.
    residual: f64,
}

impl Band {
    /// Uses the step with which the largest value gets the largest code.
    fn new(values: &[f32]) -> Self {
        Self::no_finer(values, 0.0)
    }

    /// As [`Band::new`], with a step of at least `shortest`.
    fn no_finer(values: &[f32], shortest: f64) -> Self {
        let values: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
        let peak = values
            .iter()
            .fold(0.0_f64, |peak, value| peak.max(value.abs()));
        Self::with_step(&values, (peak / f64::from(MAX_CODE)).max(shortest))
    }

    fn with_step(values: &[f64], step: f64) -> Self {
        let max = f64::from(MAX_CODE);
        // If the step is zero, so are the values, and NaN becomes code 0.
        let inverse = 1.0 / step;
        let codes: Vec<i8> = values
            .iter()
            .map(|value| ((value * inverse).clamp(-max, max) + TO_LOWEST_BITS).to_bits() as i8)
            .collect();
        let represented = codes.iter().map(|&code| step * f64::from(code));
        let residuals: Vec<f64> = values
            .iter()
            .zip(represented.clone())
            .map(|(value, represented)| value - represented)
            .collect();
        Self {
            represented: represented.map(|value| value.powi(2)).sum(),
            residual: residuals.iter().map(|value| value.powi(2)).sum(),
            codes,
            step,
            residuals,
        }
    }
}

/// The error of the cosine that no residual contains.
///
/// Residuals are computed from the rotated f32 components, which contain the rounding errors of
/// [`rotate`](crate::rotate): each product is rounded at most three times before its running sum, `dims / 64 + 4` times in
/// it, and four times after it, by a relative 2^-24 each. The absolute values of the terms of a product with a row sum to
/// at most the norm of the row.
///
/// - One product with a square matrix has `dims` rows of norm 1.
/// - A rotation of many dimensions is three products, with matrices `A`, `P` and `G` of spectral norms up to 1, of which
///   each has at most [`MAX_LEADING`] rows or columns, so their Frobenius norms are at most its square root. The rotated
///   vector is `A x` and a part of `x` minus `G (P A x + x_1)`, where the norm of the sum is at most 2. In units of the
///   square root, the error of `A x` is at most that of one product of `dims` terms, and the error of the others at most as
///   much, once the error of a product of [`MAX_LEADING`] terms for `P`, and twice for `G`.
///
/// Both the query and the record have this error. The other 5e-5 cover a rotation that is orthonormal to 1e-5, norms within
/// 1e-5 of 1, sums, differences and Hadamard transforms of components, bounds rounded to f32, and up to fifty f32
/// roundings of numbers below 2 in the passes.
fn rounding_error(dims: usize) -> f64 {
    let one = component_error(dims) * (dims as f64).sqrt();
    // Stored bases of many dimensions may be square matrices, too.
    let largest = if dims > MAX_ONE_PRODUCT {
        let (first, leading) = (component_error(dims), component_error(MAX_LEADING));
        let three = f64::hypot(first, first + 3.0 * leading) * (MAX_LEADING as f64).sqrt();
        three.max(one)
    } else {
        one
    };
    5e-5 + 2.0 * largest
}

/// The error of a product of so many terms whose absolute values sum to 1.
fn component_error(terms: usize) -> f64 {
    (terms as f64 / 64.0 + 11.0) * 2.0_f64.powi(-24)
}

/// Dimensions up to which a learned rotation is a single product with a square matrix.
pub const MAX_ONE_PRODUCT: usize = 512;

/// Maximum number of axes of a rotation of more dimensions: the head of a code with a tail has no more.
pub const MAX_LEADING: usize = 320;

fn norm(squares: impl IntoIterator<Item = f64>) -> f64 {
    squares.into_iter().sum::<f64>().sqrt()
}

/// An f32 above a number.
fn above(value: f64) -> f32 {
    (value as f32).next_up()
}

#[cfg(test)]
mod tests {
    use super::Band;

    #[test]
    fn a_band_without_a_component_has_codes_of_zero() {
        let band = Band::new(&[0.0; 16]);
        assert_eq!(band.codes, [0; 16]);
        assert_eq!((band.represented, band.residual), (0.0, 0.0));
    }

    #[test]
    fn the_largest_component_has_the_largest_code() {
        let band = Band::new(&[0.5, -1.0, 0.25, 0.004, -0.0039]);
        assert_eq!(band.codes, [64, -127, 32, 1, 0]);
        assert!(band.residual < 5.0 * (band.step / 2.0).powi(2));
    }
}
