//! Pruning pass 2: narrower bounds for the candidates of pass 1, from the rest of their codes.
//!
//! The low nibbles of the coarse band come first. They take a cache line or two and exclude most candidates, so the
//! longer tail is read for few. Candidates whose bounds still cross the floor or the ceiling go to pass 3.

use crate::codes::{Codes, RecordMeta};
use crate::dots::{bytes_dot, nibbles_dot};
use crate::lanes::Lanes;
use crate::query::{BandCodes, Query, Weights};
use crate::remainder::refine_by_remainder;
use crate::scan::Candidate;
use crate::scan_codes::CACHE_LINE;

/// Rows are prefetched this many candidates ahead, because they are scattered: a memory access takes about as long as
/// the work on this many rows.
const AHEAD: usize = 12;

/// Narrows the bounds of each candidate by all of its codes, and drops the candidates outside `floor..=ceiling`.
///
/// # Safety
/// The CPU has `L`'s instructions and the caller is compiled for them; the query has the codes'
/// layout; every slot is that of a record.
#[inline(always)]
pub(crate) unsafe fn refine<L: Lanes>(
    codes: &Codes,
    query: &Query,
    floor: f32,
    ceiling: f32,
    found: &mut Vec<Candidate>,
) {
    let layout = codes.layout();
    let nibble_bytes = layout.coarse() / 2;
    // SAFETY: the caller guarantees it; the nibbles of a row come first, then its tail.
    unsafe {
        if nibble_bytes > 0 {
            refine_by_part::<L, LowNibbles>(codes, query, 0..nibble_bytes, floor, ceiling, found);
        }
        if layout.tail() > 0 {
            let tail = nibble_bytes..layout.row_bytes();
            refine_by_part::<L, Tail>(codes, query, tail, floor, ceiling, found);
        }
        refine_by_remainder::<L>(codes, query, floor, ceiling, found);
    }
}

/// Narrows the bounds of each candidate by the bytes `part` of its row, and drops the candidates outside.
///
/// # Safety
/// As for [`refine`].
#[inline(always)]
unsafe fn refine_by_part<L: Lanes, P: Part>(
    codes: &Codes,
    query: &Query,
    part: std::ops::Range<usize>,
    floor: f32,
    ceiling: f32,
    found: &mut Vec<Candidate>,
) {
    let row_bytes = codes.layout().row_bytes();
    let rows = codes.padded_rest().as_ptr();
    let mut kept = 0;
    for index in 0..found.len() {
        if let Some(next) = found.get(index + AHEAD) {
            let row = usize::from(next.slot) * row_bytes;
            for line in part.clone().step_by(CACHE_LINE) {
                // SAFETY: inside the row, which is that of a record; the caller guarantees the CPU.
                unsafe { L::prefetch(rows.add(row + line)) };
            }
        }
        let mut candidate = found[index];
        let slot = usize::from(candidate.slot);
        // SAFETY: as above; the last row is followed by readable bytes.
        let dot = unsafe { P::dot::<L>(rows.add(slot * row_bytes + part.start), query) };
        P::narrow(&mut candidate, dot, &codes.meta(slot), &query.weights);
        if candidate.may_lie_in(floor, ceiling) {
            found[kept] = candidate;
            kept += 1;
        }
    }
    found.truncate(kept);
}

/// A part of a row, and how it narrows the bounds of a candidate, given the parts before it.
pub(crate) trait Part {
    /// The dot product with the query's codes.
    ///
    /// # Safety
    /// As for [`refine`]; at `at` the part of a row of the query's layout begins, and the row is followed by
    /// [`ROW_OVERREAD`](crate::codes::ROW_OVERREAD) readable bytes.
    unsafe fn dot<L: Lanes>(at: *const u8, query: &Query) -> i32;

    /// Narrows the bounds of a candidate by the dot product. `reference` calls this function too.
    fn narrow(candidate: &mut Candidate, dot: i32, meta: &RecordMeta, weights: &Weights);
}

/// The low nibbles of the coarse band.
pub(crate) struct LowNibbles;
/// The tail.
pub(crate) struct Tail;

impl Part for LowNibbles {
    #[inline(always)]
    unsafe fn dot<L: Lanes>(at: *const u8, query: &Query) -> i32 {
        // SAFETY: a load of the row begins inside the part, since the query's codes are as long and padded to
        // 64, and so ends inside the overread. The bytes past the part are multiplied with zeros of the query.
        unsafe { nibbles_dot::<L>(&query.codes, |start| L::nibble_codes(at.add(start))) }
    }

    /// The error still contains the whole tail. The full residual bounds the residual of the fine and coarse codes.
    #[inline(always)]
    fn narrow(candidate: &mut Candidate, dot: i32, meta: &RecordMeta, weights: &Weights) {
        candidate.estimate += f32::from(meta.scale) * (weights.low * dot as f32);
        candidate.error = weights.full_residual * f32::from(meta.full_residual)
            + weights.tail_norm * f32::from(meta.tail_norm)
            + weights.full_slack;
    }
}

impl Part for Tail {
    #[inline(always)]
    unsafe fn dot<L: Lanes>(at: *const u8, query: &Query) -> i32 {
        let BandCodes { tail, tail_sum, .. } = &query.codes;
        // SAFETY: as above.
        unsafe { bytes_dot::<L>(tail, *tail_sum, |start| L::byte_codes(at.add(start))) }
    }

    #[inline(always)]
    fn narrow(candidate: &mut Candidate, dot: i32, meta: &RecordMeta, weights: &Weights) {
        candidate.estimate += f32::from(meta.scale) * (weights.tail * dot as f32);
        candidate.error =
            weights.full_residual * f32::from(meta.full_residual) + weights.full_slack;
    }
}
