//! The basis in which vectors are coded: rotated so that the first dimensions have the largest variance.

use std::borrow::Cow;
use std::f64::consts::PI;

use cosift_kernels::{Codec, Codes, Layout, Query, Steps, rotate};
use nalgebra::DMatrix;

use crate::snapshot::axes::{CHUNK, principal_axes};
use crate::snapshot::cost;
use crate::snapshot::file_id::FileId;

/// How a block's vectors were turned into codes.
///
/// A basis never changes. It is orthonormal, so it changes no score, only how soon a code shows that a record cannot
/// qualify: exactness never depends on the data that the basis was trained on.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) file_id: FileId,
    /// Rows by falling variance, `dims x dims` of the layout; `None`: not rotated.
    rotation: Option<Vec<f32>>,
    codec: Codec,
}

/// Dimensions at full precision in the head of a rotated code.
const FINE_DIMENSIONS: usize = 64;

/// Coarse dimensions that the head of a rotated code may have.
const COARSE_DIMENSIONS: [usize; 4] = [64, 128, 192, 256];

/// From this mean component along the first axis on, codes along the axis are tried: their error is then less than two thirds
/// of that of other codes.
const MIN_ALONG_AXIS: f64 = 0.8;

/// Maximum number of axes of a band that are mixed with each other, so that mixing takes seconds for any dimension.
const MAX_MIXED: usize = 1024;

/// Maximum number of products that rotating the sample takes for each head that is compared: the whole sample of 8,192
/// vectors up to 1,448 dimensions, 1,024 vectors of it with 4,096 dimensions.
const MAX_JUDGED_PRODUCTS: usize = 1 << 34;

impl Basis {
    /// The unrotated basis of `dimensions`: all of a code is its head.
    pub(crate) fn identity(dimensions: usize) -> Self {
        let layout =
            Layout::identity(padded(dimensions)).expect("a multiple of 8 up to the largest vector");
        let codec = Codec::new(layout, Steps::train(&layout, &[]));
        Self {
            file_id: FileId::next(),
            rotation: None,
            codec,
        }
    }

    /// Learns the basis of a sample: its principal axes, with the head that makes searches cheapest.
    ///
    /// `sample` holds unit vectors of `dimensions` components, one after the other, out of `records`. `None`
    /// when the unrotated codes are as cheap, or when `stop`, called every few hundred million products, returns true.
    pub(crate) fn train(
        dimensions: usize,
        sample: &[f32],
        records: usize,
        stop: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let dims = padded(dimensions);
        let mut axes = principal_axes(dimensions, dims, sample, stop)?;
        let along = mean_along_first(&axes, sample, dimensions);
        if along < 0.0 {
            axes.column_mut(0).neg_mut();
        }
        let judged = (MAX_JUDGED_PRODUCTS / (dims * dims)).max(1);
        let step = (sample.len() / dimensions).div_ceil(judged).max(1);
        let padded: Vec<f32> = sample
            .chunks_exact(dimensions)
            .step_by(step)
            .flat_map(|vector| pad(vector, dims).into_owned())
            .collect();
        let plain = Self::identity(dimensions).codec;
        let mut best = (cost::of_search(&plain, &padded, records), None);
        let mut rotated = vec![0.0; padded.len()];
        let layouts = COARSE_DIMENSIONS.map(|coarse| Layout::new(dims, FINE_DIMENSIONS, coarse));
        let along_axis = (along.abs() >= MIN_ALONG_AXIS).then(|| Layout::along_axis(dims));
        for layout in layouts.into_iter().chain(along_axis).flatten() {
            let rotation = mixed_within_bands(&axes, &layout, stop)?;
            let chunk = CHUNK * dims;
            for (from, to) in padded.chunks(chunk).zip(rotated.chunks_mut(chunk)) {
                if stop() {
                    return None;
                }
                rotate(&rotation, from, to);
            }
            let codec = Codec::new(layout, Steps::train(&layout, &rotated));
            let cost = cost::of_search(&codec, &rotated, records);
            if cost < best.0 {
                best = (cost, Some((rotation, codec)));
            }
        }
        let (rotation, codec) = best.1?;
        Some(Self {
            file_id: FileId::next(),
            rotation: Some(rotation),
            codec,
        })
    }

    /// Whether the basis was learned from a sample.
    pub(crate) fn is_rotated(&self) -> bool {
        self.rotation.is_some()
    }

    /// The layout of the codes of this basis.
    pub(crate) fn layout(&self) -> Layout {
        self.codec.layout()
    }

    /// Appends the code of a unit vector.
    pub(crate) fn encode(&self, vector: &[f32], codes: &mut Codes) {
        self.codec
            .encode(&self.rotated(vector), codes.records(), codes);
    }

    /// Prepares a unit vector to be compared with codes of this basis.
    pub(crate) fn query(&self, vector: &[f32]) -> Query {
        self.codec.query(&self.rotated(vector))
    }

    fn rotated<'a>(&self, vector: &'a [f32]) -> Cow<'a, [f32]> {
        let dims = self.codec.layout().dims();
        let vector = pad(vector, dims);
        match &self.rotation {
            None => vector,
            Some(rotation) => {
                let mut rotated = vec![0.0; dims];
                rotate(rotation, &vector, &mut rotated);
                rotated.into()
            }
        }
    }

    /// The basis as bytes: dimensions of the layout, whether it is along an axis, steps, rotation.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let (layout, steps) = (self.codec.layout(), self.codec.steps());
        let mut out = Vec::new();
        let along_axis = usize::from(layout.is_along_axis());
        for number in [layout.dims(), layout.fine(), layout.coarse(), along_axis] {
            out.extend_from_slice(&(number as u32).to_le_bytes());
        }
        for step in [steps.fine, steps.coarse, steps.tail] {
            out.extend_from_slice(&step.to_le_bytes());
        }
        for component in self.rotation.iter().flatten() {
            out.extend_from_slice(&component.to_le_bytes());
        }
        out
    }

    /// Reads [`Basis::to_bytes`]; `None` when the lengths do not fit.
    pub(crate) fn from_bytes(file_id: FileId, bytes: &[u8]) -> Option<Self> {
        let (header, rotation) = bytes.split_at_checked(28)?;
        let word = |at: usize| {
            header[at * 4..at * 4 + 4]
                .try_into()
                .ok()
                .map(u32::from_le_bytes)
        };
        let step = |at: usize| word(at).map(f32::from_bits);
        let [dims, fine, coarse] = [word(0)? as usize, word(1)? as usize, word(2)? as usize];
        let layout = match word(3)? {
            0 => Layout::new(dims, fine, coarse)?,
            _ => Layout::along_axis(dims)?,
        };
        let square =
            rotation.is_empty() || rotation.len() == dims.checked_mul(dims)?.checked_mul(4)?;
        if !square {
            return None;
        }
        let rotation = (!rotation.is_empty()).then(|| {
            rotation
                .as_chunks::<4>()
                .0
                .iter()
                .map(|&bytes| f32::from_le_bytes(bytes))
                .collect()
        });
        let steps = Steps {
            fine: step(4)?,
            coarse: step(5)?,
            tail: step(6)?,
        };
        Some(Self {
            file_id,
            rotation,
            codec: Codec::new(layout, steps),
        })
    }
}

/// Dimensions of a layout: codes are packed eight at a time.
fn padded(dimensions: usize) -> usize {
    dimensions.next_multiple_of(8)
}

fn pad(vector: &[f32], dims: usize) -> Cow<'_, [f32]> {
    if vector.len() == dims {
        return vector.into();
    }
    let mut padded = vector.to_vec();
    padded.resize(dims, 0.0);
    padded.into()
}

/// The mean component of the vectors of a sample along the first axis.
fn mean_along_first(axes: &DMatrix<f64>, sample: &[f32], dimensions: usize) -> f64 {
    let mut sum = vec![0.0; dimensions];
    for vector in sample.chunks_exact(dimensions) {
        sum.iter_mut()
            .zip(vector)
            .for_each(|(sum, &part)| *sum += f64::from(part));
    }
    let along: f64 = sum
        .iter()
        .zip(axes.column(0).iter())
        .map(|(a, b)| a * b)
        .sum();
    along / (sample.len() / dimensions).max(1) as f64
}

/// Rows of an orthonormal matrix: the axes, those of each band of a layout mixed with each other.
///
/// The few long axes of a band would set the step that all codes of the band are rounded by. Mixed, the components have
/// about the same length, and codes of the same size have an error smaller by a sixth. `None` when `stop` returns true.
fn mixed_within_bands(
    axes: &DMatrix<f64>,
    layout: &Layout,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<f32>> {
    let mut mixed = axes.clone();
    let mut start = 0;
    let bands = if layout.is_along_axis() {
        [1, layout.fine() - 1, 0]
    } else {
        [layout.fine(), layout.coarse(), layout.tail()]
    };
    for band in bands {
        let end = start + band;
        while start < end {
            let width = MAX_MIXED.min(end - start);
            let (axes, cosines) = (axes.columns(start, width), cosines(width));
            for at in (0..width).step_by(CHUNK) {
                if stop() {
                    return None;
                }
                let some = CHUNK.min(width - at);
                let columns = axes * cosines.columns(at, some);
                mixed.columns_mut(start + at, some).copy_from(&columns);
            }
            start += width;
        }
    }
    // Column after column, which are the rows of the rotation.
    Some(mixed.iter().map(|&part| part as f32).collect())
}

/// The orthonormal matrix of the discrete cosine transform: every entry of a column has about the same
/// size, so each axis contributes equally to a component.
fn cosines(width: usize) -> DMatrix<f64> {
    let size = width as f64;
    DMatrix::from_fn(width, width, |axis, wave| {
        let norm = if wave == 0 { 1.0 } else { 2.0 };
        let angle = PI / size * (axis as f64 + 0.5) * wave as f64;
        f64::sqrt(norm / size) * angle.cos()
    })
}
