//! A query prepared for every kernel.

use crate::layout::{Layout, UNIT};
use crate::steps::{MAX_CODE, Steps};

/// A unit vector as 8-bit codes and the weights that turn integer dot products into bounds.
///
/// With `q'` and `x'` what the codes of query and record stand for, `r` what they leave out:
/// `|<q,x> - <q',x'>| = |<q',r_x> + <r_q,x>| <= |q'| |r_x| + |r_q| |x|`, and `|x| = 1`.
///
/// In the head this is taken band by band: nearly all it leaves out of fine and coarse is in coarse, where
/// a query has less than half of its length. What it leaves out of fine is at most what all codes
/// leave out. The tail of `x` is left out whole, which costs at most its norm times the query's
/// tail norm.
#[derive(Clone, Debug)]
pub struct Query {
    layout: Layout,
    /// Codes of fine and coarse dimensions, in order.
    pub(crate) head: Vec<i8>,
    pub(crate) codes: BandCodes,
    pub(crate) weights: Weights,
    /// What the codes leave out, as codes of a step 254 times finer.
    pub(crate) remainder: BandCodes,
    pub(crate) remainder_weights: RemainderWeights,
}

/// Codes of a vector, as those of a record's row and of its columns in a tile meet them.
#[derive(Clone, Debug)]
pub(crate) struct BandCodes {
    /// Codes of fine dimensions, padded with zeros to 64.
    pub(crate) fine: Vec<i8>,
    /// Codes of coarse dimensions that low nibbles of a byte meet, padded likewise.
    pub(crate) low: Vec<i8>,
    /// Likewise for high nibbles.
    pub(crate) high: Vec<i8>,
    /// Codes of tail dimensions, padded likewise.
    pub(crate) tail: Vec<i8>,
    /// Sum of the fine codes; a record's bytes carry its codes plus 128.
    pub(crate) fine_sum: i32,
    /// Sum of the coarse codes; a record's nibbles carry theirs plus 8.
    pub(crate) coarse_sum: i32,
    /// Sum of the tail codes.
    pub(crate) tail_sum: i32,
}

/// Factors of the bounds by query and remainder together, units as in [`Weights`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemainderWeights {
    /// Of the fine dot product.
    pub(crate) fine: f32,
    /// Of the dot product of whole coarse codes.
    pub(crate) coarse: f32,
    /// Of the tail dot product.
    pub(crate) tail: f32,
    /// Of the full residual.
    pub(crate) residual: f32,
    /// Error beside it.
    pub(crate) slack: f32,
}

/// Factors of the two steps' bounds. Scales, residuals and norms come in units of 1/65535, which
/// is part of the factors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    /// Of the fine dot product.
    pub(crate) fine: f32,
    /// Of the dot product of high nibbles.
    pub(crate) high: f32,
    /// Of the dot product of low nibbles.
    pub(crate) low: f32,
    /// Of the tail dot product.
    pub(crate) tail: f32,
    /// Of the coarse residual.
    pub(crate) coarse_residual: f32,
    /// Of the tail norm.
    pub(crate) tail_norm: f32,
    /// Of the full residual, in the head, where it stands for that of the fine band.
    pub(crate) fine_residual: f32,
    /// Of the full residual.
    pub(crate) full_residual: f32,
    /// Error of the head step beside these.
    pub(crate) head_slack: f32,
    /// Error of the full step beside the full residual's.
    pub(crate) full_slack: f32,
}

impl Query {
    /// `rotated` has `layout.dims()` components.
    pub(crate) fn new(layout: Layout, steps: Steps, rotated: &[f32]) -> Self {
        let (fine, others) = rotated.split_at(layout.fine());
        let (coarse, tail) = others.split_at(layout.coarse());
        let [fine, coarse, tail_band] = [fine, coarse, tail].map(Band::new);
        let rounding = rounding_error(layout.dims());

        let full_norm = norm([fine.coded, coarse.coded, tail_band.coded]);
        let tail_norm = norm(tail.iter().map(|&value| f64::from(value).powi(2)));
        let weights = Weights {
            fine: (fine.step * f64::from(steps.fine) * UNIT) as f32,
            high: (16.0 * coarse.step * f64::from(steps.coarse) * UNIT) as f32,
            low: (coarse.step * f64::from(steps.coarse) * UNIT) as f32,
            tail: (tail_band.step * f64::from(steps.tail) * UNIT) as f32,
            coarse_residual: above(norm([coarse.coded]) * UNIT),
            tail_norm: above(tail_norm * UNIT),
            fine_residual: above(norm([fine.coded]) * UNIT),
            full_residual: above(full_norm * UNIT),
            head_slack: above(norm([fine.left, coarse.left]) + rounding),
            full_slack: above(norm([fine.left, coarse.left, tail_band.left]) + rounding),
        };

        let bands = [fine, coarse, tail_band];
        let (remainder, remainder_weights) = remainder(steps, &bands, rounding);
        let [fine, coarse, tail] = bands.map(|band| band.codes);
        Self {
            layout,
            head: [fine.as_slice(), &coarse].concat(),
            codes: BandCodes::new(fine, &coarse, tail),
            weights,
            remainder,
            remainder_weights,
        }
    }

    /// The layout of the codes this query can scan.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }
}

impl BandCodes {
    fn new(fine: Vec<i8>, coarse: &[i8], tail: Vec<i8>) -> Self {
        Self {
            low: side(coarse, 0),
            high: side(coarse, 4),
            fine_sum: sum(&fine),
            coarse_sum: sum(coarse),
            tail_sum: sum(&tail),
            fine: padded(fine),
            tail: padded(tail),
        }
    }
}

/// What the codes of a query's bands leave out, coded, and its factors.
fn remainder(steps: Steps, bands: &[Band; 3], rounding: f64) -> (BandCodes, RemainderWeights) {
    let left = [0, 1, 2].map(|at: usize| Band::with_step(&bands[at].rest, bands[at].step / FINER));
    let norm_of_both = norm(bands.iter().zip(&left).map(|(band, left)| {
        let both = |(&code, &finer): (&i8, &i8)| {
            (band.step * f64::from(code) + left.step * f64::from(finer)).powi(2)
        };
        band.codes.iter().zip(&left.codes).map(both).sum::<f64>()
    }));
    let slack = norm(left.iter().map(|left| left.left)) + rounding;
    let [fine, coarse, tail] = left;
    let weights = RemainderWeights {
        fine: (fine.step * f64::from(steps.fine) * UNIT) as f32,
        coarse: (coarse.step * f64::from(steps.coarse) * UNIT) as f32,
        tail: (tail.step * f64::from(steps.tail) * UNIT) as f32,
        residual: above(norm_of_both * UNIT),
        slack: above(slack),
    };
    let codes = BandCodes::new(fine.codes, &coarse.codes, tail.codes);
    (codes, weights)
}

/// How much finer the steps of a remainder are: half a step is 127 of them.
const FINER: f64 = 254.0;

/// Codes that one half of the words' nibbles meet: four of every eight, from `first` on.
fn side(codes: &[i8], first: usize) -> Vec<i8> {
    let groups = codes.chunks_exact(8);
    padded(
        groups
            .flat_map(|group| &group[first..first + 4])
            .copied()
            .collect(),
    )
}

/// One band of a query, coded with a step of its own.
struct Band {
    codes: Vec<i8>,
    step: f64,
    /// What the codes leave out of each value.
    rest: Vec<f64>,
    /// Squared norm of what the codes stand for.
    coded: f64,
    /// Squared norm of what they leave out.
    left: f64,
}

impl Band {
    /// With the step that makes the largest value the largest code.
    fn new(values: &[f32]) -> Self {
        let values: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
        let peak = values
            .iter()
            .fold(0.0_f64, |peak, value| peak.max(value.abs()));
        Self::with_step(&values, peak / f64::from(MAX_CODE))
    }

    fn with_step(values: &[f64], step: f64) -> Self {
        let most = f64::from(MAX_CODE);
        // A step of zero has only zeros to divide; the cast makes a code 0 of their NaN.
        let codes: Vec<i8> = values
            .iter()
            .map(|value| (value / step).round().clamp(-most, most) as i8)
            .collect();
        let stand_for = codes.iter().map(|&code| step * f64::from(code));
        let rest: Vec<f64> = values
            .iter()
            .zip(stand_for.clone())
            .map(|(value, stands_for)| value - stands_for)
            .collect();
        Self {
            coded: stand_for.map(|value| value.powi(2)).sum(),
            left: rest.iter().map(|value| value.powi(2)).sum(),
            codes,
            step,
            rest,
        }
    }
}

/// Error that no residual shows, in cosine.
///
/// Residuals are taken from the rotated f32 components. These are off by the f32 sums of
/// [`rotate`](crate::rotate): a product meets at most three roundings before its running sum,
/// `dims / 64 + 4` in it and four after, of 2^-24 each, in terms whose absolute values sum to at
/// most 1 in each of `dims` components, of query and record alike. The rest, under 5e-5, is for a
/// rotation orthonormal to 1e-5, norms within 1e-5 of 1, bounds rounded to f32, and a dozen f32
/// roundings of numbers below 2 in the scan itself.
fn rounding_error(dims: usize) -> f64 {
    let dims = dims as f64;
    let component = (dims / 64.0 + 11.0) * 2.0_f64.powi(-24);
    5e-5 + 2.0 * component * dims.sqrt()
}

fn norm(squares: impl IntoIterator<Item = f64>) -> f64 {
    squares.into_iter().sum::<f64>().sqrt()
}

/// The f32 above a number.
fn above(value: f64) -> f32 {
    (value as f32).next_up()
}

fn sum(codes: &[i8]) -> i32 {
    codes.iter().map(|&code| i32::from(code)).sum()
}

fn padded(mut codes: Vec<i8>) -> Vec<i8> {
    codes.resize(codes.len().next_multiple_of(64), 0);
    codes
}
