use super::*;

#[test]
fn a_basis_without_a_rotation_is_refused() {
    let bytes = Basis::untrained(16).to_bytes();
    assert!(Basis::from_bytes(FileId::next(), &bytes[..28]).is_none());
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
