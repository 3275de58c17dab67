//! Approximate search: candidates from the HNSW graph instead of a scan of the blocks that it covers.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::approximate::{Coverage, Index};
use crate::error::Error;
use crate::record::Hit;
use crate::search::block_scan::{Scratch, scan_block};
use crate::search::running::{IndexUse, RunningSearch};
use crate::snapshot::{Block, Unusable};

/// Candidates in addition to the places of a page. With more candidates, fewer records of the page are missed.
///
/// Of pages of 50 among 100,000 clustered vectors of 384 dimensions, 717 more find 0.999 on average and 0.96 at worst in
/// 512 searches; 205 more find 0.993 and 0.86.
const SPARE_CANDIDATES: usize = 717;

/// Candidates of a page of 50. With so many, a search of an index of the smallest size is not slower than a scan. More
/// candidates need a larger database.
const USUAL_CANDIDATES: f64 = 768.0;

/// How many times as many records as estimated a search may test for the filter before it gives up and scans. Records that
/// pass a filter may be far from the query, and the graph then visits many others first.
const MAX_TESTS: f64 = 8.0;

/// Blocks that the share of records that pass the filter is estimated from.
const SAMPLE_BLOCKS: usize = 4;

/// Records of each sample block that deferred rules are evaluated on.
const SAMPLE_RECORDS: usize = 64;

/// Up to this many blocks outside the index are scanned by the thread that binds the search. With more, the search waits
/// for a shared scan.
const MAX_BLOCKS_AT_ONCE: usize = 16;

/// Ranks the candidates of the index, for a search that may be approximate. True when nothing is left to be scanned.
pub(crate) fn rank_from_index(search: &mut RunningSearch, scratch: &mut Scratch) -> bool {
    if !search.request.approximate || search.is_cached() {
        return false;
    }
    let index_use = use_index(search).unwrap_or_else(|reason| {
        let records = search.snapshot().blocks.iter().map(Block::len).sum();
        search.ranking.estimate_floor_of(records);
        IndexUse::NotUsed { reason }
    });
    let is_used = matches!(index_use, IndexUse::Used { .. });
    let uncovered: Vec<usize> = (0..search.snapshot().blocks.len())
        .filter(|&at| !index_use.covers(at))
        .collect();
    search.index_use = Some(index_use);
    let at_once = is_used && uncovered.len() <= MAX_BLOCKS_AT_ONCE;
    if at_once {
        search.timing.start_scan();
        for at in uncovered {
            scan_block(&search.snapshot().blocks[at], &[search], scratch);
        }
    }
    at_once
}

/// Ranks the candidates of the index, or returns why the index is not used.
///
/// The rules are estimates from the numbers of records, and not times, so that the same request on the same data gets the
/// same results. Only while records are added to the index, a search may be exact instead.
fn use_index(search: &RunningSearch) -> Result<IndexUse, &'static str> {
    let Some(approximation) = &search.database.approximation else {
        return Err("the database has no index");
    };
    // Candidates are found from the best on, so a later page would find those of the pages before it again.
    if search.ranking.start().is_some() {
        return Err("the page has a cursor: a scan finds this page and the next ones at once");
    }
    let wanted = search.ranking.size() + SPARE_CANDIDATES;
    let least = approximation.from() as f64 * wanted as f64 / USUAL_CANDIDATES;
    if (search.snapshot().records() as f64) < least {
        return Err("the database is small: a scan is faster");
    }
    let missing = || {
        if approximation.ready_records(search.snapshot()) < search.snapshot().records() {
            "the index is not built yet"
        } else {
            "too few records can be in the index: others share a block with records of several passages"
        }
    };
    let index = approximation.index().ok_or_else(missing)?;
    let coverage = index.coverage(search.snapshot());
    let covered = coverage.living as f64;
    if covered < least {
        return Err(missing());
    }
    // The graph visits more records the fewer pass the filter, and a scan is then faster.
    let share = estimate_share(search);
    if covered * share * share < least {
        return Err("few records pass the filter: all of them were scanned");
    }
    let max_tests = MAX_TESTS * wanted as f64 / share;
    match find(search, &index, &coverage, wanted, max_tests as usize) {
        Ok(hits) => {
            let candidates = hits.len();
            let threshold = search.ranking.threshold();
            for hit in hits {
                if hit.position.score >= threshold {
                    search.ranking.add(hit);
                }
            }
            Ok(IndexUse::Used {
                coverage,
                candidates,
            })
        }
        Err(NotFound::Busy) => Err("records are being added to the index"),
        Err(NotFound::FarAway) => Err("records that pass the filter are far from the query"),
        Err(NotFound::Graph) => Err("the index could not be searched"),
        Err(NotFound::Search(error)) => {
            search.outcome.fail(error);
            Err("a record could not be scored")
        }
    }
}

/// Why the graph found no candidates.
enum NotFound {
    Busy,
    FarAway,
    Graph,
    Search(Error),
}

impl From<Unusable> for NotFound {
    fn from(_: Unusable) -> Self {
        Self::Graph
    }
}

/// The best `wanted` records that the graph finds, with their scores.
fn find(
    search: &RunningSearch,
    index: &Index,
    coverage: &Coverage,
    wanted: usize,
    max_tests: usize,
) -> Result<Vec<Hit>, NotFound> {
    let stop_check = &search.outcome.stop_check();
    let blocks = &search.snapshot().blocks;
    let tests = AtomicUsize::new(0);
    let gives_up = || tests.load(Relaxed) > max_tests || search.outcome.is_over();
    // Record by record: the graph meets few records of each block, so a mask of the block would cost more.
    let keeps = |key: u32| {
        tests.fetch_add(1, Relaxed);
        // Enough records, although wrong ones, end the search of the graph.
        gives_up()
            || coverage
                .locate(key)
                .is_some_and(|(at, slot)| search.scope.passes(&blocks[at], slot, stop_check))
    };
    let keys = index
        .graph
        .near(search.query.components(), wanted, keeps)?
        .ok_or(NotFound::Busy)?;
    if gives_up() {
        return Err(NotFound::FarAway);
    }
    let score = |key| {
        let (at, slot) = coverage.locate(key).expect("only such keys are kept");
        let block = &blocks[at];
        let score = search.score(block, slot).map_err(NotFound::Search)?;
        Ok(search.hit(block, slot, score))
    };
    keys.into_iter().map(score).collect()
}

/// An estimate of the share of living records that pass filter and time range, from a few blocks of the snapshot.
fn estimate_share(search: &RunningSearch) -> f64 {
    let blocks = &search.snapshot().blocks;
    let stop_check = &search.outcome.stop_check();
    let (mut kept, mut seen) = (0.0, 0);
    for block in blocks
        .iter()
        .step_by(blocks.len().div_ceil(SAMPLE_BLOCKS).max(1))
    {
        // The result of a search that is stopped is never used.
        let Ok(mask) = search.scope.mask(block, stop_check) else {
            break;
        };
        let passed: Vec<bool> = mask
            .iter()
            .take(SAMPLE_RECORDS)
            .map(|slot| search.scope.passes_deferred(block, slot, stop_check))
            .collect();
        let share =
            passed.iter().filter(|&&passed| passed).count() as f64 / passed.len().max(1) as f64;
        kept += mask.count() as f64 * share;
        seen += block.living;
    }
    kept / seen.max(1) as f64
}
