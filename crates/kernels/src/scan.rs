//! The input and output of a scan of one block.

use crate::query::Query;

/// A bitmap of the records of a block: `slot` is bit `slot % 64` of word `slot / 64`.
pub type Mask = [u64; 64];

/// A record whose cosine may be between the floor and the ceiling of a scan.
///
/// The cosine is in `estimate - error..=estimate + error`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The index of the record in its block.
    pub slot: u16,
    /// The cosine with the query, computed from the codes.
    pub estimate: f32,
    /// The largest difference of the cosine from `estimate`.
    pub error: f32,
}

/// The candidates that [`refine`](crate::refine()) keeps.
pub struct Wanted<'a> {
    /// Lowest cosine of a candidate. The bounds allow for its rounding to the nearest f32.
    pub floor: f32,
    /// Highest cosine of a candidate. The bounds allow for its rounding to the nearest f32.
    pub ceiling: f32,
    /// Candidates that are only counted.
    pub counted: Option<Counted<'a>>,
}

/// Candidates that leave as soon as their bounds are in a range.
pub struct Counted<'a> {
    /// The cosine is certainly at least this.
    pub lowest: f32,
    /// The cosine is certainly below this.
    pub below: f32,
    /// The slots of these candidates are added here.
    pub slots: &'a mut Mask,
}

impl Wanted<'_> {
    /// Whether a candidate is kept: its cosine may be between floor and ceiling, and it does not leave to be counted.
    #[inline(always)]
    pub(crate) fn keeps(&mut self, candidate: &Candidate) -> bool {
        let may_lie_in = candidate.may_lie_in(self.floor, self.ceiling);
        let Some(counted) = self.counted.as_mut().filter(|_| may_lie_in) else {
            return may_lie_in;
        };
        let is_counted = candidate.estimate - candidate.error >= counted.lowest
            && candidate.estimate + candidate.error < counted.below;
        if is_counted {
            let slot = usize::from(candidate.slot);
            counted.slots[slot / 64] |= 1 << (slot % 64);
        }
        !is_counted
    }

    /// Counts the candidates of a group that have a bit in `lanes`.
    #[inline(always)]
    pub(crate) fn count(&mut self, group: &[Candidate], mut lanes: u16) {
        let Some(counted) = &mut self.counted else {
            return;
        };
        while lanes != 0 {
            let slot = usize::from(group[lanes.trailing_zeros() as usize].slot);
            counted.slots[slot / 64] |= 1 << (slot % 64);
            lanes &= lanes - 1;
        }
    }

    /// Drops the candidates that are not wanted. Without a branch for each, because it would be mispredicted.
    pub fn retain(&mut self, found: &mut Vec<Candidate>) {
        let mut kept = 0;
        for at in 0..found.len() {
            let candidate = found[at];
            found[kept] = candidate;
            kept += usize::from(self.keeps(&candidate));
        }
        found.truncate(kept);
    }

    /// Whether the cosine of a candidate may be on either side of the floor or of the ceiling.
    #[inline(always)]
    pub(crate) fn is_undecided(&self, candidate: &Candidate) -> bool {
        candidate.is_crossed_by(self.floor) || candidate.is_crossed_by(self.ceiling)
    }
}

impl Candidate {
    /// Whether the cosine may be in `floor..=ceiling`.
    #[inline(always)]
    pub(crate) fn may_lie_in(&self, floor: f32, ceiling: f32) -> bool {
        (self.estimate + self.error >= floor) & (self.estimate - self.error <= ceiling)
    }

    /// Whether the cosine may be on either side of `edge`.
    #[inline(always)]
    pub(crate) fn is_crossed_by(&self, edge: f32) -> bool {
        self.estimate + self.error >= edge && self.estimate - self.error <= edge
    }
}

/// One query of a scan of a block.
pub struct Scan<'a> {
    /// The query, prepared by the block's [`Codec`](crate::Codec).
    pub query: &'a Query,
    /// The records to scan. Bits past the end of the block are ignored.
    pub mask: &'a Mask,
    /// Lowest cosine of a candidate. The bounds allow for its rounding to the nearest f32.
    pub floor: f32,
    /// A higher floor of most records.
    pub higher: Option<HigherFloor<'a>>,
    /// Highest cosine of a candidate. The bounds allow for its rounding to the nearest f32.
    pub ceiling: f32,
    /// The candidates are appended here, by ascending slot.
    pub found: &'a mut Vec<Candidate>,
}

/// A floor that is higher than that of a scan, for all records except some.
#[derive(Clone, Copy)]
pub struct HigherFloor<'a> {
    /// Lowest cosine of a candidate.
    pub floor: f32,
    /// The records that have the floor of the scan.
    pub except: &'a Mask,
}

impl Scan<'_> {
    /// The mask's bits for one tile.
    #[inline(always)]
    pub(crate) fn tile_mask(&self, tile: usize) -> u16 {
        bits_of_tile(self.mask, tile)
    }
}

/// The bits of a mask for one tile.
#[inline(always)]
pub(crate) fn bits_of_tile(mask: &Mask, tile: usize) -> u16 {
    (mask[tile / 4] >> (tile % 4 * 16)) as u16
}
