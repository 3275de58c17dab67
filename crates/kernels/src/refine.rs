//! The full step: closer bounds for the candidates of the head step, from their rests.

use crate::codes::{Codes, RecordMeta};
use crate::lanes::Lanes;
use crate::query::{Query, Weights};
use crate::scan::Candidate;
use crate::sweep::NIBBLE_OFFSET;

/// Rows asked for ahead of the one being read: they lie scattered, and memory takes about as long
/// as this many take to work through.
const AHEAD: usize = 8;

/// Bounds each candidate by all of its codes and drops those outside.
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
    let row_bytes = codes.layout().row_bytes();
    let rows = codes.padded_rest().as_ptr();
    let row = |candidate: &Candidate| {
        // SAFETY: the slot is that of a record, so its row lies inside the rest.
        unsafe { rows.add(usize::from(candidate.slot) * row_bytes) }
    };
    let mut kept = 0;
    for index in 0..found.len() {
        if let Some(coming) = found.get(index + AHEAD) {
            for line in (0..row_bytes).step_by(64) {
                // SAFETY: inside the row as `line` is less than its length; the CPU is the caller's.
                unsafe { L::prefetch(row(coming).add(line)) };
            }
        }
        let mut candidate = found[index];
        // SAFETY: passed on.
        let (low, tail) = unsafe { dots::<L>(row(&candidate), codes.layout().coarse() / 2, query) };
        let meta = codes.meta(usize::from(candidate.slot));
        refine_bounds(&mut candidate, low, tail, &meta, &query.weights);
        if candidate.may_lie_in(floor, ceiling) {
            found[kept] = candidate;
            kept += 1;
        }
    }
    found.truncate(kept);
}

/// Brings the dot products of the rest into a candidate's bounds.
#[inline(always)]
pub(crate) fn refine_bounds(
    candidate: &mut Candidate,
    low: i32,
    tail: i32,
    meta: &RecordMeta,
    weights: &Weights,
) {
    let sum = weights.low * low as f32 + weights.tail * tail as f32;
    candidate.estimate += f32::from(meta.scale) * sum;
    candidate.error = weights.full_residual * f32::from(meta.full_residual) + weights.full_slack;
}

/// The dot products of a row's low nibbles and of its tail with the query's.
///
/// # Safety
/// As for [`refine`]; `row` is where a row of the query's layout begins, with
/// [`ROW_OVERREAD`](crate::codes::ROW_OVERREAD) readable bytes behind it.
#[inline(always)]
unsafe fn dots<L: Lanes>(row: *const u8, nibble_bytes: usize, query: &Query) -> (i32, i32) {
    // SAFETY: the query's codes are padded to 64, so each load of them is inside; one of the row
    // begins inside its band and so ends inside the overread. What it reads past the band meets
    // zeros of the query.
    unsafe {
        let mut low = L::zero();
        for start in (0..nibble_bytes).step_by(64) {
            let (first, second) = L::nibble_codes(row.add(start));
            low = L::dot(low, first, L::operand(query.low.as_ptr().add(start)));
            low = L::dot(low, second, L::operand(query.high.as_ptr().add(start)));
        }
        let mut tail = L::zero();
        for start in (0..query.tail.len()).step_by(64) {
            let bytes = L::byte_codes(row.add(nibble_bytes + start));
            tail = L::dot(tail, bytes, L::operand(query.tail.as_ptr().add(start)));
        }
        (
            L::sums(low).iter().sum::<i32>() - NIBBLE_OFFSET * query.coarse_sum,
            L::sums(tail).iter().sum::<i32>() - L::BYTE_OFFSET * query.tail_sum,
        )
    }
}
