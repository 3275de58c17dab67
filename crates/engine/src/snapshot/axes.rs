//! The principal axes of a sample of vectors.

use cosift_kernels::MAX_ONE_PRODUCT;
use nalgebra::{DMatrix, SymmetricEigen};

/// Leading axes that are computed beyond [`MAX_ONE_PRODUCT`] dimensions: the 320 axes of the largest head of a code, and 32
/// more, without which the last of the 320 would not converge.
const LEADING: usize = 352;

/// Power iterations. The axes of embeddings change little after the second.
const ITERATIONS: usize = 2;

/// Vectors, or columns, that are multiplied between two checks of the stop flag.
pub(crate) const CHUNK: usize = 64;

/// Columns that are orthonormalized together.
const COLUMNS: usize = 32;

/// Orthonormal columns of `dims` components: the directions in which a sample is longest, longest first.
///
/// `sample` holds vectors of `dimensions` components, one after the other. It is not centred, because a score is a
/// product with the whole vector. There are `dims` columns, but beyond [`MAX_ONE_PRODUCT`] dimensions only the leading
/// axes, by block power iteration (<https://arxiv.org/abs/0909.4061>, algorithm 4.4). All axes of that many dimensions
/// would take minutes. `None` when there is no sample, or when `stop`, which is called often, returns true.
pub(crate) fn principal_axes(
    dimensions: usize,
    dims: usize,
    sample: &[f32],
    stop: &dyn Fn() -> bool,
) -> Option<DMatrix<f64>> {
    if sample.len() < dimensions || stop() {
        return None;
    }
    if dims <= MAX_ONE_PRODUCT {
        return Some(sorted(second_moments(dimensions, dims, sample)).0);
    }
    leading_axes(dimensions, dims, sample, stop)
}

/// The eigenvectors of a symmetric matrix by falling eigenvalue, and the eigenvalues.
pub(super) fn sorted(matrix: DMatrix<f64>) -> (DMatrix<f64>, Vec<f64>) {
    let eigen = SymmetricEigen::new(matrix);
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let values = order.iter().map(|&at| eigen.eigenvalues[at]).collect();
    (eigen.eigenvectors.select_columns(&order), values)
}

/// The mean outer product of the sample.
fn second_moments(dimensions: usize, dims: usize, sample: &[f32]) -> DMatrix<f64> {
    let rows = sample.len() / dimensions;
    let vectors = DMatrix::<f32>::from_column_slice(dimensions, rows, &sample[..rows * dimensions]);
    let product = &vectors * vectors.transpose();
    let mut moments = DMatrix::zeros(dims, dims);
    for column in 0..dimensions {
        for row in 0..dimensions {
            moments[(row, column)] = f64::from(product[(row, column)]) / rows as f64;
        }
    }
    moments
}

/// The first [`LEADING`] axes, `dims x LEADING`.
fn leading_axes(
    dimensions: usize,
    dims: usize,
    sample: &[f32],
    stop: &dyn Fn() -> bool,
) -> Option<DMatrix<f64>> {
    let mut noise = Noise(1);
    let mut axes = DMatrix::from_fn(dimensions, LEADING.min(dimensions), |_, _| noise.next());
    let chunks = || {
        sample
            .chunks(CHUNK * dimensions)
            .map(|chunk| DMatrix::from_column_slice(dimensions, chunk.len() / dimensions, chunk))
    };
    for _ in 0..ITERATIONS {
        let narrow = axes.map(|part| part as f32);
        let mut sum = DMatrix::<f32>::zeros(axes.nrows(), axes.ncols());
        for chunk in chunks() {
            if stop() {
                return None;
            }
            // Not `tr_mul`, which multiplies without blocks.
            let along = chunk.transpose() * &narrow;
            sum.gemm(1.0, &chunk, &along, 1.0);
        }
        axes = sum.map(f64::from);
        orthonormalize(&mut axes, &mut noise, stop)?;
    }
    // Within the space that the axes span, the best ones are those of the sample seen from there.
    let narrow = axes.map(|part| part as f32);
    let mut moments = DMatrix::<f64>::zeros(axes.ncols(), axes.ncols());
    for chunk in chunks() {
        if stop() {
            return None;
        }
        let seen = (chunk.transpose() * &narrow).map(f64::from);
        moments.gemm(1.0, &seen.transpose(), &seen, 1.0);
    }
    let axes = axes * sorted(moments).0;
    Some(axes.resize_vertically(dims, 0.0))
}

/// Makes the columns orthonormal (Gram-Schmidt, twice). A column that depends on the columns before it is replaced.
pub(super) fn orthonormalize(
    columns: &mut DMatrix<f64>,
    noise: &mut Noise,
    stop: &dyn Fn() -> bool,
) -> Option<()> {
    let count = columns.ncols();
    for start in (0..count).step_by(COLUMNS) {
        if stop() {
            return None;
        }
        let end = count.min(start + COLUMNS);
        let (before, mut some) = columns.columns_range_pair_mut(..start, start..end);
        let lengths: Vec<f64> = some.column_iter().map(|column| column.norm()).collect();
        // A product of matrices needs each of the columns before once, and not once for each of these.
        if start > 0 {
            for _ in 0..2 {
                let along = before.transpose() * &some;
                some.gemm(-1.0, &before, &along, 1.0);
            }
        }
        for (at, mut length) in (start..end).zip(lengths) {
            let mut first = start;
            loop {
                let (before, mut rest) = columns.columns_range_pair_mut(first..at, at..end);
                let mut column = rest.column_mut(0);
                for _ in 0..2 {
                    let along = before.tr_mul(&column);
                    column.gemv(-1.0, &before, &along, 1.0);
                }
                let left = column.norm();
                if left > 1e-6 * length && left > 0.0 {
                    column /= left;
                    break;
                }
                column.iter_mut().for_each(|part| *part = noise.next());
                (first, length) = (0, column.norm());
            }
        }
    }
    Some(())
}

/// Pseudorandom numbers between -1 and 1, the same every time (SplitMix64).
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) as i64) as f64 / i64::MAX as f64
    }
}

#[cfg(test)]
mod tests;
