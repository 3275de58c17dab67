//! The cost of a search with the codes of a codec, estimated from a sample.

use cosift_kernels::{
    BLOCK_RECORDS, Codec, FullCodes, Residence, Scan, TILE_RECORDS, Wanted, refine, refine_low,
    rotate, scan_codes,
};

use crate::columns::Mask;

/// Bytes of heads, or of a rotation, that a core reads in a nanosecond when they are in the cache.
const CACHED_SPEED: f64 = 40.0;
/// The same for bytes in memory.
const MEMORY_SPEED: f64 = 20.0;

/// The size of the last-level cache of a server, in bytes. Smaller heads are read from the cache.
const CACHE: f64 = (32 << 20) as f64;

/// Nanoseconds for the rest of the code of a record in the sample's estimate: reading it takes 65, and a scan reads
/// twice as many as its final score floor requires, because the floor rises during the scan.
const REFINE: f64 = 130.0;
/// Bytes of a rest that takes so long.
const USUAL_REST: usize = 294;
/// Nanoseconds for each of the other bytes.
const REFINE_BYTE: f64 = 0.18;

/// Nanoseconds for the exact score of a record.
const SCORE: f64 = 500.0;

/// Results of the page that the estimate assumes.
const PAGE: f64 = 51.0;

/// Sample vectors that are searched for.
const QUERIES: usize = 32;

/// Estimates the nanoseconds per record of a search among `records`, with `rotation` bytes of matrices.
///
/// `rotated` holds a sample of them in the codec's basis; some are searched for among the others.
pub(crate) fn of_search(codec: &Codec, rotation: usize, rotated: &[f32], records: usize) -> f64 {
    let layout = codec.layout();
    let sampled = rotated.len() / layout.dims();
    let step = sampled.div_ceil(BLOCK_RECORDS).max(1);
    let contiguous = rotated.chunks_exact(layout.dims()).step_by(step);
    let contiguous: Vec<f32> = contiguous.flatten().copied().collect();
    let rows: Vec<&[f32]> = contiguous.chunks_exact(layout.dims()).collect();
    // The first is the query itself.
    let last = (PAGE * rows.len() as f64 / records.max(1) as f64).ceil() as usize;
    let mut full = FullCodes::new(layout, rows.len());
    for (slot, row) in rows.iter().enumerate() {
        codec.encode(row, slot, &mut full);
    }
    let FullCodes { codes, low } = full;
    let mask = Mask::full(rows.len());
    let (mut passed, mut undecided) = (0, 0);
    let mut searches = 0;
    for query in rows.iter().step_by((rows.len() / QUERIES).max(1)) {
        let mut scores = vec![0.0; rows.len()];
        rotate(query, layout.dims(), &contiguous, &mut scores);
        scores.sort_by(|a, b| b.total_cmp(a));
        let Some(&floor) = scores.get(last) else {
            continue;
        };
        let mut found = Vec::new();
        let query = codec.query(query);
        scan_codes(
            &codes,
            Residence::Cache,
            &mut [Scan {
                query: &query,
                mask: &mask.0,
                floor,
                higher: None,
                ceiling: f32::INFINITY,
                found: &mut found,
            }],
        );
        passed += found.len();
        let mut wanted = Wanted {
            floor,
            ceiling: f32::INFINITY,
            counted: None,
        };
        refine(&codes, &query, &mut wanted, &mut found);
        refine_low(&codes, &low, &query, &mut wanted, &mut found);
        undecided += found
            .iter()
            .filter(|candidate| candidate.estimate - candidate.error < floor)
            .count();
        searches += 1;
    }
    let heads = (layout.tile_bytes() / TILE_RECORDS * records) as f64;
    let share = |count: usize| count as f64 / (searches * rows.len()).max(1) as f64;
    let rest = match layout.row_bytes() {
        0 => 0.0,
        bytes => REFINE + REFINE_BYTE * bytes.saturating_sub(USUAL_REST) as f64,
    };
    let once = reading(heads) + reading(rotation as f64);
    once / records.max(1) as f64 + share(passed) * rest + share(undecided) * SCORE
}

/// Nanoseconds for reading bytes in every search.
fn reading(bytes: f64) -> f64 {
    bytes
        / if bytes <= CACHE {
            CACHED_SPEED
        } else {
            MEMORY_SPEED
        }
}
