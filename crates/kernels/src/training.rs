//! Steps that fit a sample of vectors.

use crate::axis;
use crate::codec::Codec;
use crate::layout::Layout;
use crate::steps::{MAX_CODE, MAX_SPLIT_CODE, Steps};

/// Records may have values this many times as large as those of the sample before they are clipped. A scale has 65,535
/// values; using half of them costs no precision.
const HEADROOM: f32 = 2.0;
/// Shares of the sample whose scale the leading band may determine. Training takes the best one.
const LEADING_SHARES: [f64; 5] = [0.5, 0.75, 0.9, 0.95, 0.99];
/// Smallest peak of a band: a smaller one costs less precision than rounding does.
const MIN_PEAK: f32 = 1e-3;

impl Steps {
    /// Steps for vectors like those of `sample`, rows of `layout.dims()` rotated components.
    ///
    /// The leading band, which has the fewest bits in pass 1, gets steps that its own peak fills. The steps of the other
    /// bands are so wide that these bands rarely determine the scale; how rarely is chosen by trial on the sample. A
    /// thousand rows are enough. Any steps are correct; good steps make the bounds narrow. The identity layout needs no
    /// sample.
    ///
    /// # Panics
    /// When `sample` is not a whole number of rows.
    #[must_use]
    pub fn train(layout: &Layout, sample: &[f32]) -> Self {
        assert!(
            sample.len().is_multiple_of(layout.dims()),
            "a sample is whole rows"
        );
        if layout.is_along_axis() {
            return axis::train(layout.dims(), sample);
        }
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
            .fold(MIN_PEAK, f32::max)
            * HEADROOM;
        let steps = LEADING_SHARES.map(|share| {
            let [fine, coarse, tail] =
                std::array::from_fn(|band| peak * usual_ratio(&peaks, band, leading, share));
            Self {
                fine: fine / MAX_CODE,
                coarse: coarse / MAX_SPLIT_CODE,
                tail: tail / MAX_SPLIT_CODE,
            }
        });
        let mut best = (f64::INFINITY, steps[0]);
        for steps in steps {
            let codec = Codec::new(*layout, steps);
            let residual_norms: f64 = sample
                .chunks_exact(layout.dims())
                .map(|row| codec.residual_norms(row))
                .sum();
            if residual_norms < best.0 {
                best = (residual_norms, steps);
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

/// The ratio of a band's peak to the leading band's peak that is exceeded by no more than `1 - share` of the rows.
fn usual_ratio(peaks: &[[f32; 3]], band: usize, leading: usize, share: f64) -> f32 {
    let mut ratios: Vec<f32> = peaks
        .iter()
        .map(|peaks| peaks[band].max(MIN_PEAK) / peaks[leading].max(MIN_PEAK))
        .collect();
    ratios.sort_unstable_by(f32::total_cmp);
    let at = (ratios.len() as f64 * share) as usize;
    ratios.get(at).copied().unwrap_or(1.0)
}
