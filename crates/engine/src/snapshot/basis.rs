//! The basis in which vectors are coded: rotated so that the first dimensions have the largest variance.

use std::borrow::Cow;

use cosift_kernels::{Codec, FullCodes, Layout, MAX_ONE_PRODUCT, Query, Steps};
use nalgebra::DMatrix;

use crate::snapshot::axes::principal_axes;
use crate::snapshot::cost;
use crate::snapshot::file_names::FileId;
use crate::snapshot::rotation::{Axes, Rotation};

/// How a block's vectors were turned into codes.
///
/// A basis never changes. It is orthonormal, so it changes no score, only how soon a code shows that a record cannot
/// qualify: exactness never depends on the data that the basis was trained on.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) file_id: FileId,
    rotation: Rotation,
    codec: Codec,
}

/// Dimensions of the fine band of a rotated code.
const FINE_DIMENSIONS: usize = 64;

/// Coarse dimensions that the head of a rotated code may have; beyond [`MAX_ONE_PRODUCT`] dimensions also all others.
const COARSE_DIMENSIONS: [usize; 4] = [64, 128, 192, 256];

/// From this mean component along the first axis on, codes along the axis are tried: their error is then less than two thirds
/// of that of other codes.
const MIN_ALONG_AXIS: f64 = 0.8;

/// Components of the sample that layouts are compared with, so that this takes a second for any dimensions. There are at
/// least [`MIN_JUDGED`] vectors of them.
const MAX_JUDGED_COMPONENTS: usize = 3 << 20;
const MIN_JUDGED: usize = 512;

impl Basis {
    /// The basis of `dimensions` that needs no sample: all of a code is its head.
    pub(crate) fn untrained(dimensions: usize) -> Self {
        let layout =
            Layout::identity(padded(dimensions)).expect("a multiple of 8 up to the largest vector");
        let codec = Codec::new(layout, Steps::train(&layout, &[]));
        Self {
            file_id: FileId::next(),
            rotation: Rotation::spread(layout.dims()),
            codec,
        }
    }

    /// Learns the basis of a sample: its principal axes, with the head that makes searches cheapest.
    ///
    /// `sample` holds unit vectors of `dimensions` components, one after the other, out of `records`. `None`
    /// when the untrained codes are as cheap, or when `stop`, called every few hundred million products, returns true.
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
        let axes = Axes::of(axes, stop)?;
        let judged = (MAX_JUDGED_COMPONENTS / dims).max(MIN_JUDGED);
        let step = (sample.len() / dimensions).div_ceil(judged).max(1);
        let padded: Vec<f32> = sample
            .chunks_exact(dimensions)
            .step_by(step)
            .flat_map(|vector| pad(dimensions, vector, dims).into_owned())
            .collect();
        let untrained = Self::untrained(dimensions);
        let spread = untrained.rotate(dims, &padded);
        let mut best = (cost::of_search(&untrained.codec, 0, &spread, records), None);
        let prepared = axes.prepare(dims, padded, stop)?;
        let layouts = COARSE_DIMENSIONS.map(|coarse| Layout::new(dims, FINE_DIMENSIONS, coarse));
        // The leading axes of so many dimensions may be too few. A head of all dimensions still has half of the bytes.
        let all = (dims > MAX_ONE_PRODUCT)
            .then(|| Layout::new(dims, FINE_DIMENSIONS, dims - FINE_DIMENSIONS));
        let along_axis = (along.abs() >= MIN_ALONG_AXIS).then(|| Layout::along_axis(dims));
        for layout in layouts.into_iter().chain(all).chain(along_axis).flatten() {
            let (rotation, rotated) = axes.rotate(&layout, &prepared, stop)?;
            let codec = Codec::new(layout, Steps::train(&layout, &rotated));
            let cost = cost::of_search(&codec, rotation.bytes(), &rotated, records);
            if cost < best.0 {
                best = (cost, Some((rotation, codec)));
            }
        }
        let (rotation, codec) = best.1?;
        Some(Self {
            file_id: FileId::next(),
            rotation,
            codec,
        })
    }

    /// Whether the basis was learned from a sample.
    pub(crate) fn is_trained(&self) -> bool {
        self.rotation.is_learned()
    }

    /// The layout of the codes of this basis.
    pub(crate) fn layout(&self) -> Layout {
        self.codec.layout()
    }

    /// Appends the code of a rotated unit vector.
    pub(crate) fn encode(&self, rotated: &[f32], full: &mut FullCodes) {
        self.codec.encode(rotated, full.codes.records(), full);
    }

    /// Prepares a unit vector to be compared with codes of this basis.
    pub(crate) fn query(&self, vector: &[f32]) -> Query {
        self.codec.query(&self.rotate(vector.len(), vector))
    }

    /// Rotates concatenated vectors of `dimensions` components into vectors of the layout. One call for many vectors takes
    /// less time.
    pub(crate) fn rotate(&self, dimensions: usize, vectors: &[f32]) -> Vec<f32> {
        let layout = self.codec.layout();
        let vectors = pad(dimensions, vectors, layout.dims());
        let mut rotated = vec![0.0; vectors.len()];
        self.rotation.apply(&layout, &vectors, &mut rotated);
        rotated
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
        self.rotation.to_bytes(&mut out);
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
        let steps = Steps {
            fine: step(4)?,
            coarse: step(5)?,
            tail: step(6)?,
        };
        Some(Self {
            file_id,
            rotation: Rotation::from_bytes(dims, rotation)?,
            codec: Codec::new(layout, steps),
        })
    }
}

/// Dimensions of a layout: codes are packed eight at a time.
fn padded(dimensions: usize) -> usize {
    dimensions.next_multiple_of(8)
}

/// Vectors of `dimensions` components, padded with zeros to `dims` each.
fn pad(dimensions: usize, vectors: &[f32], dims: usize) -> Cow<'_, [f32]> {
    if dimensions == dims {
        return vectors.into();
    }
    let mut padded = vec![0.0; vectors.len() / dimensions * dims];
    let pairs = padded
        .chunks_exact_mut(dims)
        .zip(vectors.chunks_exact(dimensions));
    pairs.for_each(|(padded, vector)| padded[..dimensions].copy_from_slice(vector));
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

#[cfg(test)]
mod tests;
