//! Given orthonormal rows, completed to an orthonormal matrix.

use cosift_kernels::{MAX_LEADING, MAX_ONE_PRODUCT, rotate};
use nalgebra::{Cholesky, DMatrix};

use crate::snapshot::axes::{Noise, orthonormalize, sorted};

/// An orthonormal matrix whose first rows are `A`, the leading axes.
///
/// Let `A = [A1 A2]` with a square `A1`, let the orthogonal `P` and the symmetric, positive semidefinite `S` be the polar
/// decomposition `P A1 = S`, and let `W = [P A1 + I, P A2]`. Then `I - W^T (I + S)^-1 W` is a reflection that turns the span
/// of the axes into that of the first unit vectors. Its other rows complete the axes: they are `[0 I] - G W` with
/// `G = (P A2)^T (I + S)^-1`. The norms of `A`, `P` and `G` are at most 1 for all axes, so rounding errors are small even
/// if the axes are unit vectors.
///
/// A vector takes `2 * dims * count` products instead of the `dims * dims` of a matrix. Most axes of a vector with
/// thousands of dimensions only complete the basis, in no order.
#[derive(Debug)]
pub(super) struct Completion {
    dims: usize,
    count: usize,
    /// `A`, `count x dims`, by rows.
    axes: Vec<f32>,
    /// `P`, `count x count`, by rows.
    polar: Vec<f32>,
    /// `G`, `(dims - count) x count`, by rows.
    others: Vec<f32>,
}

/// The largest [`Completion::excess`]. The bounds of a scan allow for 1e-5, more than the rounding errors of 64-bit numbers
/// above it.
const MAX_EXCESS: f64 = 9e-6;

impl Completion {
    /// Completes the columns of `leading`, at most [`MAX_LEADING`] of more than [`MAX_ONE_PRODUCT`] components. `None` when
    /// they are not orthonormal, or when `stop` returns true.
    pub(super) fn of(leading: &DMatrix<f64>, stop: &dyn Fn() -> bool) -> Option<Self> {
        let (dims, count) = leading.shape();
        let (first, last) = (leading.rows(0, count), leading.rows(count, dims - count));
        // The singular value decomposition of the transpose of `A1`. The left vectors of tiny singular values are inexact,
        // but orthonormal. What they have in common with others is tiny, too.
        let (right, _) = sorted(first.transpose() * first);
        let mut left = first * &right;
        let values: Vec<f64> = left.column_iter().map(|column| column.norm()).collect();
        orthonormalize(&mut left, &mut Noise::new(2), stop)?;
        let polar = &left * right.transpose();
        let mut shrunk = left.transpose();
        for (mut row, value) in shrunk.row_iter_mut().zip(values) {
            row /= 1.0 + value;
        }
        let others = last * (right * shrunk);
        // The columns of a nalgebra matrix are contiguous, so these are the rows of its transpose.
        let narrow = |matrix: &DMatrix<f64>| matrix.iter().map(|&part| part as f32).collect();
        let completion = Self {
            dims,
            count,
            axes: narrow(leading),
            polar: narrow(&polar.transpose()),
            others: narrow(&others.transpose()),
        };
        // Also false for NaN.
        (completion.excess()? <= MAX_EXCESS).then_some(completion)
    }

    /// Bytes of the matrices.
    pub(super) fn bytes(&self) -> usize {
        2 * self.dims * self.count * size_of::<f32>()
    }

    /// Rotates concatenated vectors. The first components of `out` are those along the leading axes.
    pub(super) fn apply(&self, vectors: &[f32], out: &mut [f32]) {
        let (dims, count) = (self.dims, self.count);
        let records = vectors.len() / dims;
        let mut along = vec![0.0; records * count];
        rotate(&self.axes, dims, vectors, &mut along);
        let mut turned = vec![0.0; records * count];
        rotate(&self.polar, count, &along, &mut turned);
        for (turned, vector) in turned
            .chunks_exact_mut(count)
            .zip(vectors.chunks_exact(dims))
        {
            turned
                .iter_mut()
                .zip(vector)
                .for_each(|(sum, part)| *sum += part);
        }
        let mut reflected = vec![0.0; records * (dims - count)];
        rotate(&self.others, count, &turned, &mut reflected);
        let sources = vectors
            .chunks_exact(dims)
            .zip(along.chunks_exact(count))
            .zip(reflected.chunks_exact(dims - count));
        for (out, ((vector, along), reflected)) in out.chunks_exact_mut(dims).zip(sources) {
            let (first, last) = out.split_at_mut(count);
            first.copy_from_slice(along);
            let differences = vector[count..].iter().zip(reflected);
            last.iter_mut()
                .zip(differences)
                .for_each(|(out, (part, reflected))| *out = part - reflected);
        }
    }

    /// An upper bound of the spectral norm of `R R^T - I`, where `R` is the matrix that the stored numbers represent: the
    /// most by which exact arithmetic would change a dot product of unit vectors. `None` when no bound is known.
    ///
    /// With `N = [0 I] - G (P A + [I 0])`, the rows of `R` below `A`, the symmetric `S = (P A1 + (P A1)^T) / 2`, and
    /// `D = (P A2)^T - G (I + S)`:
    ///
    /// - `N A^T = A2^T - G (P A A^T + A1^T)`
    /// - `N N^T - I = G (P A A^T P^T - I) G^T - D G^T - G D^T`
    fn excess(&self) -> Option<f64> {
        let (dims, count) = (self.dims, self.count);
        let wide = |rows, columns, numbers: &[f32]| {
            DMatrix::from_row_iterator(rows, columns, numbers.iter().map(|&part| f64::from(part)))
        };
        let axes = wide(count, dims, &self.axes);
        let polar = wide(count, count, &self.polar);
        let others = wide(dims - count, count, &self.others);
        let (first, last) = (axes.columns(0, count), axes.columns(count, dims - count));
        let identity = DMatrix::<f64>::identity(count, count);

        let products = &axes * axes.transpose();
        let turned = &polar * first;
        let symmetric = (&turned + turned.transpose()) * 0.5;
        let across = last.transpose() - &others * (&polar * &products + first.transpose());
        let difference = (&polar * last).transpose() - &others * (&identity + &symmetric);
        let seen = &polar * &products * polar.transpose() - &identity;

        // `I + S` has no eigenvalue below 0.98, so `|G| <= (|P| |A2| + |D|) / 0.98`. Frobenius norms are above spectral norms.
        Cholesky::new(&symmetric + &identity * 0.01)?;
        let axes_excess = (&products - &identity).norm();
        let polar_excess = (&polar * polar.transpose() - &identity).norm();
        let longest = f64::sqrt((1.0 + axes_excess) * (1.0 + polar_excess));
        let others_norm = (longest + difference.norm()) / 0.98;
        let others_excess =
            others_norm * others_norm * seen.norm() + 2.0 * difference.norm() * others_norm;
        Some(axes_excess + across.norm() + others_excess)
    }

    /// The matrices as bytes, after the number of axes.
    pub(super) fn to_bytes(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.count as u32).to_le_bytes());
        for component in self.axes.iter().chain(&self.polar).chain(&self.others) {
            out.extend_from_slice(&component.to_le_bytes());
        }
    }

    /// Reads [`Completion::to_bytes`]; `None` when the lengths do not fit.
    pub(super) fn from_bytes(dims: usize, bytes: &[u8]) -> Option<Self> {
        let (count, matrices) = bytes.split_first_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        let fits = dims > MAX_ONE_PRODUCT && (1..=MAX_LEADING).contains(&count);
        if !fits || matrices.len() != dims.checked_mul(count)?.checked_mul(8)? {
            return None;
        }
        let mut axes: Vec<f32> = floats(matrices);
        let mut polar = axes.split_off(count * dims);
        let others = polar.split_off(count * count);
        Some(Self {
            dims,
            count,
            axes,
            polar,
            others,
        })
    }
}

/// The numbers of little-endian bytes.
pub(super) fn floats(bytes: &[u8]) -> Vec<f32> {
    let numbers = bytes.as_chunks::<4>().0.iter();
    numbers.map(|&bytes| f32::from_le_bytes(bytes)).collect()
}
