//! Records with several passages: their vectors are pruned row by row, and their bounds are those of the best row.

use cosift_kernels::{Candidate, Query, Residence, Scan, Wanted, scan_codes};

use crate::columns::{BLOCK_RECORDS, Mask};
use crate::search::bounds::{ScoreRange, lower_bound, upper_bound};
use crate::snapshot::Block;

/// Added to the error of bounds that are joined, because their middle is rounded. Cosines are at most 1 and a little, so
/// it is several times the largest rounding.
const ROUNDING: f32 = 1e-6;

/// A vector of a record with several passages that pass 1 did not exclude.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The record.
    slot: u16,
    /// 0 for the codes of records, then the number of the codes of later rows, from 1.
    part: u32,
    /// The vector, by its place in `part`.
    candidate: Candidate,
}

/// The vectors of records with several passages that pass 1 did not exclude, for one search over one block.
#[derive(Default)]
pub(super) struct PassageRows {
    rows: Vec<Row>,
    found: Vec<Candidate>,
}

/// The records with several passages of a search over a block.
pub(super) struct SeveralPassages<'a> {
    pub(super) query: &'a Query,
    /// The selected records.
    pub(super) records: &'a Mask,
    pub(super) range: ScoreRange,
    pub(super) rows: &'a mut PassageRows,
    /// The candidates of the search, to which those of these records are added.
    pub(super) candidates: &'a mut Vec<Candidate>,
}

impl PassageRows {
    /// The scan of the vectors of first passages. They have no ceiling, because a record is also found by a vector that is
    /// not its best.
    pub(super) fn begin<'a>(
        &'a mut self,
        query: &'a Query,
        records: &'a Mask,
        floor: f32,
    ) -> Scan<'a> {
        self.rows.clear();
        self.found.clear();
        Scan {
            query,
            mask: &records.0,
            floor,
            higher: None,
            ceiling: f32::INFINITY,
            found: &mut self.found,
        }
    }

    /// Takes what a scan of `part` found.
    fn take(&mut self, part: u32, owner: impl Fn(usize) -> usize) {
        self.rows.extend(self.found.drain(..).map(|candidate| Row {
            slot: owner(usize::from(candidate.slot)) as u16,
            part,
            candidate,
        }));
    }

    /// Bounds the scores of `candidates`, which are records with several passages, by the rest of the codes of their rows. Removes
    /// those outside the range.
    pub(super) fn refine(
        &self,
        block: &Block,
        query: &Query,
        range: &ScoreRange,
        candidates: &mut Vec<Candidate>,
    ) {
        let mut parts = vec![Vec::new(); 1 + block.coded.later.len()];
        for candidate in candidates.drain(..) {
            let start = self.rows.partition_point(|row| row.slot < candidate.slot);
            let rows = self.rows[start..].iter();
            for row in rows.take_while(|row| row.slot == candidate.slot) {
                parts[row.part as usize].push(row.candidate);
            }
        }
        let mut rows = Vec::new();
        for (part, mut found) in parts.into_iter().enumerate() {
            if found.is_empty() {
                continue;
            }
            let wanted = &mut from(range.floor);
            block.coded.refine(part, query, wanted, &mut found);
            rows.extend(found.into_iter().map(|candidate| Row {
                slot: owner(block, part, usize::from(candidate.slot)) as u16,
                part: part as u32,
                candidate,
            }));
        }
        rows.sort_unstable_by_key(|row| row.slot);
        join(&rows, range.ceiling, candidates);
    }
}

/// Pass 1 over the vectors of later passages, after that over the vectors of first passages; see [`PassageRows::begin`].
/// Returns the bytes of codes that were read.
pub(super) fn scan_later(
    block: &Block,
    residence: Residence,
    searches: &mut [SeveralPassages<'_>],
) -> u64 {
    let mut bytes = 0;
    for search in searches.iter_mut() {
        search.rows.take(0, |slot| slot);
    }
    for (at, codes) in block.coded.later.iter().enumerate() {
        let rows = at * BLOCK_RECORDS..at * BLOCK_RECORDS + codes.records();
        let masks: Vec<Mask> = (searches.iter())
            .map(|search| later_rows(block, search.records, rows.clone()))
            .collect();
        let mut scans: Vec<Scan<'_>> = (searches.iter_mut().zip(&masks))
            .filter(|(_, mask)| !mask.is_empty())
            .map(|(search, mask)| Scan {
                query: search.query,
                mask: &mask.0,
                floor: search.range.floor,
                higher: None,
                ceiling: f32::INFINITY,
                found: &mut search.rows.found,
            })
            .collect();
        if scans.is_empty() {
            continue;
        }
        scan_codes(codes, residence, &mut scans);
        bytes += codes.head_bytes().len() as u64;
        for search in searches.iter_mut() {
            let part = at + 1;
            search.rows.take(part as u32, |row| owner(block, part, row));
        }
    }
    for search in searches {
        search.rows.rows.sort_by_key(|row| row.slot);
        join(&search.rows.rows, search.range.ceiling, search.candidates);
    }
    bytes
}

/// The vectors of a record with several passages as candidates, with the codes of each and its row in the block.
pub(super) fn rows_of(block: &Block, query: &Query, slot: usize) -> Vec<(usize, Candidate)> {
    let mut rows = Vec::new();
    let mut bound = |part: usize, within: std::ops::Range<usize>| {
        let codes = match part.checked_sub(1) {
            None => &block.coded.codes,
            Some(later) => &block.coded.later[later],
        };
        let mut found = Vec::with_capacity(within.len());
        let mask: Mask = within.collect();
        let mut scans = [Scan {
            query,
            mask: &mask.0,
            floor: f32::NEG_INFINITY,
            higher: None,
            ceiling: f32::INFINITY,
            found: &mut found,
        }];
        scan_codes(codes, Residence::Cache, &mut scans);
        let wanted = &mut from(f32::NEG_INFINITY);
        block.coded.refine(part, query, wanted, &mut found);
        let first = match part.checked_sub(1) {
            None => 0,
            Some(later) => block.len() + later * BLOCK_RECORDS,
        };
        rows.extend(
            found
                .iter()
                .map(|&found| (first + usize::from(found.slot), found)),
        );
    };
    bound(0, slot..slot + 1);
    let later = block.body.later_of(slot);
    let (mut at, end) = (later.start - block.len(), later.end - block.len());
    while at < end {
        let part = at / BLOCK_RECORDS;
        let first = part * BLOCK_RECORDS;
        let last = end.min(first + BLOCK_RECORDS);
        bound(part + 1, at - first..last - first);
        at = last;
    }
    rows
}

/// The vectors with a cosine from `floor` on. They have no ceiling, because a record is also found by a vector that is not its
/// best.
fn from(floor: f32) -> Wanted<'static> {
    Wanted {
        floor,
        ceiling: f32::INFINITY,
        counted: None,
    }
}

/// The later rows within `rows` of the records in `records`, counted from the start of `rows`.
fn later_rows(block: &Block, records: &Mask, rows: std::ops::Range<usize>) -> Mask {
    let mut mask = Mask::empty();
    let Some(passages) = &block.body.passages else {
        return mask;
    };
    if *records == passages.records {
        return Mask::full(rows.len());
    }
    for (at, later) in rows.enumerate() {
        if records.get(passages.owner(later)) {
            mask.set(at);
        }
    }
    mask
}

/// The record of a row of `part`.
fn owner(block: &Block, part: usize, row: usize) -> usize {
    match (&block.body.passages, part.checked_sub(1)) {
        (Some(passages), Some(later)) => passages.owner(later * BLOCK_RECORDS + row),
        _ => row,
    }
}

/// Adds a candidate for each record of `rows`, which are sorted by record: its cosine is the highest of its rows. Leaves
/// out records that are certainly above `ceiling`.
fn join(rows: &[Row], ceiling: f32, candidates: &mut Vec<Candidate>) {
    for rows in rows.chunk_by(|a, b| a.slot == b.slot) {
        let highest = |bound: fn(&Candidate) -> f32| {
            let bounds = rows.iter().map(|row| bound(&row.candidate));
            bounds.fold(f32::NEG_INFINITY, f32::max)
        };
        let (lower, upper) = (highest(lower_bound), highest(upper_bound));
        if lower <= ceiling {
            candidates.push(Candidate {
                slot: rows[0].slot,
                estimate: f32::midpoint(lower, upper),
                error: (upper - lower) / 2.0 + ROUNDING,
            });
        }
    }
}
