//! Codes along an axis: for vectors that all point in nearly the same direction.
//!
//! The component along such a direction is much longer than the others. If it were coded with their step, the error of the
//! codes would be as large as the differences between the vectors. So a record's scale represents that component alone.

use crate::codes::{RecordCodes, RecordMeta, rounded_up};
use crate::layout::UNIT;
use crate::steps::{MAX_CODE, Steps};

/// The share of the sample whose components are not clipped.
const UNCLIPPED: f64 = 0.99;

/// The smallest step: the sum of all products must fit an i32 in units of it.
const MIN_STEP: f32 = 1e-6;

/// The codes of a vector, one for each of `dims` dimensions, and its fields.
pub(crate) fn encode(rotated: &[f32], dims: usize, steps: Steps) -> (RecordCodes, RecordMeta) {
    let along = f64::from(rotated.first().copied().unwrap_or(0.0));
    // The cast saturates: the scale of a negative component is 0.
    let scale = (along / UNIT).round() as u16;
    let step = f64::from(scale) * UNIT * f64::from(steps.fine);
    let mut codes = vec![0; dims];
    let (mut residual, mut rest) = (0.0, 0.0);
    for (code, &value) in codes.iter_mut().zip(rotated).skip(1) {
        let value = f64::from(value);
        // Without a step this is NaN or infinite. Then the code represents 0, whatever it is.
        let exact = (value / step).round();
        *code = exact.clamp(-f64::from(MAX_CODE), f64::from(MAX_CODE)) as i8;
        residual += (value - step * f64::from(*code)).powi(2);
        rest += value * value;
    }
    let meta = RecordMeta {
        scale,
        coarse_residual: rounded_up((along - f64::from(scale) * UNIT).abs()),
        tail_norm: rounded_up(rest.sqrt()),
        fine_residual: rounded_up(residual.sqrt()),
    };
    let record = RecordCodes {
        codes,
        fine_low: Vec::new(),
    };
    (record, meta)
}

/// Steps for vectors like those of `sample`, rows of `dims` rotated components.
pub(crate) fn train(dims: usize, sample: &[f32]) -> Steps {
    let mut ratios: Vec<f32> = sample
        .chunks_exact(dims)
        .map(|row| {
            let peak = row[1..]
                .iter()
                .fold(0.0_f32, |peak, value| peak.max(value.abs()));
            peak / row[0].max(UNIT as f32)
        })
        .collect();
    ratios.sort_unstable_by(f32::total_cmp);
    let at = (ratios.len() as f64 * UNCLIPPED) as usize;
    let largest = ratios.get(at).copied().unwrap_or(1.0);
    let fine = (largest / MAX_CODE).max(MIN_STEP);
    Steps {
        fine,
        coarse: fine,
        tail: fine,
    }
}
