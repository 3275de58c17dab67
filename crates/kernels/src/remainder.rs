//! Pruning pass 3: bounds by the query at 16 bits, for candidates whose bounds cross the floor or the ceiling.
//!
//! About half of the error of pass 2 is the residual of the query's 8-bit codes. This residual is quantised with 8 more
//! bits and multiplied with the record's codes: fine codes and high nibbles in its tile, the others in its row.

use crate::codes::{Codes, RecordMeta};
use crate::dots::{bytes_dot, nibbles_dot};
use crate::lanes::Lanes;
use crate::layout::TILE_RECORDS;
use crate::query::Query;
use crate::scan::Candidate;

/// Narrows the bounds of each candidate that crosses the floor or the ceiling, and drops the candidates outside.
///
/// # Safety
/// As for [`refine`](crate::refine::refine).
#[inline(always)]
pub(crate) unsafe fn refine_by_remainder<L: Lanes>(
    codes: &Codes,
    query: &Query,
    floor: f32,
    ceiling: f32,
    found: &mut Vec<Candidate>,
) {
    let mut kept = 0;
    for index in 0..found.len() {
        let mut candidate = found[index];
        if candidate.is_crossed_by(floor) || candidate.is_crossed_by(ceiling) {
            let slot = usize::from(candidate.slot);
            // SAFETY: the caller's contract.
            let dots = unsafe { dots::<L>(codes, slot, query) };
            dots.narrow(&mut candidate, &codes.meta(slot), query);
        }
        if candidate.may_lie_in(floor, ceiling) {
            found[kept] = candidate;
            kept += 1;
        }
    }
    found.truncate(kept);
}

/// Dot products of the query's remainder with the codes of each band.
pub(crate) struct Dots {
    pub(crate) fine: i32,
    pub(crate) coarse: i32,
    pub(crate) tail: i32,
}

impl Dots {
    /// Narrows the bounds of a candidate by the dot products. `reference` calls this function too.
    #[inline(always)]
    pub(crate) fn narrow(&self, candidate: &mut Candidate, meta: &RecordMeta, query: &Query) {
        let weights = &query.remainder_weights;
        let sum = weights.fine * self.fine as f32
            + weights.coarse * self.coarse as f32
            + weights.tail * self.tail as f32;
        candidate.estimate += f32::from(meta.scale) * sum;
        candidate.error = weights.residual * f32::from(meta.full_residual)
            + weights.slack
            + weights.axis_residual * f32::from(meta.coarse_residual);
    }
}

/// # Safety
/// As for [`refine_by_remainder`].
#[inline(always)]
unsafe fn dots<L: Lanes>(codes: &Codes, slot: usize, query: &Query) -> Dots {
    let layout = codes.layout();
    let remainder = &query.remainder;
    let tile = codes.tile(slot / TILE_RECORDS);
    let (fine_words, others) = tile.split_at(layout.coarse_offset());
    let nibble_words = &others[..layout.coarse() / 2 * TILE_RECORDS];
    let lane = slot % TILE_RECORDS;
    // SAFETY: a load of the row begins inside it and so ends inside the overread. The bytes
    // past a band are multiplied with zeros of the query.
    unsafe {
        let row = codes.padded_rest().as_ptr().add(slot * layout.row_bytes());
        let tail_row = row.add(layout.coarse() / 2);
        let high = nibbles_dot::<L>(remainder, |start| {
            L::nibble_codes(of_lane(nibble_words, lane, start / 4).0.as_ptr().cast())
        });
        let low = nibbles_dot::<L>(remainder, |start| L::nibble_codes(row.add(start)));
        Dots {
            fine: bytes_dot::<L>(&remainder.fine, remainder.fine_sum, |start| {
                L::byte_codes(of_lane(fine_words, lane, start / 4).0.as_ptr().cast())
            }),
            coarse: 16 * high + low,
            tail: bytes_dot::<L>(&remainder.tail, remainder.tail_sum, |start| {
                L::byte_codes(tail_row.add(start))
            }),
        }
    }
}

/// Sixteen words of a record, in the order of a row.
#[repr(align(64))]
struct Words([[u8; 4]; 16]);

/// The words of one lane of a tile's columns, from column `first` on; zeros after the last column.
#[inline(always)]
fn of_lane(columns: &[u8], lane: usize, first: usize) -> Words {
    let (words, _) = columns.as_chunks::<4>();
    let mut of_lane = Words([[0; 4]; 16]);
    let column = words
        .iter()
        .skip(first * TILE_RECORDS + lane)
        .step_by(TILE_RECORDS);
    for (word, from) in of_lane.0.iter_mut().zip(column) {
        *word = *from;
    }
    of_lane
}
