//! Pruning passes 2 and 3: narrower bounds for the candidates of pass 1, from the rest of their codes.
//!
//! The planes of the rest are read one after the other. The first takes one or two cache lines of a record and excludes
//! most candidates: it is pass 2. Pass 3 reads the low nibbles, for the few that are left.

use crate::codes::{Codes, RowResiduals};
use crate::dots::nibble_sums;
use crate::lanes::Lanes;
use crate::layout::{Plane, TILE_RECORDS};
use crate::low_nibbles::LowNibbles;
use crate::nibble_codes::NibbleCodes;
use crate::plane_rows::PlaneRows;
use crate::planes::Factors;
use crate::query::{Query, Weights};
use crate::remainder::refine_by_remainder;
use crate::scan::{Candidate, Wanted};
use crate::scan_codes::CACHE_LINE;

/// Candidates whose rows are prefetched before the first group. Later rows are prefetched as many ahead.
const AHEAD: usize = 32;

/// Candidates whose dot products are computed before their bounds: one for each lane.
const GROUP: usize = 16;

/// Narrows the bounds of each candidate by the high nibbles of its tail, and drops the candidates that are not wanted.
///
/// # Safety
/// The CPU has `L`'s instructions and the caller is compiled for them; the query has the codes'
/// layout; every slot is that of a record.
#[inline(always)]
pub(crate) unsafe fn refine<L: Lanes>(
    codes: &Codes,
    query: &Query,
    wanted: &mut Wanted<'_>,
    found: &mut Vec<Candidate>,
) {
    // SAFETY: the caller guarantees it.
    unsafe {
        refine_by_plane::<L>(
            Plane::TailHigh,
            codes,
            codes.tail_high(),
            query,
            wanted,
            found,
        )
    }
}

/// Narrows the bounds of each candidate that pass 2 left by its low nibbles, and drops the candidates that are not wanted.
///
/// # Safety
/// As for [`refine`]; `low` are the low nibbles of the records.
#[inline(always)]
pub(crate) unsafe fn refine_low<L: Lanes>(
    codes: &Codes,
    low: &LowNibbles,
    query: &Query,
    wanted: &mut Wanted<'_>,
    found: &mut Vec<Candidate>,
) {
    // SAFETY: the caller guarantees it.
    unsafe {
        refine_by_plane::<L>(Plane::CoarseLow, codes, &low.coarse, query, wanted, found);
        refine_by_plane::<L>(Plane::TailLow, codes, &low.tail, query, wanted, found);
        refine_by_plane::<L>(Plane::FineLow, codes, &low.fine, query, wanted, found);
        refine_by_remainder::<L>(codes, low, query, wanted, found);
    }
}

/// Prefetches what [`refine`] reads first of candidates: the fields of their tiles, and their rows of the first plane.
///
/// # Safety
/// As for [`refine`].
#[inline(always)]
pub(crate) unsafe fn prefetch<L: Lanes>(codes: &Codes, found: &[Candidate]) {
    let layout = codes.layout();
    for candidate in found {
        let slot = usize::from(candidate.slot);
        let fields = &codes.tile(slot / TILE_RECORDS)[layout.meta_offset()..];
        let row = codes.tail_high().row(slot);
        for line in fields.chunks(CACHE_LINE).chain(row.chunks(CACHE_LINE)) {
            // SAFETY: the caller guarantees the CPU; any address may be prefetched.
            unsafe { L::prefetch(line.as_ptr()) };
        }
    }
}

/// Narrows the bounds of each candidate by a plane, and drops the candidates that are not wanted.
///
/// Candidates are taken in groups, whose bounds are compared without branches, which would be mispredicted.
///
/// # Safety
/// As for [`refine`].
#[inline(always)]
unsafe fn refine_by_plane<L: Lanes>(
    plane: Plane,
    codes: &Codes,
    rows: &PlaneRows,
    query: &Query,
    wanted: &mut Wanted<'_>,
    found: &mut Vec<Candidate>,
) {
    if rows.row_bytes() == 0 {
        return;
    }
    let rows = Rows::of(rows, plane.band(query));
    let factors = plane.factors(&query.weights, codes.tail_low_norm());
    let mut kept = 0;
    // SAFETY: the caller guarantees it.
    unsafe { rows.prefetch::<L>(found.iter().take(AHEAD)) };
    for first in (0..found.len()).step_by(GROUP) {
        let group = GROUP.min(found.len() - first);
        // SAFETY: as above.
        unsafe { rows.prefetch::<L>(found.iter().skip(first + AHEAD).take(GROUP)) };
        // SAFETY: the caller guarantees the CPU.
        let mut sums = unsafe { [L::zero(); GROUP] };
        let mut bounds = GroupBounds::default();
        for at in 0..group {
            let candidate = found[first + at];
            // SAFETY: the caller guarantees it.
            sums[at] = unsafe { rows.sums::<L>(&candidate) };
            let slot = usize::from(candidate.slot);
            let meta = codes.meta(slot);
            let residuals = plane.residuals(&meta, &codes.residuals(slot, &meta));
            bounds.take(at, &candidate, meta.scale, residuals);
        }
        // SAFETY: the caller guarantees the CPU.
        let (kept_lanes, counted) = unsafe {
            bounds.narrow::<L>(
                &query.weights,
                &factors,
                &L::totals(&sums, group),
                rows.band.bias,
            );
            bounds.compare::<L>(wanted)
        };
        let valid = u16::MAX >> (GROUP - group);
        wanted.count(&found[first..first + group], counted & valid);
        for at in 0..group {
            found[kept] = Candidate {
                slot: found[first + at].slot,
                estimate: bounds.estimates[at],
                error: bounds.errors[at],
            };
            kept += usize::from(kept_lanes >> at & 1);
        }
    }
    found.truncate(kept);
}

/// The rows of a plane, and the query's codes for them.
struct Rows<'a> {
    first: *const u8,
    row_bytes: usize,
    band: &'a NibbleCodes,
}

impl<'a> Rows<'a> {
    #[inline(always)]
    fn of(plane: &PlaneRows, band: &'a NibbleCodes) -> Self {
        Self {
            first: plane.as_ptr(),
            row_bytes: plane.row_bytes(),
            band,
        }
    }

    /// Prefetches the rows of candidates.
    ///
    /// # Safety
    /// As for [`refine`].
    #[inline(always)]
    unsafe fn prefetch<'c, L: Lanes>(&self, candidates: impl IntoIterator<Item = &'c Candidate>) {
        for candidate in candidates {
            let row = usize::from(candidate.slot) * self.row_bytes;
            for line in (row / CACHE_LINE * CACHE_LINE..row + self.row_bytes).step_by(CACHE_LINE) {
                // SAFETY: a line with bytes of the row, which is that of a record; the caller guarantees the CPU.
                unsafe { L::prefetch(self.first.add(line)) };
            }
        }
    }

    /// Sums whose total is the dot product of the query with the row of a candidate, plus the bias of the band.
    ///
    /// # Safety
    /// As for [`refine`].
    #[inline(always)]
    unsafe fn sums<L: Lanes>(&self, candidate: &Candidate) -> L::Sums {
        // SAFETY: a row of up to 64 bytes is one load, which ends inside the overread. The last load of a longer row ends
        // with the row.
        unsafe {
            let row = self.first.add(usize::from(candidate.slot) * self.row_bytes);
            nibble_sums::<L>(self.band, |start| L::nibble_codes(row.add(start)))
        }
    }
}

/// The bounds of a group of candidates, and what they depend on. Lanes past the end of the group have no meaning.
#[derive(Default)]
struct GroupBounds {
    estimates: [f32; GROUP],
    errors: [f32; GROUP],
    /// Like the residuals, little-endian, as in a tile.
    scales: [u16; GROUP],
    fine_residuals: [u16; GROUP],
    coarse_residuals: [u16; GROUP],
    tail_residuals: [u16; GROUP],
}

impl GroupBounds {
    /// Takes in a candidate, apart from its dot product.
    #[inline(always)]
    fn take(&mut self, at: usize, candidate: &Candidate, scale: u16, residuals: RowResiduals) {
        self.estimates[at] = candidate.estimate;
        self.scales[at] = scale.to_le();
        self.fine_residuals[at] = residuals.fine.to_le();
        self.coarse_residuals[at] = residuals.coarse.to_le();
        self.tail_residuals[at] = residuals.tail.to_le();
    }

    /// Narrows the bounds of each candidate. The order of the operations determines the bits of the result. `reference`
    /// uses the same order.
    ///
    /// # Safety
    /// The CPU has `L`'s instructions and the caller is compiled for them.
    #[inline(always)]
    unsafe fn narrow<L: Lanes>(
        &mut self,
        weights: &Weights,
        factors: &Factors,
        totals: &[i32; GROUP],
        bias: i32,
    ) {
        // SAFETY: the caller guarantees the CPU; each array has sixteen numbers.
        unsafe {
            let scale = L::words(self.scales.as_ptr().cast());
            let fine = L::words(self.fine_residuals.as_ptr().cast());
            let coarse = L::words(self.coarse_residuals.as_ptr().cast());
            let tail = L::words(self.tail_residuals.as_ptr().cast());
            let dot = L::mul(L::splat(factors.dot), L::floats(totals, bias));
            let estimate = L::add(L::load(self.estimates.as_ptr()), L::mul(scale, dot));
            let error = L::add(
                L::add(
                    L::mul(L::splat(weights.fine_residual), fine),
                    L::mul(L::splat(weights.coarse_residual), coarse),
                ),
                L::add(
                    L::mul(L::splat(weights.tail_residual), tail),
                    L::add(
                        L::mul(L::splat(factors.scale), scale),
                        L::splat(weights.full_slack),
                    ),
                ),
            );
            self.estimates = L::store(estimate);
            self.errors = L::store(error);
        }
    }

    /// A bit for each candidate that is kept, and for each that leaves to be counted, as [`Wanted::keeps`].
    ///
    /// # Safety
    /// As for [`GroupBounds::narrow`].
    #[inline(always)]
    unsafe fn compare<L: Lanes>(&self, wanted: &Wanted<'_>) -> (u16, u16) {
        // SAFETY: as for `narrow`.
        unsafe {
            let estimate = L::load(self.estimates.as_ptr());
            let error = L::load(self.errors.as_ptr());
            let (lowest, highest) = (L::sub(estimate, error), L::add(estimate, error));
            let in_range = L::at_least(highest, L::splat(wanted.floor))
                & L::at_least(L::splat(wanted.ceiling), lowest);
            let counted = wanted.counted.as_ref().map_or(0, |counted| {
                L::at_least(lowest, L::splat(counted.lowest))
                    & !L::at_least(highest, L::splat(counted.below))
            });
            (in_range & !counted, in_range & counted)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AHEAD, GROUP};
    use crate::check::{Random, same};
    use crate::codec::Codec;
    use crate::detect::KERNELS;
    use crate::full_codes::FullCodes;
    use crate::layout::Layout;
    use crate::reference;
    use crate::scan::{Candidate, Counted, Wanted};
    use crate::steps::Steps;

    const DIMS: usize = 384;
    const RECORDS: usize = 300;

    /// Lists end before, at and after the ends of groups and of the rows that are prefetched first.
    #[test]
    fn every_kernel_refines_lists_of_any_length_and_order() {
        let mut random = Random::new(20_261_125);
        let layout = Layout::new(DIMS, 64, 128).expect("valid bands");
        let sample: Vec<f32> = (0..8).flat_map(|_| random.unit(DIMS)).collect();
        let codec = Codec::new(layout, Steps::train(&layout, &sample));
        let mut full = FullCodes::new(layout, RECORDS);
        for slot in 0..RECORDS {
            codec.encode(&random.unit(DIMS), slot, &mut full);
        }
        let (codes, low) = (&full.codes, &full.low);
        let (mut kept, mut dropped, mut counted) = (0, 0, 0);
        for len in (0..=AHEAD + 1).chain(AHEAD + GROUP - 1..=AHEAD + 2 * GROUP + 1) {
            let query = codec.query(&random.unit(DIMS));
            // In any order, some twice.
            let found: Vec<Candidate> = (0..len)
                .map(|_| Candidate {
                    slot: (random.next() % RECORDS as u64) as u16,
                    estimate: random.component(),
                    error: 0.1,
                })
                .collect();
            for counts in [false, true] {
                let refined = |refine: &dyn Fn(&mut Wanted<'_>, &mut Vec<Candidate>)| {
                    let (mut left, mut slots) = (found.clone(), [0; 64]);
                    let mut wanted = Wanted {
                        floor: -0.2,
                        ceiling: 0.4,
                        counted: counts.then_some(Counted {
                            lowest: -0.1,
                            below: 0.2,
                            slots: &mut slots,
                        }),
                    };
                    refine(&mut wanted, &mut left);
                    (left, slots)
                };
                let (expected, slots) = refined(&|wanted, found| {
                    reference::refine(codes, &query, wanted, found);
                    reference::refine_low(codes, low, &query, wanted, found);
                });
                kept += expected.len();
                if counts {
                    counted += slots.iter().map(|word| word.count_ones()).sum::<u32>();
                } else {
                    dropped += len - expected.len();
                }
                for kernel in KERNELS.iter().filter(|kernel| (kernel.available)()) {
                    let (left, counted_slots) = refined(&|wanted, found| {
                        // SAFETY: the kernel is available, and every slot is that of a record.
                        unsafe {
                            (kernel.refine)(codes, &query, wanted, found);
                            (kernel.refine_low)(codes, low, &query, wanted, found);
                        }
                    });
                    assert!(
                        same(&left, &expected) && counted_slots == slots,
                        "{}, {len} candidates",
                        kernel.name
                    );
                }
            }
        }
        assert!(kept > 0 && dropped > 0 && counted > 0);
    }
}
