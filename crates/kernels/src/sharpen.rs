//! The last step before an exact score: bounds by the query at 16 bits, for candidates that the full
//! step leaves on an edge.
//!
//! About half of the full step's error is what the query's own 8-bit codes leave out. Their remainder,
//! coded with 8 bits more, meets the record's codes where they lie: fine codes and high nibbles in its
//! tile, the others in its row.

use crate::codes::{Codes, RecordMeta};
use crate::lanes::Lanes;
use crate::layout::TILE_RECORDS;
use crate::query::Query;
use crate::scan::Candidate;
use crate::sweep::NIBBLE_OFFSET;

/// Bounds each candidate that an edge runs through, and drops those that turn out to be outside.
///
/// # Safety
/// As for [`refine`](crate::refine::refine).
#[inline(always)]
pub(crate) unsafe fn sharpen<L: Lanes>(
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
            // SAFETY: passed on.
            let dots = unsafe { dots::<L>(codes, slot, query) };
            dots.bring_in(&mut candidate, &codes.meta(slot), query);
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
    /// Brings the dot products into a candidate's bounds. `reference` does the same.
    #[inline(always)]
    pub(crate) fn bring_in(&self, candidate: &mut Candidate, meta: &RecordMeta, query: &Query) {
        let weights = &query.remainder.weights;
        let sum = weights.fine * self.fine as f32
            + weights.coarse * self.coarse as f32
            + weights.tail * self.tail as f32;
        candidate.estimate += f32::from(meta.scale) * sum;
        candidate.error = weights.residual * f32::from(meta.full_residual) + weights.slack;
    }
}

/// # Safety
/// As for [`sharpen`].
#[inline(always)]
unsafe fn dots<L: Lanes>(codes: &Codes, slot: usize, query: &Query) -> Dots {
    let layout = codes.layout();
    let remainder = &query.remainder;
    let tile = codes.tile(slot / TILE_RECORDS);
    let (fine_words, others) = tile.split_at(layout.coarse_offset());
    let nibble_words = &others[..layout.coarse() / 2 * TILE_RECORDS];
    let lane = slot % TILE_RECORDS;
    // SAFETY: the query's codes are padded to 64, so each load of them is inside; one of the row begins
    // inside it and so ends inside the overread. What is read past a band meets zeros of the query.
    unsafe {
        let row = codes.padded_rest().as_ptr().add(slot * layout.row_bytes());
        let mut fine = L::zero();
        for start in (0..remainder.fine.len()).step_by(64) {
            let bytes = of_lane(fine_words, lane, start / 4);
            let operand = L::operand(remainder.fine.as_ptr().add(start));
            fine = L::dot(fine, L::byte_codes(bytes.0.as_ptr().cast()), operand);
        }
        let (mut high, mut low) = (L::zero(), L::zero());
        for start in (0..remainder.low.len()).step_by(64) {
            let operands = [&remainder.low, &remainder.high]
                .map(|codes| L::operand(codes.as_ptr().add(start)));
            let bytes = of_lane(nibble_words, lane, start / 4);
            let (first, second) = L::nibble_codes(bytes.0.as_ptr().cast());
            high = L::dot(L::dot(high, first, operands[0]), second, operands[1]);
            let (first, second) = L::nibble_codes(row.add(start));
            low = L::dot(L::dot(low, first, operands[0]), second, operands[1]);
        }
        let mut tail = L::zero();
        let tail_row = row.add(layout.coarse() / 2);
        for start in (0..remainder.tail.len()).step_by(64) {
            let operand = L::operand(remainder.tail.as_ptr().add(start));
            tail = L::dot(tail, L::byte_codes(tail_row.add(start)), operand);
        }
        let total = |sums| L::sums(sums).iter().sum::<i32>();
        let nibble_bias = NIBBLE_OFFSET * remainder.coarse_sum;
        Dots {
            fine: total(fine) - L::BYTE_OFFSET * remainder.fine_sum,
            coarse: 16 * (total(high) - nibble_bias) + total(low) - nibble_bias,
            tail: total(tail) - L::BYTE_OFFSET * remainder.tail_sum,
        }
    }
}

/// Sixteen words of a record, as they would lie in a row.
#[repr(align(64))]
struct Words([[u8; 4]; 16]);

/// The words of one lane of a tile's columns, from column `first` on; zeros past the last.
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
