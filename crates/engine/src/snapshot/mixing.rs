//! Mixing the components of vectors with each other.

use cosift_kernels::Layout;

use crate::snapshot::axes::Noise;

/// The lengths of the bands whose components are mixed. The component along an axis is a band of its own.
pub(super) fn bands(layout: &Layout) -> [usize; 3] {
    if layout.is_along_axis() {
        [1, layout.fine() - 1, 0]
    } else {
        [layout.fine(), layout.coarse(), layout.tail()]
    }
}

/// Mixes the components of each band of concatenated rotated vectors by Hadamard transforms, which keep the norm.
///
/// The few long axes of a band would set the step that all codes of the band are rounded by. Mixed, the components have
/// about the same length, and codes of the same size have an error smaller by a sixth.
pub(super) fn mix(layout: &Layout, vectors: &mut [f32]) {
    for vector in vectors.chunks_exact_mut(layout.dims()) {
        let mut rest = vector;
        for length in bands(layout) {
            let (band, after) = rest.split_at_mut(length);
            rest = after;
            if length > 1 {
                let width = 1 << length.ilog2();
                transform(&mut band[..width]);
                // A second transform that overlaps with the first reaches the others.
                if width < length {
                    transform(&mut band[length - width..]);
                }
            }
        }
    }
}

/// A pseudorandom rotation that spreads a few long components over all of them. It is the same for all data, so vectors can be
/// coded before axes are learned.
///
/// Codes have one step for all components. Where a few components are much longer than the others, which embedding models
/// with thousands of dimensions are known for, codes without this rotation would lose the other components.
#[derive(Debug)]
pub(super) struct Spread {
    /// The signs of the components before the first transform, and before the second one.
    signs: [Vec<f32>; 2],
}

impl Spread {
    pub(super) fn new(dims: usize) -> Self {
        let mut noise = Noise::new(5);
        let mut signs = || {
            (0..dims)
                .map(|_| 1.0_f32.copysign(noise.next() as f32))
                .collect()
        };
        Self {
            signs: [signs(), signs()],
        }
    }

    /// Rotates concatenated vectors.
    pub(super) fn apply(&self, vectors: &mut [f32]) {
        let dims = self.signs[0].len();
        let width = 1 << dims.ilog2();
        for vector in vectors.chunks_exact_mut(dims) {
            for (start, signs) in [0, dims - width].into_iter().zip(&self.signs) {
                // Without other signs, the second transform would undo a part of the first.
                vector
                    .iter_mut()
                    .zip(signs)
                    .for_each(|(part, sign)| *part *= sign);
                transform(&mut vector[start..start + width]);
                if width == dims {
                    break;
                }
            }
        }
    }
}

/// The Hadamard transform of `2^n` components. The operations have one order, so the result has the same bits on every CPU.
fn transform(part: &mut [f32]) {
    let scale = (1.0 / (part.len() as f64).sqrt()) as f32;
    let mut half = 1;
    while half < part.len() {
        for pair in part.chunks_exact_mut(2 * half) {
            let (left, right) = pair.split_at_mut(half);
            for (left, right) in left.iter_mut().zip(right) {
                (*left, *right) = (*left + *right, *left - *right);
            }
        }
        half *= 2;
    }
    part.iter_mut().for_each(|part| *part *= scale);
}
