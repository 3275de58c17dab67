//! Selects the kernel for this CPU, and checks the arguments of its functions.

use std::sync::OnceLock;

use crate::check::agrees_with_reference;
use crate::codes::Codes;
use crate::kernel::Kernel;
use crate::layout::BLOCK_RECORDS;
use crate::low_nibbles::LowNibbles;
use crate::nearness::Nearness;
use crate::query::Query;
use crate::residence::Residence;
use crate::scalar::SCALAR;
use crate::scan::{Candidate, Mask, Scan, Wanted};

/// The environment variable that names a kernel to use instead of the best one. A name that is
/// unknown or that this CPU does not support is ignored.
const OVERRIDE: &str = "COSIFT_KERNEL";

/// Fastest first. The last kernel runs on every CPU.
#[cfg(target_arch = "x86_64")]
pub(crate) static KERNELS: &[&Kernel] = &[
    &crate::x86::AMX_INT8,
    &crate::x86::AVX512_VNNI,
    &crate::x86::AVX_VNNI,
    &crate::x86::AVX2,
    &SCALAR,
];
#[cfg(target_arch = "aarch64")]
pub(crate) static KERNELS: &[&Kernel] = &[&crate::neon::NEON_DOT, &SCALAR];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) static KERNELS: &[&Kernel] = &[&SCALAR];

/// Pruning pass 1: bounds the cosine of every record of a scan's mask, and adds a candidate for each record whose cosine
/// may be between floor and ceiling.
///
/// All scans share one read of the codes, so a few scans cost little more than one.
///
/// # Panics
/// When a query has another layout than the codes.
pub fn scan_codes(codes: &Codes, residence: Residence, scans: &mut [Scan<'_>]) {
    for scan in &*scans {
        assert_eq!(
            scan.query.layout(),
            codes.layout(),
            "query has the codes' layout"
        );
    }
    // SAFETY: the kernel is available, and the layouts are equal.
    unsafe { (kernel().scan_codes)(codes, residence, scans) }
}

/// Pruning pass 2: narrows the bounds of candidates of [`scan_codes`] by the high nibbles of their tails, and drops those that
/// are not `wanted`.
///
/// If the head holds all codes, the candidates do not change.
///
/// # Panics
/// When the query has another layout than the codes, or a candidate is not one of their records.
pub fn refine(codes: &Codes, query: &Query, wanted: &mut Wanted<'_>, found: &mut Vec<Candidate>) {
    check(codes, query, found);
    if codes.layout().row_bytes() > 0 {
        // SAFETY: the kernel is available, the layouts are equal, and the slots are records.
        unsafe { (kernel().refine)(codes, query, wanted, found) }
    }
}

/// Pruning pass 3: narrows the bounds of candidates by the low nibbles of their records, and drops those that are not `wanted`.
/// The bounds must be those of [`refine`].
///
/// If the head holds all codes and there is no axis, the candidates do not change.
///
/// # Panics
/// As [`refine`], and when `low` are not those of as many records of the same layout.
pub fn refine_low(
    codes: &Codes,
    low: &LowNibbles,
    query: &Query,
    wanted: &mut Wanted<'_>,
    found: &mut Vec<Candidate>,
) {
    check(codes, query, found);
    let of_codes = (codes.layout(), codes.records());
    assert_eq!(
        (low.layout(), low.records()),
        of_codes,
        "low nibbles are those of the records"
    );
    if codes.layout().row_bytes() > 0 || codes.layout().is_along_axis() {
        // SAFETY: as for `refine`; `low` has a row for each record.
        unsafe { (kernel().refine_low)(codes, low, query, wanted, found) }
    }
}

fn check(codes: &Codes, query: &Query, found: &[Candidate]) {
    assert_eq!(
        query.layout(),
        codes.layout(),
        "query has the codes' layout"
    );
    let within = |candidate: &Candidate| usize::from(candidate.slot) < codes.records();
    assert!(found.iter().all(within), "candidates are records");
}

/// Prefetches what [`refine`] reads first of candidates.
pub fn prefetch(codes: &Codes, found: &[Candidate]) {
    // SAFETY: the kernel is available.
    unsafe { (kernel().prefetch)(codes, found) }
}

/// The dot product of two vectors of Q30 components, in Q60.
///
/// # Panics
/// When the lengths differ.
#[must_use]
pub fn exact(query: &[i32], record: &[i32]) -> i64 {
    assert_eq!(query.len(), record.len(), "vectors have equal lengths");
    // SAFETY: the kernel is available.
    unsafe { (kernel().exact)(query, record) }
}

/// Multiplies a matrix, rows of `dims` components, with each of the concatenated `vectors`. `out` gets the products in the
/// same order.
///
/// The vectors of a call share the reads of the matrix. The result has the same bits for any number of vectors and on
/// every CPU. For the bounds of a scan to hold, what the products are used for must be orthonormal to 1e-5.
///
/// # Panics
/// When the matrix is empty or has an incomplete row, the length of `vectors` is not a multiple of the dimensions, or
/// `out` has not one component for each row and vector.
pub fn rotate(matrix: &[f32], dims: usize, vectors: &[f32], out: &mut [f32]) {
    assert!(
        dims > 0 && !matrix.is_empty() && matrix.len().is_multiple_of(dims),
        "matrix has complete rows"
    );
    assert!(
        vectors.len().is_multiple_of(dims),
        "vectors have the matrix's dimensions"
    );
    assert_eq!(
        out.len(),
        vectors.len() / dims * (matrix.len() / dims),
        "out has a component for each row and vector"
    );
    // SAFETY: the kernel is available.
    unsafe { (kernel().rotate)(matrix, dims, vectors, out) }
}

/// The records of `within` whose number is in `low..=high`; `values` has one number for each record.
///
/// # Panics
/// When there are more values than a block has records.
#[must_use]
pub fn integers_between(values: &[u64], low: u64, high: u64, within: &Mask) -> Mask {
    assert!(values.len() <= BLOCK_RECORDS, "values are those of a block");
    // SAFETY: the kernel is available.
    unsafe { (kernel().integers_between)(values, low, high, within) }
}

/// The records of `within` whose number of 40 bits is in `low..=high`. For each record, `upper` has the number without its
/// lowest byte, and `lowest` has that byte.
///
/// # Panics
/// When the slices differ in length, there are more values than a block has records, or `low..=high` is empty or has
/// numbers of more than 40 bits.
#[must_use]
pub fn split_integers_between(
    upper: &[u32],
    lowest: &[u8],
    low: u64,
    high: u64,
    within: &Mask,
) -> Mask {
    assert_eq!(upper.len(), lowest.len(), "each value has all bytes");
    assert!(upper.len() <= BLOCK_RECORDS, "values are those of a block");
    assert!(low <= high && high < 1 << 40, "the range is of 40 bits");
    // SAFETY: the kernel is available.
    unsafe { (kernel().split_integers_between)(upper, lowest, low, high, within) }
}

/// The records of `within` whose IEEE double is in `low..=high`; `values` has one number for each record.
///
/// # Panics
/// When there are more values than a block has records.
#[must_use]
pub fn floats_between(values: &[f64], low: f64, high: f64, within: &Mask) -> Mask {
    assert!(values.len() <= BLOCK_RECORDS, "values are those of a block");
    // SAFETY: the kernel is available.
    unsafe { (kernel().floats_between)(values, low, high, within) }
}

/// Appends the places of the numbers that differ from `wanted` in at most `max` bits, ascending.
pub fn find_near(numbers: &[u32], wanted: u32, max: u32, places: &mut Vec<u32>) {
    // SAFETY: the kernel is available.
    unsafe { (kernel().find_near)(numbers, wanted, max, places) }
}

/// Adds what numbers count by their nearness to a target, times `weight`, to their sums; only for those whose bit is set in
/// `within`. The sums must stay below 2^64.
pub fn add_nearness(
    numbers: &[f64; 64],
    within: u64,
    nearness: Nearness,
    weight: u32,
    sums: &mut [u64; 64],
) {
    // SAFETY: the kernel is available.
    unsafe { (kernel().add_nearness)(numbers, within, nearness, weight, sums) }
}

/// The instruction set in use: `amx-int8`, `avx512-vnni`, `avx-vnni`, `avx2`, `neon-dot` or
/// `scalar`.
#[must_use]
pub fn kernel_name() -> &'static str {
    kernel().name
}

fn kernel() -> &'static Kernel {
    static CHOSEN: OnceLock<&Kernel> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let named = std::env::var(OVERRIDE).ok();
        let named = KERNELS
            .iter()
            .filter(|kernel| named.as_deref() == Some(kernel.name));
        named
            .chain(KERNELS)
            .copied()
            .find(|kernel| (kernel.available)() && agrees_with_reference(kernel))
            .unwrap_or(&SCALAR)
    })
}
