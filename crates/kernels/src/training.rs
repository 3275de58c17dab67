//! Steps that fit a sample of vectors.

use crate::codec::Codec;
use crate::layout::Layout;
use crate::steps::{MAX_COARSE_CODE, MAX_CODE, Steps};

/// Room above the largest value of the sample, so that few records to come are clipped. A scale
/// has 65,535 steps: using only half of them costs nothing.
const HEADROOM: f32 = 2.0;
/// Shares of the sample whose scale the leading band may be left to set; the best is taken.
const LED: [f64; 5] = [0.5, 0.75, 0.9, 0.95, 0.99];
/// Smallest peak a band is given: what lies below costs less than rounding.
const LEAST_PEAK: f32 = 1e-3;

impl Steps {
    /// Steps for vectors like those of `sample`, rows of `layout.dims()` rotated components.
    ///
    /// The band with the fewest bits in the head gets steps that its own peak fills, the others
    /// steps wide enough that they seldom set the scale: how seldom is tried out on the sample, of
    /// which a thousand rows are plenty. Any steps are correct; good ones make the bounds narrow.
    /// The identity layout needs no sample.
    ///
    /// # Panics
    /// When `sample` is no whole number of rows.
    #[must_use]
    pub fn train(layout: &Layout, sample: &[f32]) -> Self {
        assert!(
            sample.len().is_multiple_of(layout.dims()),
            "a sample is whole rows"
        );
        if layout.tail() == 0 && layout.coarse() == 0 {
            let fine = 1.0 / MAX_CODE;
            return Self {
                fine,
                coarse: fine,
                tail: fine,
            };
        }
        let peaks: Vec<[f32; 3]> = sample
            .chunks_exact(layout.dims())
            .map(|row| band_peaks(layout, row))
            .collect();
        let leading = usize::from(layout.coarse() > 0);
        let peak = peaks
            .iter()
            .map(|peaks| peaks[leading])
            .fold(LEAST_PEAK, f32::max)
            * HEADROOM;
        let steps = LED.map(|led| {
            let [fine, coarse, tail] =
                std::array::from_fn(|band| peak * usual_ratio(&peaks, band, leading, led));
            Self {
                fine: fine / MAX_CODE,
                coarse: coarse / MAX_COARSE_CODE,
                tail: tail / MAX_CODE,
            }
        });
        let mut best = (f64::INFINITY, steps[0]);
        for steps in steps {
            let codec = Codec::new(*layout, steps);
            let left_out = sample
                .chunks_exact(layout.dims())
                .map(|row| codec.left_out(row))
                .sum();
            if left_out < best.0 {
                best = (left_out, steps);
            }
        }
        best.1
    }
}

/// Largest absolute component of each band of a row.
fn band_peaks(layout: &Layout, row: &[f32]) -> [f32; 3] {
    let (fine, others) = row.split_at(layout.fine());
    let (coarse, tail) = others.split_at(layout.coarse());
    [fine, coarse, tail].map(|band| {
        band.iter()
            .fold(0.0_f32, |peak, value| peak.max(value.abs()))
    })
}

/// The ratio of a band's peak to the leading band's that a share `led` of the rows stays under.
fn usual_ratio(peaks: &[[f32; 3]], band: usize, leading: usize, led: f64) -> f32 {
    let mut ratios: Vec<f32> = peaks
        .iter()
        .map(|peaks| peaks[band].max(LEAST_PEAK) / peaks[leading].max(LEAST_PEAK))
        .collect();
    ratios.sort_unstable_by(f32::total_cmp);
    let at = (ratios.len() as f64 * led) as usize;
    ratios.get(at).copied().unwrap_or(1.0)
}
