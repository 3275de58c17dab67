use std::cell::Cell;

use nalgebra::DVector;

use super::*;

/// Unit vectors whose variance decreases along hidden axes, as that of embeddings does.
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

/// The share of the sample's squared length along the first `width` columns.
fn share(axes: &DMatrix<f64>, moments: &DMatrix<f64>, width: usize) -> f64 {
    let first = axes.columns(0, width);
    (first.transpose() * moments * first).trace() / moments.trace()
}

#[test]
fn the_leading_axes_hold_as_much_as_those_of_the_full_decomposition() {
    let dimensions = 600;
    let sample = sample(dimensions, 1500);
    let axes = principal_axes(dimensions, 600, &sample, &|| false).expect("a sample");
    let excess = axes.tr_mul(&axes) - DMatrix::identity(LEADING, LEADING);
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
    // All vectors are in a plane, and are zero in the padded dimensions.
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
    let excess = axes.tr_mul(&axes) - DMatrix::identity(LEADING, LEADING);
    assert!(
        excess.amax() < 1e-11,
        "orthonormal within {}",
        excess.amax()
    );
    let moments = second_moments(601, 608, &sample);
    assert!((share(&axes, &moments, 2) - 1.0).abs() < 1e-6);
}

/// Stops at the `at`th check of the stop flag. Returns whether axes were found and the number of checks.
fn count_checks(dimensions: usize, sample: &[f32], at: usize) -> (bool, usize) {
    let checks = Cell::new(0);
    let stop = || {
        checks.set(checks.get() + 1);
        checks.get() >= at
    };
    let found = principal_axes(dimensions, dimensions, sample, &stop);
    (found.is_some(), checks.get())
}

#[test]
fn a_stop_takes_effect_after_a_bounded_number_of_products() {
    let (dimensions, count) = (1024, 2048);
    let sample = sample(dimensions, count);
    let (found, all) = count_checks(dimensions, &sample, usize::MAX);
    assert!(found);
    // One check for each chunk of vectors in each pass over the sample, and for columns that are orthonormalized together.
    let passes = (ITERATIONS + 1) * count.div_ceil(CHUNK);
    let columns = ITERATIONS * LEADING.div_ceil(COLUMNS);
    assert_eq!(all, 1 + passes + columns);
    for at in [1, 2, COLUMNS, COLUMNS + 3, all / 3, all / 2, all - 1, all] {
        assert_eq!(
            count_checks(dimensions, &sample, at),
            (false, at),
            "no work after the stop"
        );
    }
}
