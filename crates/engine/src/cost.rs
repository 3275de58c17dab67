//! What a search costs with one kind of code or another, judged by a sample.

use cosift_kernels::{BLOCK_RECORDS, Codec, Codes, Scan, sweep};

use crate::mask::Mask;

/// Bytes of a head that are read in a nanosecond.
const READ_SPEED: f64 = 10.0;

/// Nanoseconds that looking at a record's full code counts for.
///
/// It takes 25, but where searches ride one pass, heads are read once for all of them and full codes
/// by each: few of the latter are worth wider heads.
const REFINE: f64 = 80.0;

/// Sample vectors that are searched for.
const QUERIES: usize = 32;

/// Rank in the sample whose score a record must reach: a page out of some hundred thousand records.
const RANK: usize = 4;

/// Rough nanoseconds that a search spends on a record.
///
/// `rotated` holds sample vectors in the codec's basis; some are searched for among the others.
pub(crate) fn of_search(codec: &Codec, rotated: &[f32]) -> f64 {
    let layout = codec.layout();
    let rows: Vec<&[f32]> = rotated
        .chunks_exact(layout.dims())
        .take(BLOCK_RECORDS)
        .collect();
    let mut codes = Codes::new(layout, rows.len());
    for (slot, row) in rows.iter().enumerate() {
        codec.encode(row, slot, &mut codes);
    }
    let mask = Mask::full(rows.len());
    let mut passed = 0;
    let mut searches = 0;
    for query in rows.iter().step_by((rows.len() / QUERIES).max(1)) {
        let mut scores: Vec<f32> = rows
            .iter()
            .map(|row| row.iter().zip(*query).map(|(a, b)| a * b).sum())
            .collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        // The first is the query itself.
        let Some(&floor) = scores.get(RANK) else {
            continue;
        };
        let mut found = Vec::new();
        let query = codec.query(query);
        sweep(
            &codes,
            &mut [Scan {
                query: &query,
                mask: &mask.0,
                floor,
                ceiling: f32::INFINITY,
                found: &mut found,
            }],
        );
        passed += found.len();
        searches += 1;
    }
    let head = layout.tile_bytes() as f64 / 16.0 / READ_SPEED;
    let share = passed as f64 / (searches * rows.len()).max(1) as f64;
    let rest = if layout.row_bytes() == 0 { 0.0 } else { REFINE };
    head + share * rest
}
