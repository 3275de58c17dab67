//! The rotation of a vector into the basis of the codes.

/// Running sums of one component.
const SUMS: usize = 64;

/// Multiplies a matrix of rows with a vector, one component of `out` a row.
///
/// Each component is 64 running sums, then halved until one is left, without fused operations:
/// the compiler vectorises that for the caller's instruction set and the result has the same bits
/// on every CPU. The rounding error this leaves is part of a query's slack.
#[inline(always)]
pub(crate) fn rotate(matrix: &[f32], vector: &[f32], out: &mut [f32]) {
    for (row, out) in matrix.chunks_exact(vector.len()).zip(out) {
        *out = dot(row, vector);
    }
}

#[inline(always)]
fn dot(row: &[f32], vector: &[f32]) -> f32 {
    let (rows, row_rest) = row.as_chunks::<SUMS>();
    let (vectors, vector_rest) = vector.as_chunks::<SUMS>();
    let mut sums = [0.0_f32; SUMS];
    for (row, vector) in rows.iter().zip(vectors) {
        for lane in 0..SUMS {
            sums[lane] += row[lane] * vector[lane];
        }
    }
    for (sum, (row, vector)) in sums.iter_mut().zip(row_rest.iter().zip(vector_rest)) {
        *sum += row * vector;
    }
    let mut width = SUMS / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}
