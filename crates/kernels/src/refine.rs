//! Pruning pass 2: narrower bounds for the candidates of pass 1, from the rest of their codes.
//!
//! The planes of the rest are read one after the other. The first takes one or two cache lines of a record and excludes
//! most candidates, so the others are read for few. Candidates whose bounds still cross the floor or the ceiling go to
//! pass 3.

use crate::codes::{Codes, RecordMeta};
use crate::dots::nibbles_dot;
use crate::lanes::Lanes;
use crate::layout::Plane;
use crate::nibble_codes::NibbleCodes;
use crate::query::{Query, Weights};
use crate::remainder::refine_by_remainder;
use crate::scan::{Candidate, Wanted};
use crate::scan_codes::CACHE_LINE;

/// Rows are prefetched this many candidates ahead, because they are scattered: a memory access takes about as long as
/// the work on this many rows.
const AHEAD: usize = 12;

/// Candidates whose dot products are computed before their bounds: one for each lane.
const GROUP: usize = 16;

/// Narrows the bounds of each candidate by all of its codes, and drops the candidates that are not wanted.
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
        refine_by_plane::<L, TailHigh>(codes, query, wanted, found);
        refine_by_plane::<L, CoarseLow>(codes, query, wanted, found);
        refine_by_plane::<L, TailLow>(codes, query, wanted, found);
        refine_by_remainder::<L>(codes, query, wanted, found);
    }
}

/// Narrows the bounds of each candidate by a plane, and drops the candidates that are not wanted.
///
/// # Safety
/// As for [`refine`].
#[inline(always)]
unsafe fn refine_by_plane<L: Lanes, P: Part>(
    codes: &Codes,
    query: &Query,
    wanted: &mut Wanted<'_>,
    found: &mut Vec<Candidate>,
) {
    if codes.layout().plane_bytes(P::PLANE) == 0 {
        return;
    }
    // SAFETY: the caller guarantees it.
    unsafe {
        if wanted.counted.is_some() {
            refine_groups::<L, P>(codes, query, wanted, found);
        } else {
            refine_each::<L, P>(codes, query, wanted, found);
        }
    }
}

/// As [`refine_by_plane`] where no candidate leaves to be counted. Nearly all are dropped, so the branches are predicted.
///
/// # Safety
/// As for [`refine`].
#[inline(always)]
unsafe fn refine_each<L: Lanes, P: Part>(
    codes: &Codes,
    query: &Query,
    wanted: &Wanted<'_>,
    found: &mut Vec<Candidate>,
) {
    let (floor, ceiling) = (wanted.floor, wanted.ceiling);
    let rows = Rows::of::<P>(codes, query);
    let factors = P::factors(&query.weights, codes.tail_low_norm());
    let mut kept = 0;
    for index in 0..found.len() {
        if let Some(next) = found.get(index + AHEAD) {
            // SAFETY: the caller guarantees the CPU.
            unsafe { rows.prefetch::<L>(next) };
        }
        let mut candidate = found[index];
        // SAFETY: the caller guarantees it.
        let dot = unsafe { rows.dot::<L>(&candidate) };
        let meta = codes.meta(usize::from(candidate.slot));
        factors.narrow(&mut candidate, dot, &meta);
        if candidate.may_lie_in(floor, ceiling) {
            found[kept] = candidate;
            kept += 1;
        }
    }
    found.truncate(kept);
}

/// As [`refine_by_plane`] where candidates leave to be counted. Any of three outcomes is likely for each, so branches would
/// be mispredicted.
///
/// # Safety
/// As for [`refine`].
#[inline(always)]
unsafe fn refine_groups<L: Lanes, P: Part>(
    codes: &Codes,
    query: &Query,
    wanted: &mut Wanted<'_>,
    found: &mut Vec<Candidate>,
) {
    let rows = Rows::of::<P>(codes, query);
    let factors = P::factors(&query.weights, codes.tail_low_norm());
    let mut kept = 0;
    for first in (0..found.len()).step_by(GROUP) {
        let group = GROUP.min(found.len() - first);
        for next in found.iter().skip(first + AHEAD).take(GROUP) {
            // SAFETY: the caller guarantees the CPU.
            unsafe { rows.prefetch::<L>(next) };
        }
        let mut dots = [0; GROUP];
        let mut bounds = GroupBounds::default();
        for at in 0..group {
            let candidate = found[first + at];
            // SAFETY: the caller guarantees it.
            dots[at] = unsafe { rows.dot::<L>(&candidate) };
            let meta = codes.meta(usize::from(candidate.slot));
            bounds.take(at, &candidate, &meta);
        }
        // SAFETY: the caller guarantees the CPU.
        let (kept_lanes, counted) = unsafe {
            bounds.narrow::<L>(&factors, &dots);
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
    fn of<P: Part>(codes: &'a Codes, query: &'a Query) -> Self {
        Self {
            first: codes.plane(P::PLANE).as_ptr(),
            row_bytes: codes.layout().plane_bytes(P::PLANE),
            band: P::band(query),
        }
    }

    /// # Safety
    /// As for [`refine`].
    #[inline(always)]
    unsafe fn prefetch<L: Lanes>(&self, candidate: &Candidate) {
        let row = usize::from(candidate.slot) * self.row_bytes;
        for line in (row / CACHE_LINE * CACHE_LINE..row + self.row_bytes).step_by(CACHE_LINE) {
            // SAFETY: a line with bytes of the row, which is that of a record; the caller guarantees the CPU.
            unsafe { L::prefetch(self.first.add(line)) };
        }
    }

    /// The dot product of the query with the row of a candidate.
    ///
    /// # Safety
    /// As for [`refine`].
    #[inline(always)]
    unsafe fn dot<L: Lanes>(&self, candidate: &Candidate) -> i32 {
        // SAFETY: a row of up to 64 bytes is one load, which ends inside the overread. The last load of a longer row ends
        // with the row.
        unsafe {
            let row = self.first.add(usize::from(candidate.slot) * self.row_bytes);
            nibbles_dot::<L>(self.band, |start| L::nibble_codes(row.add(start)))
        }
    }
}

/// The bounds of a group of candidates, and what they depend on. Lanes past the end of the group are zeros.
#[derive(Default)]
struct GroupBounds {
    estimates: [f32; GROUP],
    errors: [f32; GROUP],
    scales: [f32; GROUP],
    coarse_residuals: [f32; GROUP],
    full_residuals: [f32; GROUP],
}

impl GroupBounds {
    /// Takes in a candidate, apart from its dot product.
    #[inline(always)]
    fn take(&mut self, at: usize, candidate: &Candidate, meta: &RecordMeta) {
        self.estimates[at] = candidate.estimate;
        self.scales[at] = f32::from(meta.scale);
        self.coarse_residuals[at] = f32::from(meta.coarse_residual);
        self.full_residuals[at] = f32::from(meta.full_residual);
    }

    /// As [`Factors::narrow`] for each candidate. The order of the operations determines the bits of the result.
    ///
    /// # Safety
    /// The CPU has `L`'s instructions and the caller is compiled for them.
    #[inline(always)]
    unsafe fn narrow<L: Lanes>(&mut self, factors: &Factors, dots: &[i32; GROUP]) {
        // SAFETY: the caller guarantees the CPU; each array has sixteen numbers.
        unsafe {
            let scale = L::load(self.scales.as_ptr());
            let full = L::load(self.full_residuals.as_ptr());
            let coarse = L::load(self.coarse_residuals.as_ptr());
            let dot = L::mul(L::splat(factors.dot), L::floats(dots, 0));
            let estimate = L::add(L::load(self.estimates.as_ptr()), L::mul(scale, dot));
            let error = L::add(
                L::add(
                    L::mul(L::splat(factors.full_residual), full),
                    L::mul(L::splat(factors.coarse_residual), coarse),
                ),
                L::add(
                    L::mul(L::splat(factors.scale), scale),
                    L::splat(factors.slack),
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

/// A plane that narrows bounds, given the planes before it.
pub(crate) trait Part {
    const PLANE: Plane;

    /// The query's codes of the plane's band.
    fn band(query: &Query) -> &NibbleCodes;

    /// `tail_low_norm` is at least the norm of any record's low nibbles in the tail.
    fn factors(weights: &Weights, tail_low_norm: f32) -> Factors;
}

/// How the bounds of a candidate follow from the dot product with a row.
pub(crate) struct Factors {
    /// Of the dot product.
    dot: f32,
    /// Of the scale: the low nibbles of the tail, if they are not known.
    scale: f32,
    /// Of the coarse residual, if the low nibbles of the coarse band are not known.
    coarse_residual: f32,
    full_residual: f32,
    slack: f32,
}

impl Factors {
    /// Narrows the bounds of a candidate. `reference` calls this function too.
    #[inline(always)]
    pub(crate) fn narrow(&self, candidate: &mut Candidate, dot: i32, meta: &RecordMeta) {
        let scale = f32::from(meta.scale);
        candidate.estimate += scale * (self.dot * dot as f32);
        candidate.error = self.full_residual * f32::from(meta.full_residual)
            + self.coarse_residual * f32::from(meta.coarse_residual)
            + (self.scale * scale + self.slack);
    }
}

/// The high nibbles of the tail.
pub(crate) struct TailHigh;
/// The low nibbles of the coarse band.
pub(crate) struct CoarseLow;
/// The low nibbles of the tail.
pub(crate) struct TailLow;

impl Part for TailHigh {
    const PLANE: Plane = Plane::TailHigh;

    fn band(query: &Query) -> &NibbleCodes {
        &query.codes.tail
    }

    fn factors(weights: &Weights, tail_low_norm: f32) -> Factors {
        Factors {
            dot: weights.tail_high,
            scale: weights.tail_low_norm * tail_low_norm,
            coarse_residual: weights.coarse_residual,
            full_residual: weights.full_residual,
            slack: weights.full_slack,
        }
    }
}

impl Part for CoarseLow {
    const PLANE: Plane = Plane::CoarseLow;

    fn band(query: &Query) -> &NibbleCodes {
        &query.codes.coarse
    }

    fn factors(weights: &Weights, tail_low_norm: f32) -> Factors {
        Factors {
            dot: weights.low,
            coarse_residual: 0.0,
            ..TailHigh::factors(weights, tail_low_norm)
        }
    }
}

impl Part for TailLow {
    const PLANE: Plane = Plane::TailLow;

    fn band(query: &Query) -> &NibbleCodes {
        &query.codes.tail
    }

    fn factors(weights: &Weights, _: f32) -> Factors {
        Factors {
            dot: weights.tail_low,
            scale: 0.0,
            ..CoarseLow::factors(weights, 0.0)
        }
    }
}
