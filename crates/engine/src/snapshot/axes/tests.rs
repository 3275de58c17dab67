use std::cell::Cell;

use super::*;

/// Vectors of unit length whose parts along some hidden axes fall off, as those of embeddings do.
fn sample(dimensions: usize, count: usize) -> Vec<f32> {
    let mut noise = Noise(7);
    let mixing = DMatrix::from_fn(dimensions, dimensions, |_, _| noise.next());
    let mut out = Vec::with_capacity(dimensions * count);
    for _ in 0..count {
        let parts = DVector::from_fn(dimensions, |axis, _| {
            noise.next() / (1.0 + axis as f64 / 8.0)
        });
        let vector = (&mixing * parts).normalize();
        out.extend(vector.iter().map(|&part| part as f32));
    }
    out
}

/// How much of the sample's length lies along the first `width` columns.
fn share(axes: &DMatrix<f64>, moments: &DMatrix<f64>, width: usize) -> f64 {
    let first = axes.columns(0, width);
    (first.transpose() * moments * first).trace() / moments.trace()
}

#[test]
fn the_leading_axes_hold_as_much_as_those_of_the_full_decomposition() {
    let dimensions = 600;
    let sample = sample(dimensions, 1500);
    let axes = principal_axes(dimensions, 600, &sample, &|| false).expect("a sample");
    let excess = axes.tr_mul(&axes) - DMatrix::identity(600, 600);
    assert!(
        excess.amax() < 1e-11,
        "orthonormal within {}",
        excess.amax()
    );
    let moments = second_moments(dimensions, 600, &sample);
    let (best, _) = sorted(moments.clone());
    for width in [64, 128, 192, 256, 320] {
        let (found, best) = (share(&axes, &moments, width), share(&best, &moments, width));
        assert!(found > 0.998 * best, "{width}: {found} of {best}");
    }
}

#[test]
fn vectors_of_few_directions_have_axes_too() {
    // All in a plane; and padded dimensions, in which every vector is zero.
    let sample: Vec<f32> = (0..900)
        .flat_map(|at| {
            let angle = at as f32;
            (0..601).map(move |axis| match axis {
                3 => angle.cos(),
                500 => angle.sin(),
                _ => 0.0,
            })
        })
        .collect();
    let axes = principal_axes(601, 608, &sample, &|| false).expect("a sample");
    let excess = axes.tr_mul(&axes) - DMatrix::identity(608, 608);
    assert!(
        excess.amax() < 1e-11,
        "orthonormal within {}",
        excess.amax()
    );
    let moments = second_moments(601, 608, &sample);
    assert!((share(&axes, &moments, 2) - 1.0).abs() < 1e-6);
}

/// Stops at the `at`th look; how often the flag was looked at in all.
fn looks(dimensions: usize, sample: &[f32], at: usize) -> (bool, usize) {
    let looked = Cell::new(0);
    let stop = || {
        looked.set(looked.get() + 1);
        looked.get() >= at
    };
    let found = principal_axes(dimensions, dimensions, sample, &stop);
    (found.is_some(), looked.get())
}

#[test]
fn a_stop_is_seen_after_a_bounded_number_of_products() {
    let (dimensions, count) = (1024, 2048);
    let sample = sample(dimensions, count);
    let (found, all) = looks(dimensions, &sample, usize::MAX);
    assert!(found);
    // One look a chunk of vectors in each pass over the sample, one a column where columns are made orthonormal.
    let passes = (ITERATIONS + 1) * count.div_ceil(CHUNK);
    let columns = (ITERATIONS + 2) * LEADING + (dimensions - LEADING).div_ceil(CHUNK);
    assert_eq!(all, 1 + passes + columns);
    for at in [1, 2, LEADING, LEADING + 3, all / 3, all / 2, all - 1, all] {
        assert_eq!(
            looks(dimensions, &sample, at),
            (false, at),
            "no work after the stop"
        );
    }
}
