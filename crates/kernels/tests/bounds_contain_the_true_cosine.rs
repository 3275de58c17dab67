//! The true cosine of every record is inside the bounds of every pruning pass, for all kinds of vectors.

mod common;

use common::Random;
use cosift_kernels::{
    Candidate, Codec, Codes, FullCodes, Layout, Query, Residence, Scan, Steps, Wanted, refine,
    refine_low, rotate, scan_codes,
};

const RECORDS: usize = 500;
const QUERIES: usize = 12;

#[test]
fn of_banded_codes() {
    hold_in_bands(384, 64, 128, 0xC0_51F7);
}

#[test]
fn of_bands_that_leave_remainders() {
    hold_in_bands(200, 24, 72, 0xC0_51F8);
}

#[test]
fn of_codes_without_a_fine_band() {
    hold_in_bands(128, 0, 128, 0xC0_51F9);
}

#[test]
fn of_codes_without_a_tail() {
    hold_in_bands(192, 64, 128, 0xC0_5200);
}

#[test]
fn of_codes_without_a_coarse_band() {
    hold_in_bands(200, 120, 0, 0xC0_5202);
}

#[test]
fn of_codes_without_a_rest() {
    hold_in_bands(384, 384, 0, 0xC0_51FA);
}

#[test]
fn of_steps_that_suit_no_vector() {
    let layout = Layout::new(200, 24, 72).expect("valid bands");
    let dims = layout.dims();
    let mut vectors = vectors(&mut Random(0xC0_51FE), dims);
    for (at, vector) in vectors.chunks_exact_mut(dims).enumerate() {
        match at % 7 {
            // All of the length in one dimension.
            0 => {
                vector.fill(0.0);
                vector[at * 3 % dims] = if at % 2 == 0 { 1.0 } else { -1.0 };
            }
            // Numbers below the smallest normal one, and zeros.
            1 => vector.fill(if at % 2 == 0 { 1e-40 } else { 0.0 }),
            // All of the length in the coarse band, and the same in each of its dimensions.
            2 => {
                vector.fill(0.0);
                vector[24..96].fill(1.0 / 72_f32.sqrt());
            }
            // All of the length in the fine band, and the same in each of its dimensions.
            3 => {
                vector.fill(0.0);
                vector[..24].fill(1.0 / 24_f32.sqrt());
            }
            _ => {}
        }
    }
    // With a step of a millionth, even the largest scale clips nearly all components of the band. With a step of 1025, the
    // smallest scale makes the same components of the coarse band 7.5 steps long, so that rounding their codes to high
    // nibbles would more than double them. With a step of 28450, it makes those of the fine band 0.47 steps long. Their code of
    // 12 bits is 16 - 8, so the head alone has an error of 0.53 steps.
    for [fine, coarse, tail] in [
        [28_450.0, 0.01, 0.01],
        [1e-6, 0.01, 1025.0],
        [1025.0, 1e-6, 0.01],
        [0.01, 1025.0, 1e-6],
    ] {
        let steps = Steps { fine, coarse, tail };
        hold_with(&Codec::new(layout, steps), &vectors, &vectors);
    }
}

#[test]
fn of_a_sample_with_dimensions_of_zeros() {
    let layout = Layout::new(200, 24, 72).expect("valid bands");
    let dims = layout.dims();
    let vectors = vectors(&mut Random(0xC0_51FF), dims);
    let mut sample = vectors[..RECORDS / 2 * dims].to_vec();
    for vector in sample.chunks_exact_mut(dims) {
        vector.iter_mut().step_by(3).for_each(|value| *value = 0.0);
        vector[layout.fine()..].fill(0.0);
    }
    let codec = Codec::new(layout, Steps::train(&layout, &sample));
    hold_with(&codec, &vectors, &vectors);
}

#[test]
fn of_codes_along_an_axis() {
    let layout = Layout::along_axis(384).expect("valid dimensions");
    let mut random = Random(0xC0_51FB);
    // All kinds of vectors, then vectors that are nearly the axis: in 384 dimensions their cosines are around 0.99.
    let any = vectors(&mut random, 384);
    hold(layout, &any, 0xC0_51FC);
    let mut axis = vec![0.0; 384];
    axis[0] = 1.0;
    let near: Vec<f32> = (0..RECORDS)
        .flat_map(|_| random.unit_near(&axis, 0.005))
        .collect();
    let [head, _, sharp] = hold(layout, &near, 0xC0_51FD);
    // The cosines differ by 5e-4, and 5e-5 are the rounding that every bound allows for.
    assert!(head < 4e-4 && sharp < 3e-4, "{head} {sharp}");
}

fn hold_in_bands(dims: usize, fine: usize, coarse: usize, seed: u64) {
    let layout = Layout::new(dims, fine, coarse).expect("valid bands");
    let vectors = vectors(&mut Random(seed), dims);
    let [head, full, sharp] = hold(layout, &vectors, seed + 1);
    assert!(
        fine == dims || sharp < 0.8 * full,
        "the remainder of the query narrows the bounds"
    );
    assert!(head < 0.25 && full < 0.07, "the bounds are narrow");
    assert!(
        fine == dims || full < 0.04 && sharp < 0.02,
        "the low nibbles narrow the bounds"
    );
}

/// Checks the bounds of every pass, and returns the mean error of each.
fn hold(layout: Layout, vectors: &[f32], seed: u64) -> [f32; 3] {
    println!("seed {seed:#x}");
    let mut random = Random(seed);
    let dims = layout.dims();
    // Applies the inverse of a rotation and then the rotation, so that the bounds must cover its
    // rounding, and the bands keep their distribution.
    let matrix = rotation(&mut random, dims);
    let inverse: Vec<f32> = (0..dims * dims)
        .map(|at| matrix[at % dims * dims + at / dims])
        .collect();
    let mut original = vec![0.0; vectors.len()];
    rotate(&inverse, dims, vectors, &mut original);
    let mut rotated = vec![0.0; vectors.len()];
    rotate(&matrix, dims, &original, &mut rotated);

    // Only the first half is in the sample, so some of the other vectors are clipped.
    let codec = Codec::new(
        layout,
        Steps::train(&layout, &rotated[..RECORDS / 2 * dims]),
    );
    hold_with(&codec, &original, &rotated)
}

/// As [`hold`], with vectors before and after their rotation.
fn hold_with(codec: &Codec, original: &[f32], rotated: &[f32]) -> [f32; 3] {
    let layout = codec.layout();
    let dims = layout.dims();
    let mut full = FullCodes::new(layout, RECORDS);
    for (slot, vector) in rotated.chunks_exact(dims).enumerate() {
        codec.encode(vector, slot, &mut full);
    }
    let FullCodes { codes, low } = full;
    let asked = (0..QUERIES).map(|query| query * (RECORDS / QUERIES));
    let (mut head_error, mut full_error, mut sharp_error) = (0.0, 0.0, 0.0);
    for query_slot in asked {
        let prepared = codec.query(&rotated[query_slot * dims..][..dims]);
        let mut found = head_step(&codes, &prepared);
        assert_eq!(found.len(), RECORDS);
        let cosine_with = |slot: u16| {
            dot(
                &original[query_slot * dims..][..dims],
                &original[usize::from(slot) * dims..][..dims],
            )
        };
        let check = |candidate: &Candidate| {
            let cosine = cosine_with(candidate.slot);
            let off = (cosine - f64::from(candidate.estimate)).abs();
            assert!(
                off <= f64::from(candidate.error),
                "{cosine} for {candidate:?}"
            );
            candidate.error
        };
        head_error += found.iter().map(check).sum::<f32>();
        for candidate in &found {
            // The floor is the true cosine, so it is inside the bounds and the remainder of the query narrows them.
            let mut alone = vec![*candidate];
            let edge = cosine_with(candidate.slot) as f32;
            refine(&codes, &prepared, &mut from(edge), &mut alone);
            // Also where the low nibbles are left out.
            alone.iter().for_each(|candidate| {
                check(candidate);
            });
            refine_low(&codes, &low, &prepared, &mut from(edge), &mut alone);
            sharp_error += alone.iter().map(check).sum::<f32>();
            assert_eq!(alone.len(), 1, "{candidate:?}");
            // No part of the codes makes the lower bound exceed the cosine, either.
            let mut below = vec![*candidate];
            let mut wanted = Wanted {
                ceiling: edge,
                ..from(f32::NEG_INFINITY)
            };
            refine(&codes, &prepared, &mut wanted, &mut below);
            refine_low(&codes, &low, &prepared, &mut wanted, &mut below);
            assert_eq!(below.len(), 1, "{candidate:?}");
        }
        let wanted = &mut from(f32::NEG_INFINITY);
        refine(&codes, &prepared, wanted, &mut found);
        refine_low(&codes, &low, &prepared, wanted, &mut found);
        assert_eq!(found.len(), RECORDS);
        full_error += found.iter().map(check).sum::<f32>();
    }
    let errors =
        [head_error, full_error, sharp_error].map(|error| error / (RECORDS * QUERIES) as f32);
    let [head, full, sharp] = errors;
    println!("mean error {head} in the head, {full} in full, {sharp} with the remainder");
    errors
}

/// Rows of an orthonormal matrix.
fn rotation(random: &mut Random, dims: usize) -> Vec<f32> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for _ in 0..dims {
        let random_row = random.unit_near(&vec![0.0; dims], 1.0);
        let mut row: Vec<f64> = random_row.into_iter().map(f64::from).collect();
        // Two passes, because the first leaves rounding errors.
        for _ in 0..2 {
            for other in &rows {
                let along: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
                row.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
            }
            let norm = row.iter().map(|value| value * value).sum::<f64>().sqrt();
            row.iter_mut().for_each(|value| *value /= norm);
        }
        rows.push(row);
    }
    rows.into_iter()
        .flatten()
        .map(|value| value as f32)
        .collect()
}

/// Vectors that are spread out, in clusters, or with nearly all their length in one dimension.
fn vectors(random: &mut Random, dims: usize) -> Vec<f32> {
    let nowhere = vec![0.0; dims];
    let centres: Vec<Vec<f64>> = (0..5)
        .map(|_| {
            random
                .unit_near(&nowhere, 1.0)
                .into_iter()
                .map(f64::from)
                .collect()
        })
        .collect();
    (0..RECORDS)
        .flat_map(|record| match record % 4 {
            0 | 1 => random.unit_near(&nowhere, 1.0),
            2 => random.unit_near(&centres[record % 5], 0.05),
            _ => {
                let mut peak = nowhere.clone();
                peak[record * 7 % dims] = 5.0;
                random.unit_near(&peak, if record % 3 == 0 { 0.1 } else { 1.0 })
            }
        })
        .collect()
}

fn head_step(codes: &Codes, query: &Query) -> Vec<Candidate> {
    let mut found = Vec::new();
    let scan = Scan {
        query,
        mask: &[u64::MAX; 64],
        floor: f32::NEG_INFINITY,
        higher: None,
        ceiling: f32::INFINITY,
        found: &mut found,
    };
    scan_codes(codes, Residence::Cache, &mut [scan]);
    found
}

/// All candidates with a cosine from `floor` on.
fn from(floor: f32) -> Wanted<'static> {
    Wanted {
        floor,
        ceiling: f32::INFINITY,
        counted: None,
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(&a, &b)| f64::from(a) * f64::from(b))
        .sum()
}
