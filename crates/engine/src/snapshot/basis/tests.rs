use super::*;

/// Databases may have codes of an unrotated basis, whose bytes have no rotation.
#[test]
fn an_unrotated_basis_is_read_and_trained_again() {
    let bytes = Basis::untrained(16).to_bytes();
    let unrotated = Basis::from_bytes(FileId::next(), &bytes[..28]).expect("a basis");
    assert!(!unrotated.is_trained());
    let vector: Vec<f32> = (0..16).map(|at| at as f32 / 40.0).collect();
    assert_eq!(*unrotated.rotate(16, &vector), vector);
    assert_eq!(unrotated.to_bytes(), bytes[..28]);
}

#[test]
fn an_untrained_basis_is_the_same_after_a_restart() {
    let basis = Basis::untrained(20);
    let read = Basis::from_bytes(FileId::next(), &basis.to_bytes()).expect("a basis");
    assert!(!read.is_trained());
    let vectors: Vec<f32> = (0..60).map(|at| (at as f32).sin() / 10.0).collect();
    assert_eq!(read.rotate(20, &vectors), basis.rotate(20, &vectors));
    assert_ne!(*basis.rotate(20, &vectors), *pad(20, &vectors, 24));
}
