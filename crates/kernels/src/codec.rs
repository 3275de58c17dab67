//! From unit vectors to codes.

use crate::codes::{Codes, RecordMeta};
use crate::layout::{Layout, UNIT};
use crate::nibbles::high_nibble;
use crate::query::Query;
use crate::steps::{MAX_COARSE_CODE, MAX_CODE, Steps};

/// Packs vectors of one layout, with fixed steps.
///
/// A record is coded with one scale `s`: its component in a band stands for
/// `s * step * code`. The scale is rounded before coding, so what the codes leave out is known
/// exactly and kept, rounded up, beside them; the bounds of a scan rest on that alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Codec {
    layout: Layout,
    steps: Steps,
}

/// Largest squared norm taken for that of a unit vector.
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

    /// How the codes lie.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The step of each band.
    #[must_use]
    pub fn steps(&self) -> Steps {
        self.steps
    }

    /// Codes a unit vector, rotated as the codec's sample was, as the record at `slot`: over the
    /// one there, or, one past the last, as a new one.
    ///
    /// Components that are missing at the end count as zero.
    ///
    /// # Panics
    /// When the vector is longer than the layout or than 1, `codes` has another layout, or `slot`
    /// is further out or at [`BLOCK_RECORDS`](crate::BLOCK_RECORDS).
    pub fn encode(&self, rotated: &[f32], slot: usize, codes: &mut Codes) {
        assert_eq!(codes.layout(), self.layout, "codes have the codec's layout");
        assert!(
            rotated.len() <= self.layout.dims(),
            "vector fits the layout"
        );
        let squared: f64 = rotated.iter().map(|&value| f64::from(value).powi(2)).sum();
        assert!(squared <= MAX_SQUARED_NORM, "vector has at most unit norm");

        let mut scale = self.scale(rotated);
        let mut record = self.quantise(rotated, scale);
        let mut left = self.residuals(rotated, scale, &record);
        if left.coarse > 1.0 {
            // Rounding coarse codes to their high nibble can, in odd vectors, leave out more than
            // there is; no code at all leaves out exactly the vector.
            scale = 0;
            record.fill(0);
            left = self.residuals(rotated, scale, &record);
        }
        let meta = RecordMeta {
            scale,
            coarse_residual: rounded_up(left.coarse),
            tail_norm: rounded_up(left.tail),
            full_residual: rounded_up(left.full),
        };
        codes.write(slot, &record, meta);
    }

    /// Prepares a unit vector, rotated as the records were, for scans over their codes.
    ///
    /// Components that are missing at the end count as zero.
    ///
    /// # Panics
    /// When the vector is longer than the layout or than 1.
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

    /// How wide the codes of a vector leave the bounds of both steps, apart from its tail.
    pub(crate) fn left_out(&self, rotated: &[f32]) -> f64 {
        let scale = self.scale(rotated);
        let left = self.residuals(rotated, scale, &self.quantise(rotated, scale));
        left.coarse + left.full
    }

    /// The smallest scale that clips nothing, or the largest there is.
    fn scale(&self, rotated: &[f32]) -> u16 {
        let largest = self
            .bands()
            .map(|band| {
                let peak = band
                    .of(rotated)
                    .iter()
                    .fold(0.0_f32, |peak, value| peak.max(value.abs()));
                f64::from(peak) / (f64::from(band.step) * f64::from(band.most))
            })
            .into_iter()
            .fold(0.0, f64::max);
        rounded_up(largest)
    }

    /// A code a dimension.
    fn quantise(&self, rotated: &[f32], scale: u16) -> Vec<i8> {
        let mut codes = Vec::with_capacity(self.layout.dims());
        for band in self.bands() {
            // A scale of zero makes this infinite and codes of zeros NaN, which the cast turns to 0.
            let inverse = (1.0 / (f64::from(scale) * UNIT * f64::from(band.step))) as f32;
            codes.extend(band.of(rotated).iter().map(|value| {
                let exact = (value * inverse).clamp(-band.most, band.most);
                // The cast cuts towards zero. `round` would be a call on CPUs without SSE 4.1.
                (exact + 0.5_f32.copysign(exact)) as i8
            }));
        }
        codes.resize(self.layout.dims(), 0);
        codes
    }

    /// What the codes leave out, from what they really say.
    fn residuals(&self, rotated: &[f32], scale: u16, codes: &[i8]) -> Residuals {
        let scale = f64::from(scale) * UNIT;
        let squares = |band: &Band, stands_for: fn(i8) -> i8| -> f64 {
            let step = scale * f64::from(band.step);
            let values = band.of(rotated).iter().zip(&codes[band.start..]);
            values
                .map(|(&value, &code)| f64::from(value) - step * f64::from(stands_for(code)))
                .map(|left| left * left)
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
                most: MAX_CODE,
            },
            Band {
                start: fine,
                end: head,
                step: coarse_step,
                most: MAX_COARSE_CODE,
            },
            Band {
                start: head,
                end: self.layout.dims(),
                step: tail_step,
                most: MAX_CODE,
            },
        ]
    }
}

/// A run of dimensions with one step.
struct Band {
    start: usize,
    end: usize,
    step: f32,
    /// The largest code.
    most: f32,
}

impl Band {
    /// A vector's components in this band, as far as it has them.
    fn of<'a>(&self, vector: &'a [f32]) -> &'a [f32] {
        &vector[self.start.min(vector.len())..self.end.min(vector.len())]
    }
}

struct Residuals {
    coarse: f64,
    tail: f64,
    full: f64,
}

/// In units of 1/65535, rounded up, at most 1.
fn rounded_up(value: f64) -> u16 {
    // The casts saturate. Norms reach past 1 only by the rounding of unit vectors, which the slack
    // of a query covers.
    (value / UNIT).ceil() as u16
}
