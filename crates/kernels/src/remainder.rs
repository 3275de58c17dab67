//! The end of pruning pass 3: bounds by the query at 16 bits, for candidates whose bounds cross the floor or the ceiling.
//!
//! Most of the error of the bounds before is the residual of the query's 8-bit codes. This residual is quantised with 8 more bits and
//! multiplied with the record's codes: the parts of the fine and the coarse band that are in its tile, the others in its rows.

use crate::codes::Codes;
use crate::dots::nibbles_dot;
use crate::lanes::Lanes;
use crate::layout::TILE_RECORDS;
use crate::low_nibbles::LowNibbles;
use crate::plane_rows::PlaneRows;
use crate::query::Query;
use crate::scan::{Candidate, Wanted};

/// Narrows the bounds of each candidate that crosses the floor or the ceiling, and drops the candidates that are not wanted.
///
/// # Safety
/// As for [`refine_low`](crate::refine::refine_low).
#[inline(always)]
pub(crate) unsafe fn refine_by_remainder<L: Lanes>(
    codes: &Codes,
    low: &LowNibbles,
    query: &Query,
    wanted: &mut Wanted<'_>,
    found: &mut Vec<Candidate>,
) {
    let mut kept = 0;
    let mut tile = None;
    for index in 0..found.len() {
        let mut candidate = found[index];
        if wanted.is_undecided(&candidate) {
            let slot = usize::from(candidate.slot);
            // SAFETY: the caller's contract.
            let dots = unsafe { dots::<L>(codes, low, slot, query, &mut tile) };
            dots.narrow(&mut candidate, codes, query);
        }
        found[kept] = candidate;
        kept += usize::from(wanted.keeps(&candidate));
    }
    found.truncate(kept);
}

/// Dot products of the query's remainder with the codes of each band; those of the fine band are in two parts.
pub(crate) struct Dots {
    pub(crate) fine: i32,
    pub(crate) fine_low: i32,
    pub(crate) coarse: i32,
    pub(crate) tail: i32,
}

impl Dots {
    /// Narrows the bounds of a candidate by the dot products. `reference` calls this function too.
    #[inline(always)]
    pub(crate) fn narrow(&self, candidate: &mut Candidate, codes: &Codes, query: &Query) {
        let slot = usize::from(candidate.slot);
        let meta = codes.meta(slot);
        let residuals = codes.residuals(slot, &meta);
        let weights = &query.remainder_weights;
        let sum = weights.fine * self.fine as f32
            + weights.fine_low * self.fine_low as f32
            + weights.coarse * self.coarse as f32
            + weights.tail * self.tail as f32;
        let [fine, coarse, tail] = weights.residuals;
        candidate.estimate += f32::from(meta.scale) * sum;
        candidate.error = fine * f32::from(residuals.fine)
            + coarse * f32::from(residuals.coarse)
            + tail * f32::from(residuals.tail)
            + weights.slack
            + weights.axis_residual * f32::from(meta.coarse_residual);
    }
}

/// The dot products of the query's remainder with the heads of a tile's records.
struct TileDots {
    tile: usize,
    fine: [i32; TILE_RECORDS],
    high: [i32; TILE_RECORDS],
}

impl TileDots {
    /// # Safety
    /// As for [`refine_by_remainder`]; `head` has a code for each dimension of the head.
    #[inline(always)]
    unsafe fn of<L: Lanes>(codes: &Codes, tile: usize, head: &[i8]) -> Self {
        let (fine, coarse) = head.split_at(codes.layout().fine());
        let (bytes, nibbles) = codes.tile(tile).split_at(codes.layout().coarse_offset());
        // SAFETY: a tile has 64 bytes for each 4 fine and each 8 coarse dimensions.
        unsafe {
            let [mut fine_sums, mut high_sums] = [L::zero(), L::zero()];
            for (bytes, codes) in bytes.chunks_exact(64).zip(fine.chunks_exact(4)) {
                let bytes = L::byte_codes(bytes.as_ptr());
                fine_sums = L::dot(fine_sums, bytes, L::repeat(codes.as_ptr()));
            }
            for (nibbles, codes) in nibbles.chunks_exact(64).zip(coarse.chunks_exact(8)) {
                let operands = (L::repeat(codes.as_ptr()), L::repeat(codes[4..].as_ptr()));
                high_sums = L::dot_nibbles(high_sums, L::nibble_codes(nibbles.as_ptr()), operands);
            }
            Self {
                tile,
                fine: L::sums(fine_sums),
                high: L::sums(high_sums),
            }
        }
    }
}

/// The dot products of a record. `of_tile` has those of the tile of the record before: candidates come by slot, and the dot
/// products of a whole tile take no longer than those of one of its records, whose bytes are scattered over the tile.
///
/// # Safety
/// As for [`refine_by_remainder`].
#[inline(always)]
unsafe fn dots<L: Lanes>(
    codes: &Codes,
    low: &LowNibbles,
    slot: usize,
    query: &Query,
    of_tile: &mut Option<TileDots>,
) -> Dots {
    let remainder = &query.remainder;
    let (tile, lane) = (slot / TILE_RECORDS, slot % TILE_RECORDS);
    let of_tile = match of_tile {
        Some(of_tile) if of_tile.tile == tile => of_tile,
        other => {
            // SAFETY: the caller's contract.
            other.insert(unsafe { TileDots::of::<L>(codes, tile, &remainder.head) })
        }
    };
    // SAFETY: a row of up to 64 bytes is one load, which ends inside the overread. The last load of a longer row ends with the
    // row.
    let nibbles = |plane: &PlaneRows, band| unsafe {
        let row = plane.as_ptr().add(slot * plane.row_bytes());
        nibbles_dot::<L>(band, |start| L::nibble_codes(row.add(start)))
    };
    let high = of_tile.high[lane] - remainder.coarse.bias;
    Dots {
        fine: of_tile.fine[lane] - L::BYTE_OFFSET * remainder.fine_sum,
        fine_low: nibbles(&low.fine, &remainder.fine),
        coarse: 16 * high + nibbles(&low.coarse, &remainder.coarse),
        tail: 16 * nibbles(codes.tail_high(), &remainder.tail)
            + nibbles(&low.tail, &remainder.tail),
    }
}
