//! The head step: bounds for every record of a block, from its tiles.

use crate::codes::Codes;
use crate::lanes::Lanes;
use crate::layout::{META_FIELD_BYTES, TILE_RECORDS};
use crate::scan::{Candidate, Scan};

/// Goes once through the tiles, for all scans.
///
/// # Safety
/// The CPU has `L`'s instructions and the caller is compiled for them; the queries have the codes'
/// layout.
#[inline(always)]
pub(crate) unsafe fn sweep<L: Lanes>(codes: &Codes, scans: &mut [Scan<'_>]) {
    for tile in 0..codes.records().div_ceil(TILE_RECORDS) {
        // The tile comes from memory for the first group, from the L1 cache for the others.
        let mut left = &mut *scans;
        while !left.is_empty() {
            // SAFETY: passed on; each pass gets as many scans as it says.
            left = unsafe {
                match left.len().min(L::GROUP) {
                    8.. => pass::<L, 8>(codes, tile, left),
                    4.. => pass::<L, 4>(codes, tile, left),
                    2.. => pass::<L, 2>(codes, tile, left),
                    _ => pass::<L, 1>(codes, tile, left),
                }
            };
        }
    }
}

/// One tile for the first `Q` scans; gives back the others.
///
/// # Safety
/// As for [`sweep`]; there are at least `Q` scans.
#[inline(always)]
unsafe fn pass<'s, 'a, L: Lanes, const Q: usize>(
    codes: &Codes,
    tile: usize,
    scans: &'s mut [Scan<'a>],
) -> &'s mut [Scan<'a>] {
    let (scans, others) = scans.split_at_mut(Q);
    let mut masks = [0; Q];
    for (mask, scan) in masks.iter_mut().zip(&*scans) {
        *mask = scan.tile_mask(tile) & valid_lanes(codes, tile);
    }
    if masks == [0; Q] {
        return others;
    }
    let layout = codes.layout();
    let mut queries = [std::ptr::null(); Q];
    for (query, scan) in queries.iter_mut().zip(&*scans) {
        *query = scan.query.head.as_ptr();
    }
    // SAFETY: a tile has 64 bytes for each 4 fine and each 8 coarse dimensions, then 128 bytes of
    // scales and norms; a query's head has a code for each fine and coarse dimension.
    unsafe {
        let mut at = codes.tile(tile).as_ptr();
        let mut fine = [L::zero(); Q];
        for _ in 0..layout.fine() / 4 {
            let bytes = L::byte_codes(at);
            for (sums, query) in fine.iter_mut().zip(&mut queries) {
                *sums = L::dot(*sums, bytes, L::repeat(*query));
                *query = query.add(4);
            }
            at = at.add(64);
        }
        let mut high = [L::zero(); Q];
        for _ in 0..layout.coarse() / 8 {
            let (first, second) = L::nibble_codes(at);
            for (sums, query) in high.iter_mut().zip(&mut queries) {
                *sums = L::dot(*sums, first, L::repeat(*query));
                *sums = L::dot(*sums, second, L::repeat(query.add(4)));
                *query = query.add(8);
            }
            at = at.add(64);
        }
        let meta = Meta::<L>::load(at);
        for (lane, scan) in scans.iter_mut().enumerate() {
            let query = scan.query;
            let fine = L::floats(fine[lane], L::BYTE_OFFSET * query.fine_sum);
            let high = L::floats(high[lane], NIBBLE_OFFSET * query.coarse_sum);
            meta.judge(fine, high, scan, tile, masks[lane]);
        }
    }
    others
}

/// What a nibble carries on top of its code.
pub(crate) const NIBBLE_OFFSET: i32 = 8;

/// The lanes of a tile that are records.
#[inline(always)]
pub(crate) fn valid_lanes(codes: &Codes, tile: usize) -> u16 {
    let lanes = codes.records() - tile * TILE_RECORDS;
    if lanes < TILE_RECORDS {
        (1 << lanes) - 1
    } else {
        u16::MAX
    }
}

/// A tile's scales and norms, in units of 1/65535.
pub(crate) struct Meta<L: Lanes> {
    scale: L::Floats,
    head_residual: L::Floats,
    tail_norm: L::Floats,
}

impl<L: Lanes> Meta<L> {
    /// # Safety
    /// As for [`sweep`]; `at` is where a tile's scales begin.
    #[inline(always)]
    pub(crate) unsafe fn load(at: *const u8) -> Self {
        // SAFETY: scales, head residuals and tail norms lie one after the other.
        unsafe {
            Self {
                scale: L::words(at),
                head_residual: L::words(at.add(META_FIELD_BYTES)),
                tail_norm: L::words(at.add(2 * META_FIELD_BYTES)),
            }
        }
    }

    /// Adds to a scan the records of `mask` whose cosine may lie inside its bounds.
    ///
    /// # Safety
    /// As for [`sweep`].
    #[inline(always)]
    pub(crate) unsafe fn judge(
        &self,
        fine: L::Floats,
        high: L::Floats,
        scan: &mut Scan<'_>,
        tile: usize,
        mask: u16,
    ) {
        let weights = &scan.query.weights;
        // SAFETY: passed on.
        unsafe {
            // This order of operations is part of the result: `reference` has the same.
            let sum = L::add(
                L::mul(L::splat(weights.fine), fine),
                L::mul(L::splat(weights.high), high),
            );
            let estimate = L::mul(self.scale, sum);
            let error = L::add(
                L::add(
                    L::mul(L::splat(weights.head_residual), self.head_residual),
                    L::mul(L::splat(weights.tail_norm), self.tail_norm),
                ),
                L::splat(weights.head_slack),
            );
            let mut kept = mask
                & L::at_least(L::add(estimate, error), L::splat(scan.floor))
                & L::at_least(L::splat(scan.ceiling), L::sub(estimate, error));
            if kept == 0 {
                return;
            }
            let (estimates, errors) = (L::store(estimate), L::store(error));
            while kept != 0 {
                let lane = kept.trailing_zeros() as usize;
                kept &= kept - 1;
                scan.found.push(Candidate {
                    slot: (tile * TILE_RECORDS + lane) as u16,
                    estimate: estimates[lane],
                    error: errors[lane],
                });
            }
        }
    }
}
