use super::*;
use crate::snapshot::axes::{Noise, principal_axes};

fn unit_vectors(dims: usize, count: usize) -> Vec<f32> {
    let mut noise = Noise::new(11);
    let mut out = Vec::new();
    for _ in 0..count {
        // A few components are far longer than the others.
        let parts: Vec<f64> = (0..dims)
            .map(|at| noise.next() * if at % 97 == 0 { 20.0 } else { 1.0 })
            .collect();
        let norm = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
        out.extend(parts.iter().map(|part| (part / norm) as f32));
    }
    out
}

fn product(a: &[f32], b: &[f32]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(&a, &b)| f64::from(a) * f64::from(b))
        .sum()
}

/// The rotation of learned axes for a layout, read from its bytes.
fn learned(axes: &Axes, layout: &Layout) -> Rotation {
    let (rotation, _) = axes.rotate(layout, &[], &|| false).expect("not stopped");
    let mut bytes = Vec::new();
    rotation.to_bytes(&mut bytes);
    Rotation::from_bytes(layout.dims(), &bytes).expect("its bytes")
}

/// The largest difference between a product of two of the vectors and that of the rotated ones.
fn error(rotation: &Rotation, layout: &Layout, vectors: &[f32]) -> f64 {
    let mut rotated = vec![0.0; vectors.len()];
    rotation.apply(layout, vectors, &mut rotated);
    let pairs = || {
        let dims = layout.dims();
        vectors.chunks_exact(dims).zip(rotated.chunks_exact(dims))
    };
    pairs()
        .flat_map(|(a, turned_a)| {
            pairs().map(move |(b, turned_b)| (product(a, b) - product(turned_a, turned_b)).abs())
        })
        .fold(0.0, f64::max)
}

fn layouts(dims: usize) -> [Layout; 4] {
    [
        Layout::new(dims, 64, 64),
        Layout::new(dims, 64, 256),
        Layout::new(dims, 64, dims - 64),
        Layout::along_axis(dims),
    ]
    .map(|layout| layout.expect("a layout"))
}

#[test]
fn products_of_rotated_vectors_are_those_of_the_vectors() {
    for dims in [512, 520, 768, 1536, 4096] {
        let vectors = unit_vectors(dims, 400);
        let axes = principal_axes(dims, dims, &vectors, &|| false).expect("a sample");
        let axes = Axes::of(axes, &|| false).expect("orthonormal axes");
        for layout in layouts(dims) {
            let error = error(&learned(&axes, &layout), &layout, &vectors[..24 * dims]);
            assert!(error < 2e-6, "{error} in {dims} dimensions");
        }
    }
}

#[test]
fn a_sample_is_rotated_as_vectors_are() {
    for dims in [384, 640] {
        let vectors = unit_vectors(dims, 700);
        let axes = principal_axes(dims, dims, &vectors, &|| false).expect("a sample");
        let axes = Axes::of(axes, &|| false).expect("orthonormal axes");
        let prepared = axes
            .prepare(dims, vectors.clone(), &|| false)
            .expect("not stopped");
        let layout = Layout::new(dims, 64, 128).expect("a layout");
        let (rotation, sample) = axes
            .rotate(&layout, &prepared, &|| false)
            .expect("not stopped");
        let mut rotated = vec![0.0; vectors.len()];
        rotation.apply(&layout, &vectors, &mut rotated);
        assert_eq!(sample, rotated);
    }
}

#[test]
fn a_vector_along_the_first_axis_has_its_first_component() {
    let dims = 640;
    let vectors = unit_vectors(dims, 700);
    let axes = principal_axes(dims, dims, &vectors, &|| false).expect("a sample");
    let first: Vec<f32> = axes.column(0).iter().map(|&part| part as f32).collect();
    let axes = Axes::of(axes, &|| false).expect("orthonormal axes");
    let layout = Layout::along_axis(dims).expect("a layout");
    let mut rotated = vec![0.0; dims];
    learned(&axes, &layout).apply(&layout, &first, &mut rotated);
    assert!(rotated[0] > 0.9999, "{}", rotated[0]);
}

#[test]
fn unit_vectors_are_axes_too() {
    let dims = 640;
    // The component of an axis, and its sign. With these axes, reflections one after the other would add up their errors.
    let arrangements: [fn(usize) -> (usize, f64); 6] = [
        |axis| (axis, 1.0),
        |axis| (axis, -1.0),
        |axis| (axis + 1, 1.0),
        |axis| (351 - axis, if axis % 3 == 0 { -1.0 } else { 1.0 }),
        |axis| (639 - axis, 1.0),
        |axis| (axis * 7 % 640, 1.0),
    ];
    let mut vectors = unit_vectors(dims, 8);
    for unit in 0..8 {
        vectors.extend((0..dims).map(|at| if at == unit * 91 { 1.0 } else { 1e-42 }));
    }
    for (at, arrangement) in arrangements.into_iter().enumerate() {
        let mut axes = DMatrix::zeros(dims, 352);
        for axis in 0..352 {
            let (component, sign) = arrangement(axis);
            axes[(component, axis)] = sign;
        }
        let Some(axes) = Axes::of(axes, &|| false) else {
            panic!("arrangement {at} is orthonormal")
        };
        for layout in layouts(dims) {
            let error = error(&learned(&axes, &layout), &layout, &vectors);
            assert!(error < 2e-6, "{error}");
        }
        let layout = Layout::new(dims, 64, 256).expect("a layout");
        let vector: Vec<f32> = (0..dims)
            .map(|at| f32::from(u8::from(at == arrangement(5).0)))
            .collect();
        let mut rotated = vec![0.0; dims];
        learned(&axes, &layout).apply(&layout, &vector, &mut rotated);
        assert!((product(&rotated[..64], &rotated[..64]) - 1.0).abs() < 1e-6);
    }
}

#[test]
fn axes_that_are_not_orthonormal_are_rejected() {
    let dims = 640;
    let unit = |row: usize, axis: usize| f64::from(u8::from(row == axis + 1));
    for (row, column, excess) in [
        (1, 0, 1e-5),
        (300, 20, 1e-5),
        (320, 319, 1e-5),
        (2, 1, f64::NAN),
    ] {
        let mut axes = DMatrix::from_fn(dims, 352, unit);
        axes[(row, column)] += excess;
        assert!(Axes::of(axes, &|| false).is_none(), "{row}, {column}");
    }
}

#[test]
fn a_square_matrix_of_many_dimensions_is_read() {
    let dims = 520;
    let swap = |at: usize| f32::from(u8::from(at / dims == dims - 1 - at % dims));
    let bytes: Vec<u8> = (0..dims * dims)
        .flat_map(|at| swap(at).to_le_bytes())
        .collect();
    let rotation = Rotation::from_bytes(dims, &bytes).expect("a matrix");
    let vectors = unit_vectors(dims, 3);
    let mut rotated = vec![0.0; vectors.len()];
    rotation.apply(
        &Layout::new(dims, 64, 64).expect("a layout"),
        &vectors,
        &mut rotated,
    );
    let reversed = vectors
        .chunks_exact(dims)
        .flat_map(|vector| vector.iter().rev());
    assert!(reversed.eq(&rotated));
    assert!(Rotation::from_bytes(dims, &bytes[4..]).is_none());
}

#[test]
fn the_first_rotation_keeps_products_and_leaves_no_long_component() {
    for dims in [8, 24, 384, 768, 1536, 4096] {
        let layout = Layout::identity(dims).expect("a layout");
        let mut bytes = Vec::new();
        Rotation::spread(dims).to_bytes(&mut bytes);
        let rotation = Rotation::from_bytes(dims, &bytes).expect("its bytes");
        assert!(!rotation.is_learned());
        let vectors = unit_vectors(dims, 12);
        let error = error(&rotation, &layout, &vectors);
        assert!(error < 2e-6, "{error} in {dims} dimensions");
        for unit in [0, dims / 3, dims - 1] {
            let vector: Vec<f32> = (0..dims)
                .map(|at| f32::from(u8::from(at == unit)))
                .collect();
            let mut rotated = vec![0.0; dims];
            rotation.apply(&layout, &vector, &mut rotated);
            let longest = rotated
                .iter()
                .fold(0.0_f32, |longest, part| longest.max(part.abs()));
            let usual = 1.0 / (dims as f32).sqrt();
            assert!(longest < 6.0 * usual, "{longest} in {dims} dimensions");
        }
    }
}
