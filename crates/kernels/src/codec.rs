//! Quantisation: from unit vectors to codes.

use crate::axis;
use crate::codes::{RecordCodes, RecordMeta, RowResiduals, rounded_up};
use crate::full_codes::FullCodes;
use crate::layout::{Layout, UNIT};
use crate::nibbles::{MAX_FINE_CODE, fine_parts, high_nibble};
use crate::query::Query;
use crate::steps::{MAX_CODE, MAX_SPLIT_CODE, Steps};

/// Packs vectors of one layout, with fixed steps.
///
/// Each record has one scale `s`: a code in a band represents the component `s * step * code`, and a fine code of 12 bits the
/// component `s * step * code / 16`. The scale is rounded before the components are quantised, so the quantisation error, the
/// *residual*, is known exactly. Its norms are stored with the codes, rounded up. The bounds of a scan depend on these norms
/// only.
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
    pub fn encode(&self, rotated: &[f32], slot: usize, codes: &mut FullCodes) {
        let layout = codes.codes.layout();
        assert_eq!(layout, self.layout, "codes have the codec's layout");
        assert!(
            rotated.len() <= self.layout.dims(),
            "vector fits the layout"
        );
        let squared: f64 = rotated.iter().map(|&value| f64::from(value).powi(2)).sum();
        assert!(squared <= MAX_SQUARED_NORM, "vector has at most unit norm");

        if self.layout.is_along_axis() {
            let (record, meta) = axis::encode(rotated, self.layout.dims(), self.steps);
            codes.write(slot, &record, meta, RowResiduals::default());
            return;
        }
        let mut scale = self.scale(rotated);
        let mut record = self.quantise(rotated, scale);
        let mut residuals = self.residuals(rotated, scale, &record);
        if residuals.fine_head > 1.0 || residuals.coarse_head > 1.0 {
            // Without their low nibbles, codes can, for unusual vectors, give a residual above 1. With scale and codes of
            // zero the residual is the vector itself.
            scale = 0;
            record.codes.fill(0);
            record.fine_low.fill(0);
            residuals = self.residuals(rotated, scale, &record);
        }
        let meta = RecordMeta {
            scale,
            coarse_residual: rounded_up(residuals.coarse_head),
            tail_norm: rounded_up(residuals.tail_norm),
            fine_residual: rounded_up(residuals.fine_head),
        };
        let [fine, coarse, tail] = residuals.of_bands.map(rounded_up);
        codes.write(slot, &record, meta, RowResiduals { fine, coarse, tail });
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

    /// The norm of the error of the coarse band in pass 1, plus the norm of the error of all bands once everything but the low
    /// nibbles of the fine band is known. The lower the sum, the narrower are the bounds of the passes.
    pub(crate) fn residual_norms(&self, rotated: &[f32]) -> f64 {
        let scale = self.scale(rotated);
        let residuals = self.residuals(rotated, scale, &self.quantise(rotated, scale));
        let [_, coarse, tail] = residuals.of_bands;
        let bands = [residuals.fine_head, coarse, tail];
        residuals.coarse_head
            + bands
                .into_iter()
                .map(|norm| norm * norm)
                .sum::<f64>()
                .sqrt()
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

    fn quantise(&self, rotated: &[f32], scale: u16) -> RecordCodes {
        let mut codes = Vec::with_capacity(self.layout.dims());
        let mut fine_low = Vec::new();
        let [fine, coarse, tail] = self.bands();
        let in_8_bits = |codes: &mut Vec<i8>, band: &Band| {
            let quantised = band.quantise(rotated, scale, 1.0, band.max);
            codes.extend(quantised.map(|code| code as i8));
        };
        if self.layout.has_rest() {
            for code in fine.quantise(rotated, scale, 16.0, f32::from(MAX_FINE_CODE)) {
                let (high, low) = fine_parts(code as i16);
                codes.push(high);
                fine_low.push(low);
            }
            fine_low.resize(self.layout.fine(), 0);
        } else {
            in_8_bits(&mut codes, &fine);
        }
        in_8_bits(&mut codes, &coarse);
        in_8_bits(&mut codes, &tail);
        codes.resize(self.layout.dims(), 0);
        RecordCodes { codes, fine_low }
    }

    /// The norms of the residual, computed from the codes.
    fn residuals(&self, rotated: &[f32], scale: u16, record: &RecordCodes) -> Residuals {
        let scale = f64::from(scale) * UNIT;
        let codes = &record.codes;
        // The low nibbles end before the codes of the fine band if the head holds all codes.
        let low = |at: usize| record.fine_low.get(at).map_or(0.0, |&low| f64::from(low));
        let norm = |band: &Band, represented: &dyn Fn(usize) -> f64| -> f64 {
            let step = scale * f64::from(band.step);
            let values = band.of(rotated).iter().zip(band.start..);
            let residuals = values.map(|(&value, at)| f64::from(value) - step * represented(at));
            residuals
                .map(|residual| residual * residual)
                .sum::<f64>()
                .sqrt()
        };
        let whole = |at: usize| f64::from(codes[at]);
        let [fine, coarse, tail] = self.bands();
        Residuals {
            fine_head: norm(&fine, &whole),
            coarse_head: norm(&coarse, &|at| 16.0 * f64::from(high_nibble(codes[at]))),
            tail_norm: norm(&tail, &|_| 0.0),
            of_bands: [
                norm(&fine, &|at| f64::from(codes[at]) + low(at) / 16.0),
                norm(&coarse, &whole),
                norm(&tail, &whole),
            ],
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

    /// Divides the components of a vector in this band by the band's step over `finer`, and adds half a unit away from zero: a
    /// cast to an integer gives the nearest code, of at most `max`.
    fn quantise(
        &self,
        vector: &[f32],
        scale: u16,
        finer: f32,
        max: f32,
    ) -> impl Iterator<Item = f32> {
        // With a scale of zero this is infinite, and its product with a zero NaN, which a cast to an integer turns into 0.
        let inverse = (1.0 / (f64::from(scale) * UNIT * f64::from(self.step))) as f32 * finer;
        self.of(vector).iter().map(move |value| {
            let exact = (value * inverse).clamp(-max, max);
            // A cast rounds towards zero. `round` would be a function call on CPUs without SSE 4.1.
            exact + 0.5_f32.copysign(exact)
        })
    }
}

/// Norms of the parts of a vector that its codes do not represent.
struct Residuals {
    /// Of the fine band, if only the head is known.
    fine_head: f64,
    /// Of the coarse band, if only the head is known.
    coarse_head: f64,
    /// Of the whole tail.
    tail_norm: f64,
    /// Of each band, if all codes are known.
    of_bands: [f64; 3],
}
