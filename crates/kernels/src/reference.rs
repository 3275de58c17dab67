//! The reference implementation without optimisations. Every kernel must return the same results.

use crate::codes::Codes;
use crate::layout::{Plane, TILE_RECORDS};
use crate::low_nibbles::LowNibbles;
use crate::nibble_codes::NibbleCodes;
use crate::plane_rows::PlaneRows;
use crate::query::Query;
use crate::remainder::Dots;
use crate::scan::{Candidate, Scan, Wanted};

pub(crate) fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(&a, &b)| i32::from(a) * i32::from(b))
        .sum()
}

pub(crate) fn scan_codes(codes: &Codes, scans: &mut [Scan<'_>]) {
    for scan in scans {
        for slot in (0..codes.records()).filter(|slot| scan.mask[slot / 64] >> (slot % 64) & 1 == 1)
        {
            let candidate = head_bounds(codes, scan.query, slot);
            let higher = scan
                .higher
                .filter(|higher| higher.except[slot / 64] >> (slot % 64) & 1 == 0);
            let floor = higher.map_or(scan.floor, |higher| higher.floor.max(scan.floor));
            if candidate.may_lie_in(floor, scan.ceiling) {
                scan.found.push(candidate);
            }
        }
    }
}

pub(crate) fn refine(
    codes: &Codes,
    query: &Query,
    wanted: &mut Wanted<'_>,
    found: &mut Vec<Candidate>,
) {
    refine_by(
        Plane::TailHigh,
        codes,
        codes.tail_high(),
        query,
        wanted,
        found,
    );
}

pub(crate) fn refine_low(
    codes: &Codes,
    low: &LowNibbles,
    query: &Query,
    wanted: &mut Wanted<'_>,
    found: &mut Vec<Candidate>,
) {
    refine_by(Plane::CoarseLow, codes, &low.coarse, query, wanted, found);
    refine_by(Plane::TailLow, codes, &low.tail, query, wanted, found);
    refine_by(Plane::FineLow, codes, &low.fine, query, wanted, found);
    found.retain_mut(|candidate| {
        let slot = usize::from(candidate.slot);
        if wanted.is_undecided(candidate) {
            remainder_dots(codes, low, query, slot).narrow(candidate, codes, query);
        }
        wanted.keeps(candidate)
    });
}

fn refine_by(
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
    let band = in_order(plane.band(query));
    let factors = plane.factors(&query.weights, codes.tail_low_norm());
    found.retain_mut(|candidate| {
        let slot = usize::from(candidate.slot);
        let dot = dot(&unpacked(rows.row(slot)), &band);
        let meta = codes.meta(slot);
        let residuals = plane.residuals(&meta, &codes.residuals(slot, &meta));
        let scale = f32::from(meta.scale);
        let weights = &query.weights;
        candidate.estimate += scale * (factors.dot * dot as f32);
        candidate.error = (weights.fine_residual * f32::from(residuals.fine)
            + weights.coarse_residual * f32::from(residuals.coarse))
            + (weights.tail_residual * f32::from(residuals.tail)
                + (factors.scale * scale + weights.full_slack));
        wanted.keeps(candidate)
    });
}

fn remainder_dots(codes: &Codes, low: &LowNibbles, query: &Query, slot: usize) -> Dots {
    let remainder = &query.remainder;
    let (fine, high) = head_columns(codes, slot);
    let [fine_low, coarse, tail] =
        [&remainder.fine, &remainder.coarse, &remainder.tail].map(in_order);
    let dot_of = |plane: &PlaneRows, band: &[i8]| dot(&unpacked(plane.row(slot)), band);
    Dots {
        fine: dot(&signed(&fine), &remainder.head),
        fine_low: dot_of(&low.fine, &fine_low),
        coarse: 16 * dot(&unpacked(&high), &coarse) + dot_of(&low.coarse, &coarse),
        tail: 16 * dot_of(codes.tail_high(), &tail) + dot_of(&low.tail, &tail),
    }
}

/// The codes of a band in the order of dimensions.
fn in_order(band: &NibbleCodes) -> Vec<i8> {
    let [low, high] = [&band.low, &band.high].map(|half| {
        let mut half = half.clone();
        if band.last_load > 0 {
            let padding = half.len() - 64 - band.last_load;
            let last = half.len() - 64;
            half[last..].rotate_left(padding);
        }
        half
    });
    let groups = low.chunks(4).zip(high.chunks(4));
    groups
        .flat_map(|(low, high)| [low, high].concat())
        .collect()
}

/// A record's bytes of the fine band and of high nibbles.
fn head_columns(codes: &Codes, slot: usize) -> (Vec<u8>, Vec<u8>) {
    let layout = codes.layout();
    let (bytes, others) = codes
        .tile(slot / TILE_RECORDS)
        .split_at(layout.coarse_offset());
    let nibbles = &others[..layout.coarse() / 2 * TILE_RECORDS];
    let column = |bytes: &[u8]| -> Vec<u8> {
        let of_slot = bytes
            .chunks_exact(4)
            .skip(slot % TILE_RECORDS)
            .step_by(TILE_RECORDS);
        of_slot.flatten().copied().collect()
    };
    (column(bytes), column(nibbles))
}

fn head_bounds(codes: &Codes, query: &Query, slot: usize) -> Candidate {
    let layout = codes.layout();
    let (bytes, nibbles) = head_columns(codes, slot);
    let (fine_query, coarse_query) = query.codes.head.split_at(layout.fine());
    let fine = (dot(&signed(&bytes), fine_query) + query.axis_dot) as f32;
    let high = dot(&unpacked(&nibbles), coarse_query) as f32;

    let meta = codes.meta(slot);
    let weights = &query.weights;
    Candidate {
        slot: slot as u16,
        estimate: f32::from(meta.scale) * (weights.fine * fine + weights.high * high),
        error: (weights.coarse_residual * f32::from(meta.coarse_residual)
            + weights.tail_norm * f32::from(meta.tail_norm))
            + (weights.fine_residual * f32::from(meta.fine_residual) + weights.head_slack),
    }
}

/// Converts bytes, which are codes plus 128, to codes.
fn signed(bytes: &[u8]) -> Vec<i8> {
    bytes
        .iter()
        .map(|&byte| (byte ^ 0x80).cast_signed())
        .collect()
}

/// Converts nibbles, which are codes plus 8, to codes in the order of dimensions.
fn unpacked(nibbles: &[u8]) -> Vec<i8> {
    let group = |bytes: &[u8]| {
        let low = bytes.iter().map(|byte| (byte & 15).cast_signed() - 8);
        let high = bytes.iter().map(|byte| (byte >> 4).cast_signed() - 8);
        low.chain(high).collect::<Vec<i8>>()
    };
    nibbles.chunks_exact(4).flat_map(group).collect()
}
