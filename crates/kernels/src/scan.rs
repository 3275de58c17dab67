//! What a scan asks of a block and what it gets back.

use crate::query::Query;

/// The records of a block that count, bit `slot % 64` of word `slot / 64`.
pub type Mask = [u64; 64];

/// A record whose cosine may lie inside the bounds of its scan.
///
/// The cosine is certain to lie within `error` of `estimate`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The record's place in its block.
    pub slot: u16,
    /// What its codes say of its cosine with the query.
    pub estimate: f32,
    /// How far the cosine may be from that, either way.
    pub error: f32,
}

impl Candidate {
    /// Whether the cosine may lie between two others.
    #[inline(always)]
    pub(crate) fn may_lie_in(&self, floor: f32, ceiling: f32) -> bool {
        self.estimate + self.error >= floor && self.estimate - self.error <= ceiling
    }

    /// Whether its bounds leave open on which side of an edge the cosine lies.
    #[inline(always)]
    pub(crate) fn is_crossed_by(&self, edge: f32) -> bool {
        self.estimate + self.error >= edge && self.estimate - self.error <= edge
    }
}

/// One query's part in a scan_codes over a block.
pub struct Scan<'a> {
    /// The query, prepared by the block's [`Codec`](crate::Codec).
    pub query: &'a Query,
    /// Records to look at; bits past the end of the block are ignored.
    pub mask: &'a Mask,
    /// Lowest cosine of interest; rounding to the nearest f32 is allowed for.
    pub floor: f32,
    /// Highest cosine of interest, likewise.
    pub ceiling: f32,
    /// Candidates are added here, by rising slot.
    pub found: &'a mut Vec<Candidate>,
}

impl Scan<'_> {
    /// The mask's bits for one tile.
    #[inline(always)]
    pub(crate) fn tile_mask(&self, tile: usize) -> u16 {
        (self.mask[tile / 4] >> (tile % 4 * 16)) as u16
    }
}
