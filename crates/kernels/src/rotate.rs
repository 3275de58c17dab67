//! The rotation of vectors into the basis of the codes.

use crate::lanes::Lanes;

/// Running sums of one component, one for each lane.
const LANES: usize = 16;
/// Components in one step: the four products in a lane are added to each other before
/// they are added to the running sum.
const STEP: usize = 4 * LANES;
/// Vectors that share the read of a row.
const GROUP: usize = 2;
/// Components of the rows that all vectors are multiplied with before the next rows: 64 kB, which stay in the cache.
const PANEL: usize = 1 << 14;

/// Multiplies a matrix, rows of `dims` components, with concatenated vectors. Each row gives one component of `out`.
///
/// Each component is 16 running sums of four products at a time, then halved until one is left,
/// without fused operations, so the result has the same bits on every CPU. The slack of a
/// query covers the rounding error.
///
/// # Safety
/// The CPU has `L`'s instructions and the caller is compiled for them.
#[inline(always)]
pub(crate) unsafe fn rotate<L: Lanes>(
    matrix: &[f32],
    dims: usize,
    vectors: &[f32],
    out: &mut [f32],
) {
    let width = matrix.len() / dims;
    let rows = (PANEL / dims).max(1);
    for (panel, matrix) in matrix.chunks(rows * dims).enumerate() {
        let groups = vectors
            .chunks(dims * GROUP)
            .zip(out.chunks_mut(width * GROUP));
        for (vectors, out) in groups {
            let first = panel * rows;
            // SAFETY: the caller's contract; each call gets slices of as many vectors as its `N`.
            unsafe {
                if vectors.len() == dims * GROUP {
                    rotate_group::<L, GROUP>(matrix, dims, vectors, &mut out[first..], width);
                } else {
                    for (vector, out) in vectors.chunks_exact(dims).zip(out.chunks_exact_mut(width))
                    {
                        rotate_group::<L, 1>(matrix, dims, vector, &mut out[first..], width);
                    }
                }
            }
        }
    }
}

/// # Safety
/// As for [`rotate`]; there are `N` vectors of `dims`. The components of the vectors in `out` are `width` apart.
#[inline(always)]
unsafe fn rotate_group<L: Lanes, const N: usize>(
    matrix: &[f32],
    dims: usize,
    vectors: &[f32],
    out: &mut [f32],
    width: usize,
) {
    for (component, row) in matrix.chunks_exact(dims).enumerate() {
        let whole = dims - dims % STEP;
        // SAFETY: each load is of 16 components inside the whole steps of a row or vector.
        let sums = unsafe {
            let mut sums = [L::splat(0.0); N];
            for start in (0..whole).step_by(STEP) {
                let row = lanes::<L>(row.as_ptr().add(start));
                for (index, sums) in sums.iter_mut().enumerate() {
                    let vector = lanes::<L>(vectors.as_ptr().add(index * dims + start));
                    let left = L::add(L::mul(row[0], vector[0]), L::mul(row[1], vector[1]));
                    let right = L::add(L::mul(row[2], vector[2]), L::mul(row[3], vector[3]));
                    *sums = L::add(*sums, L::add(left, right));
                }
            }
            sums.map(|sums| L::store(sums))
        };
        for (index, mut sums) in sums.into_iter().enumerate() {
            let vector = &vectors[index * dims..][..dims];
            for (at, (row, vector)) in row[whole..].iter().zip(&vector[whole..]).enumerate() {
                sums[at % LANES] += row * vector;
            }
            out[index * width + component] = total(sums);
        }
    }
}

/// # Safety
/// As for [`rotate`]; `at` has 64 components.
#[inline(always)]
unsafe fn lanes<L: Lanes>(at: *const f32) -> [L::Floats; 4] {
    // SAFETY: the caller's contract.
    unsafe {
        [
            L::load(at),
            L::load(at.add(LANES)),
            L::load(at.add(2 * LANES)),
            L::load(at.add(3 * LANES)),
        ]
    }
}

#[inline(always)]
fn total(mut sums: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}
