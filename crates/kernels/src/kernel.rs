//! The functions of one instruction set.

use crate::codes::Codes;
use crate::low_nibbles::LowNibbles;
use crate::nearness::Nearness;
use crate::query::Query;
use crate::residence::Residence;
use crate::scan::{Candidate, Mask, Scan, Wanted};

/// The functions of one instruction set.
///
/// They are unsafe to call. They may be called only if `available` returns true, and with arguments that
/// [`crate::detect`] has checked.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    /// Whether this CPU and system have the instructions.
    pub(crate) available: fn() -> bool,
    pub(crate) scan_codes: unsafe fn(&Codes, Residence, &mut [Scan<'_>]),
    pub(crate) refine: unsafe fn(&Codes, &Query, &mut Wanted<'_>, &mut Vec<Candidate>),
    pub(crate) refine_low:
        unsafe fn(&Codes, &LowNibbles, &Query, &mut Wanted<'_>, &mut Vec<Candidate>),
    pub(crate) prefetch: unsafe fn(&Codes, &[Candidate]),
    pub(crate) exact: unsafe fn(&[i32], &[i32]) -> i64,
    pub(crate) rotate: unsafe fn(&[f32], usize, &[f32], &mut [f32]),
    pub(crate) integers_between: unsafe fn(&[u64], u64, u64, &Mask) -> Mask,
    pub(crate) split_integers_between: unsafe fn(&[u32], &[u8], u64, u64, &Mask) -> Mask,
    pub(crate) floats_between: unsafe fn(&[f64], f64, f64, &Mask) -> Mask,
    pub(crate) find_near: unsafe fn(&[u32], u32, u32, &mut Vec<u32>),
    pub(crate) add_nearness: unsafe fn(&[f64; 64], u64, Nearness, u32, &mut [u64; 64]),
}

/// Compiles the generic algorithms for one implementation of [`Lanes`](crate::lanes::Lanes).
///
/// `features` are the target features to compile for; `available` must imply them.
macro_rules! kernel {
    ($name:literal, $lanes:ty, available: $available:expr, features: [$($feature:literal),*]) => {{
        $(#[target_feature(enable = $feature)])*
        unsafe fn scan_codes(
            codes: &$crate::codes::Codes,
            residence: $crate::residence::Residence,
            scans: &mut [$crate::scan::Scan<'_>],
        ) {
            // SAFETY: this function is compiled for the instructions; the caller guarantees the
            // CPU and the arguments.
            unsafe { $crate::scan_codes::scan_codes::<$lanes>(codes, residence, scans) }
        }
        $(#[target_feature(enable = $feature)])*
        unsafe fn refine(
            codes: &$crate::codes::Codes,
            query: &$crate::query::Query,
            wanted: &mut $crate::scan::Wanted<'_>,
            found: &mut Vec<$crate::scan::Candidate>,
        ) {
            // SAFETY: as for `scan_codes`.
            unsafe { $crate::refine::refine::<$lanes>(codes, query, wanted, found) }
        }
        $(#[target_feature(enable = $feature)])*
        unsafe fn refine_low(
            codes: &$crate::codes::Codes,
            low: &$crate::low_nibbles::LowNibbles,
            query: &$crate::query::Query,
            wanted: &mut $crate::scan::Wanted<'_>,
            found: &mut Vec<$crate::scan::Candidate>,
        ) {
            // SAFETY: as for `scan_codes`.
            unsafe { $crate::refine::refine_low::<$lanes>(codes, low, query, wanted, found) }
        }
        $(#[target_feature(enable = $feature)])*
        unsafe fn prefetch(codes: &$crate::codes::Codes, found: &[$crate::scan::Candidate]) {
            // SAFETY: as for `scan_codes`.
            unsafe { $crate::refine::prefetch::<$lanes>(codes, found) }
        }
        $(#[target_feature(enable = $feature)])*
        unsafe fn exact(query: &[i32], record: &[i32]) -> i64 {
            $crate::exact::exact(query, record)
        }
        $(#[target_feature(enable = $feature)])*
        unsafe fn rotate(matrix: &[f32], dims: usize, vectors: &[f32], out: &mut [f32]) {
            // SAFETY: as for `scan_codes`.
            unsafe { $crate::rotate::rotate::<$lanes>(matrix, dims, vectors, out) }
        }
        $(#[target_feature(enable = $feature)])*
        unsafe fn integers_between(
            values: &[u64],
            low: u64,
            high: u64,
            within: &$crate::scan::Mask,
        ) -> $crate::scan::Mask {
            $crate::between::integers(values, low, high, within)
        }
        $(#[target_feature(enable = $feature)])*
        unsafe fn split_integers_between(
            upper: &[u32],
            lowest: &[u8],
            low: u64,
            high: u64,
            within: &$crate::scan::Mask,
        ) -> $crate::scan::Mask {
            $crate::between::split_integers(upper, lowest, low, high, within)
        }
        $(#[target_feature(enable = $feature)])*
        unsafe fn floats_between(
            values: &[f64],
            low: f64,
            high: f64,
            within: &$crate::scan::Mask,
        ) -> $crate::scan::Mask {
            $crate::between::floats(values, low, high, within)
        }
        $(#[target_feature(enable = $feature)])*
        unsafe fn find_near(numbers: &[u32], wanted: u32, max: u32, places: &mut Vec<u32>) {
            $crate::near::find_near(numbers, wanted, max, places)
        }
        $(#[target_feature(enable = $feature)])*
        unsafe fn add_nearness(
            numbers: &[f64; 64],
            within: u64,
            nearness: $crate::nearness::Nearness,
            weight: u32,
            sums: &mut [u64; 64],
        ) {
            $crate::nearness::add_nearness(numbers, within, nearness, weight, sums)
        }
        $crate::kernel::Kernel {
            name: $name,
            available: $available,
            scan_codes,
            refine,
            refine_low,
            prefetch,
            exact,
            rotate,
            integers_between,
            split_integers_between,
            floats_between,
            find_near,
            add_nearness,
        }
    }};
}
pub(crate) use kernel;
