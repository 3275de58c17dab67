//! The rotation of vectors into a basis.

use std::f64::consts::PI;
use std::sync::Arc;

use cosift_kernels::{Layout, MAX_LEADING, MAX_ONE_PRODUCT, rotate};
use nalgebra::DMatrix;

use crate::snapshot::axes::CHUNK;
use crate::snapshot::completion::{Completion, floats};
use crate::snapshot::mixing::{Spread, bands, mix};

/// An orthonormal matrix, in the form that multiplies fastest.
#[derive(Debug)]
pub(super) enum Rotation {
    /// The same matrix for all data.
    Spread(Spread),
    /// The matrix by rows, `dims x dims` of the layout.
    Matrix(Vec<f32>),
    /// Above [`MAX_ONE_PRODUCT`] dimensions: the leading axes, completed, and then each band of the layout is mixed.
    Completion(Arc<Completion>),
}

/// Axes of which the rotation for each layout is made.
pub(super) enum Axes {
    All(DMatrix<f64>),
    Leading {
        many: Arc<Completion>,
        /// The first axis only.
        first: Arc<Completion>,
    },
}

impl Axes {
    /// Axes, longest first: all up to [`MAX_ONE_PRODUCT`] dimensions, else the leading ones. `None` when they are not
    /// orthonormal, or when `stop` returns true.
    pub(super) fn of(axes: DMatrix<f64>, stop: &dyn Fn() -> bool) -> Option<Self> {
        if axes.nrows() <= MAX_ONE_PRODUCT {
            return Some(Self::All(axes));
        }
        let complete = |count| {
            let leading = axes.columns(0, count).into_owned();
            Completion::of(&leading, stop).map(Arc::new)
        };
        Some(Self::Leading {
            many: complete(MAX_LEADING)?,
            first: complete(1)?,
        })
    }

    /// A sample as [`Axes::rotate`] reads it: what is the same for every layout is computed once. `None` when `stop` returns
    /// true.
    pub(super) fn prepare(
        &self,
        dims: usize,
        sample: Vec<f32>,
        stop: &dyn Fn() -> bool,
    ) -> Option<Vec<f32>> {
        let Self::Leading { many, .. } = self else {
            return Some(sample);
        };
        let mut prepared = vec![0.0; sample.len()];
        let chunk = CHUNK * dims;
        for (from, to) in sample.chunks(chunk).zip(prepared.chunks_mut(chunk)) {
            if stop() {
                return None;
            }
            many.apply(from, to);
        }
        Some(prepared)
    }

    /// The rotation for a layout, and the [prepared](Axes::prepare) sample rotated. Beyond [`MAX_ONE_PRODUCT`] dimensions
    /// along an axis, another completion of the same axis rotates the sample. `None` when `stop` returns true.
    pub(super) fn rotate(
        &self,
        layout: &Layout,
        prepared: &[f32],
        stop: &dyn Fn() -> bool,
    ) -> Option<(Rotation, Vec<f32>)> {
        match self {
            Self::All(axes) => {
                let matrix = mixed_within_bands(axes, layout, stop)?;
                let mut rotated = vec![0.0; prepared.len()];
                let chunk = CHUNK * layout.dims();
                for (from, to) in prepared.chunks(chunk).zip(rotated.chunks_mut(chunk)) {
                    if stop() {
                        return None;
                    }
                    rotate(&matrix, layout.dims(), from, to);
                }
                Some((Rotation::Matrix(matrix), rotated))
            }
            Self::Leading { many, first } => {
                let mut rotated = prepared.to_vec();
                mix(layout, &mut rotated);
                let completion = if layout.is_along_axis() { first } else { many };
                Some((Rotation::Completion(Arc::clone(completion)), rotated))
            }
        }
    }
}

impl Rotation {
    /// The rotation of a database for which no axes were learned.
    pub(super) fn spread(dims: usize) -> Self {
        Self::Spread(Spread::new(dims))
    }

    /// Whether the rotation was learned from a sample.
    pub(super) fn is_learned(&self) -> bool {
        !matches!(self, Self::Spread(_))
    }

    /// Bytes of matrices that the rotation of a vector reads.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Spread(_) => 0,
            Self::Matrix(matrix) => size_of_val(matrix.as_slice()),
            Self::Completion(completion) => completion.bytes(),
        }
    }

    /// Rotates concatenated vectors of the layout's dimensions.
    pub(super) fn apply(&self, layout: &Layout, vectors: &[f32], out: &mut [f32]) {
        match self {
            Self::Spread(spread) => {
                out.copy_from_slice(vectors);
                spread.apply(out);
            }
            Self::Matrix(matrix) => rotate(matrix, layout.dims(), vectors, out),
            Self::Completion(completion) => {
                completion.apply(vectors, out);
                mix(layout, out);
            }
        }
    }

    /// Appends the rotation as bytes.
    pub(super) fn to_bytes(&self, out: &mut Vec<u8>) {
        match self {
            // No axes.
            Self::Spread(_) => out.extend_from_slice(&0_u32.to_le_bytes()),
            Self::Matrix(matrix) => {
                for component in matrix {
                    out.extend_from_slice(&component.to_le_bytes());
                }
            }
            Self::Completion(completion) => completion.to_bytes(out),
        }
    }

    /// Reads [`Rotation::to_bytes`]; `None` when the lengths do not fit.
    pub(super) fn from_bytes(dims: usize, bytes: &[u8]) -> Option<Self> {
        if bytes == 0_u32.to_le_bytes() {
            return Some(Self::spread(dims));
        }
        if bytes.len() == dims.checked_mul(dims)?.checked_mul(4)? {
            return Some(Self::Matrix(floats(bytes)));
        }
        let completion = Completion::from_bytes(dims, bytes)?;
        Some(Self::Completion(Arc::new(completion)))
    }
}

/// Rows of an orthonormal matrix: the axes, those of each band of a layout mixed with each other, as by
/// [`mix`]. `None` when `stop` returns true.
fn mixed_within_bands(
    axes: &DMatrix<f64>,
    layout: &Layout,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<f32>> {
    let mut mixed = axes.clone();
    let mut start = 0;
    for width in bands(layout) {
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

#[cfg(test)]
mod tests;
