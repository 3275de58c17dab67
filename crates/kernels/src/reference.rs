//! The reference implementation without optimisations. Every kernel must return the same results.

use crate::codes::Codes;
use crate::layout::TILE_RECORDS;
use crate::query::Query;
use crate::refine::{LowNibbles, Part, Tail};
use crate::remainder::Dots;
use crate::scan::{Candidate, Scan};

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
    floor: f32,
    ceiling: f32,
    found: &mut Vec<Candidate>,
) {
    let layout = codes.layout();
    found.retain_mut(|candidate| {
        let slot = usize::from(candidate.slot);
        let row = &codes.rest_bytes()[layout.rest_bytes(slot)..][..layout.row_bytes()];
        let (nibbles, tail) = row.split_at(layout.coarse() / 2);
        let (meta, weights) = (codes.meta(slot), &query.weights);
        if !nibbles.is_empty() {
            let low = dot(&unpacked(nibbles), &query.head[layout.fine()..]);
            LowNibbles::narrow(candidate, low, &meta, weights);
            if !candidate.may_lie_in(floor, ceiling) {
                return false;
            }
        }
        if !tail.is_empty() {
            let tail = dot(&signed(tail), &query.codes.tail);
            Tail::narrow(candidate, tail, &meta, weights);
            if !candidate.may_lie_in(floor, ceiling) {
                return false;
            }
        }
        if candidate.is_crossed_by(floor) || candidate.is_crossed_by(ceiling) {
            remainder_dots(codes, query, slot).narrow(candidate, &meta, query);
        }
        candidate.may_lie_in(floor, ceiling)
    });
}

fn remainder_dots(codes: &Codes, query: &Query, slot: usize) -> Dots {
    let layout = codes.layout();
    let remainder = &query.remainder;
    let (fine, high) = head_columns(codes, slot);
    let (nibbles, tail) =
        codes.rest_bytes()[layout.rest_bytes(slot)..][..layout.row_bytes()].split_at(high.len());
    let mut coarse = Vec::new();
    for (low, high) in remainder.low.chunks(4).zip(remainder.high.chunks(4)) {
        coarse.extend([low, high].concat());
    }
    Dots {
        fine: dot(&signed(&fine), &remainder.fine),
        coarse: 16 * dot(&unpacked(&high), &coarse) + dot(&unpacked(nibbles), &coarse),
        tail: dot(&signed(tail), &remainder.tail),
    }
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
    let (fine_query, coarse_query) = query.head.split_at(layout.fine());
    let fine = (dot(&signed(&bytes), fine_query) + query.axis_dot) as f32;
    let high = dot(&unpacked(&nibbles), coarse_query) as f32;

    let meta = codes.meta(slot);
    let weights = &query.weights;
    Candidate {
        slot: slot as u16,
        estimate: f32::from(meta.scale) * (weights.fine * fine + weights.high * high),
        error: (weights.coarse_residual * f32::from(meta.coarse_residual)
            + weights.tail_norm * f32::from(meta.tail_norm))
            + (weights.fine_residual * f32::from(meta.full_residual) + weights.head_slack),
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
