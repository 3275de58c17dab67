//! Quantisation: from unit vectors to codes.

use crate::axis;
use crate::codes::{Codes, RecordMeta, rounded_up};
use crate::layout::{Layout, UNIT};
use crate::nibbles::high_nibble;
use crate::query::Query;
use crate::steps::{MAX_CODE, MAX_SPLIT_CODE, Steps};

/// Packs vectors of one layout, with fixed steps.
///
/// Each record has one scale `s`: a code in a band represents the component `s * step * code`. The scale is rounded
/// before the components are quantised, so the quantisation error, the *residual*, is known exactly. Its norms are
/// stored with the codes, rounded up. The bounds of a scan depend on these norms only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Codec {
    layout: Layout,
    steps: Steps,
}

/// Largest squared norm that is accepted for a unit vector.
const MAX_SQUARED_NORM: f64 = 1.0 + 1e-5;

impl Codec {
    /// # Panics
    /// Unless every step is positive and finite.
    #[must_use]
    pub fn new(layout: Layout, steps: Steps) -> Self {
        for step in [steps.fine, steps.coarse, steps.tail] {
            assert!(step.is_finite() && step > 0.0, "steps are positive");
        }
        Self { layout, steps }
    }

    /// The layout of the codes.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The step of each band.
    #[must_use]
    pub fn steps(&self) -> Steps {
        self.steps
    }

    /// Quantises a unit vector and stores its codes as the record at `slot`, which exists already or is the next one.
    ///
    /// The vector must be rotated as the training sample of the codec was. Missing trailing components count as zero.
    ///
    /// # Panics
    /// When the vector has more components than the layout or a norm above 1, `codes` has another layout, or `slot` is
    /// beyond the next record or at [`BLOCK_RECORDS`](crate::BLOCK_RECORDS).
    pub fn encode(&self, rotated: &[f32], slot: usize, codes: &mut Codes) {
        assert_eq!(codes.layout(), self.layout, "codes have the codec's layout");
        assert!(
            rotated.len() <= self.layout.dims(),
            "vector fits the layout"
        );
        let squared: f64 = rotated.iter().map(|&value| f64::from(value).powi(2)).sum();
        assert!(squared <= MAX_SQUARED_NORM, "vector has at most unit norm");

        if self.layout.is_along_axis() {
            let (record, meta) = axis::encode(rotated, self.layout.dims(), self.steps);
            codes.write(slot, &record, meta);
            return;
        }
        let mut scale = self.scale(rotated);
        let mut record = self.quantise(rotated, scale);
        let mut residuals = self.residuals(rotated, scale, &record);
        if residuals.coarse > 1.0 {
            // Rounding coarse codes to their high nibble can, for unusual vectors, give a residual above 1. With scale
            // and codes of zero the residual is the vector itself.
            scale = 0;
            record.fill(0);
            residuals = self.residuals(rotated, scale, &record);
        }
        let meta = RecordMeta {
            scale,
            coarse_residual: rounded_up(residuals.coarse),
            tail_norm: rounded_up(residuals.tail),
            full_residual: rounded_up(residuals.full),
        };
        codes.write(slot, &record, meta);
    }

    /// Prepares a unit vector, rotated as the records were, for scans over their codes.
    ///
    /// Missing trailing components count as zero.
    ///
    /// # Panics
    /// When the vector has more components than the layout or a norm above 1.
    #[must_use]
    pub fn query(&self, rotated: &[f32]) -> Query {
        assert!(
            rotated.len() <= self.layout.dims(),
            "vector fits the layout"
        );
        let squared: f64 = rotated.iter().map(|&value| f64::from(value).powi(2)).sum();
        assert!(squared <= MAX_SQUARED_NORM, "vector has at most unit norm");
        let mut padded = rotated.to_vec();
        padded.resize(self.layout.dims(), 0.0);
        Query::new(self.layout, self.steps, &padded)
    }

    /// The norms of the coarse and the full residual added: how wide the bounds of passes 1 and 2 are, without the tail.
    pub(crate) fn residual_norms(&self, rotated: &[f32]) -> f64 {
        let scale = self.scale(rotated);
        let residuals = self.residuals(rotated, scale, &self.quantise(rotated, scale));
        residuals.coarse + residuals.full
    }

    /// The smallest scale with which no component is clipped, or the largest scale.
    fn scale(&self, rotated: &[f32]) -> u16 {
        let largest = self
            .bands()
            .map(|band| {
                let peak = band
                    .of(rotated)
                    .iter()
                    .fold(0.0_f32, |peak, value| peak.max(value.abs()));
                f64::from(peak) / (f64::from(band.step) * f64::from(band.max))
            })
            .into_iter()
            .fold(0.0, f64::max);
        rounded_up(largest)
    }

    /// One code for each dimension.
    fn quantise(&self, rotated: &[f32], scale: u16) -> Vec<i8> {
        let mut codes = Vec::with_capacity(self.layout.dims());
        for band in self.bands() {
            // With a scale of zero this is infinite, and its product with a zero NaN, which the cast turns into 0.
            let inverse = (1.0 / (f64::from(scale) * UNIT * f64::from(band.step))) as f32;
            codes.extend(band.of(rotated).iter().map(|value| {
                let exact = (value * inverse).clamp(-band.max, band.max);
                // The cast rounds towards zero. `round` would be a function call on CPUs without SSE 4.1.
                (exact + 0.5_f32.copysign(exact)) as i8
            }));
        }
        codes.resize(self.layout.dims(), 0);
        codes
    }

    /// The norms of the residual, computed from the codes.
    fn residuals(&self, rotated: &[f32], scale: u16, codes: &[i8]) -> Residuals {
        let scale = f64::from(scale) * UNIT;
        let squares = |band: &Band, represented: fn(i8) -> i8| -> f64 {
            let step = scale * f64::from(band.step);
            let values = band.of(rotated).iter().zip(&codes[band.start..]);
            values
                .map(|(&value, &code)| f64::from(value) - step * f64::from(represented(code)))
                .map(|residual| residual * residual)
                .sum()
        };
        let all = |code| code;
        let [fine, coarse, tail] = self.bands();
        Residuals {
            coarse: f64::sqrt(squares(&coarse, |code| 16 * high_nibble(code))),
            tail: f64::sqrt(squares(&tail, |_| 0)),
            full: f64::sqrt(squares(&fine, all) + squares(&coarse, all) + squares(&tail, all)),
        }
    }

    fn bands(&self) -> [Band; 3] {
        let (fine, head) = (self.layout.fine(), self.layout.head_dims());
        let Steps {
            fine: fine_step,
            coarse: coarse_step,
            tail: tail_step,
        } = self.steps;
        [
            Band {
                start: 0,
                end: fine,
                step: fine_step,
                max: MAX_CODE,
            },
            Band {
                start: fine,
                end: head,
                step: coarse_step,
                max: MAX_SPLIT_CODE,
            },
            Band {
                start: head,
                end: self.layout.dims(),
                step: tail_step,
                max: MAX_SPLIT_CODE,
            },
        ]
    }
}

/// A range of dimensions with one step.
struct Band {
    start: usize,
    end: usize,
    step: f32,
    /// The largest code.
    max: f32,
}

impl Band {
    /// The components of a vector in this band; fewer if the vector is shorter.
    fn of<'a>(&self, vector: &'a [f32]) -> &'a [f32] {
        &vector[self.start.min(vector.len())..self.end.min(vector.len())]
    }
}

/// Norms of the parts of a vector that its codes do not represent.
struct Residuals {
    /// Of the coarse band, if only the high nibbles are known.
    coarse: f64,
    /// Of the whole tail.
    tail: f64,
    /// Of all bands, if all codes are known.
    full: f64,
}
