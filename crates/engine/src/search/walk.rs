//! A walk of the graph in place of a scan of its blocks.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::approximate::{Index, Whereabouts};
use crate::error::Error;
use crate::record::{Hit, Position, Score};
use crate::search::job::Job;
use crate::search::scan::{Scratch, scan_block};
use crate::snapshot::Unusable;

/// Candidates beyond the places of a page: the more, the fewer records of the page are missed.
///
/// At 100,000 clustered vectors of 384 dimensions, 128 beyond a page of 50 find 0.991 of it, 50 beyond 0.978.
const SPARE: usize = 128;

/// Candidates at most. A page that needs more lies so deep that a scan costs less.
const MOST: usize = 8_192;

/// Where a filter keeps a smaller share of the records, all that it keeps are scanned.
const LEAST_SHARE: f64 = 0.05;

/// Records whose scan takes as long as finding one more candidate where every record counts. Measured: about 500;
/// a fifth of it, so that whoever asks for a walk gets one unless a scan is clearly the better way.
const SCANNED_PER_CANDIDATE: f64 = 100.0;

/// Blocks that are tried to see how many records the filter keeps.
const TRIED_BLOCKS: usize = 4;

/// Records of each of them that rules put off are tried on.
const TRIED_RECORDS: usize = 64;

/// Blocks outside the index that are scanned at once; more of them wait for a pass like those of an exact search.
const SCANNED_AT_ONCE: usize = 16;

/// What became of a search that asked for the approximate way.
pub(crate) enum Walk {
    /// The candidates have been ranked; what the index does not hold is yet to be scanned.
    Taken {
        whereabouts: Whereabouts,
        candidates: usize,
    },
    /// Everything is to be scanned.
    Refused { reason: &'static str },
}

/// Ranks what the index finds for a search that asks for it. True when nothing is left to be scanned.
pub(crate) fn answer(job: &mut Job, scratch: &mut Scratch) -> bool {
    if !job.search.approximate || job.is_known() {
        return false;
    }
    let walk = match job.index() {
        Some(index) => take(job, &index),
        None => refused("the index is not built yet"),
    };
    let left: Vec<usize> = match &walk {
        Walk::Refused { .. } => Vec::new(),
        Walk::Taken { whereabouts, .. } => (0..job.snapshot.blocks.len())
            .filter(|&at| !whereabouts.covers(at))
            .collect(),
    };
    let at_once = matches!(walk, Walk::Taken { .. }) && left.len() <= SCANNED_AT_ONCE;
    job.walk = Some(walk);
    if at_once {
        job.mark_scan_start();
        for at in left {
            scan_block(&job.snapshot.blocks[at], &[job], scratch);
        }
    }
    at_once
}

impl Walk {
    /// Whether the records of a block have been seen to.
    pub(crate) fn covers(&self, at: usize) -> bool {
        match self {
            Self::Taken { whereabouts, .. } => whereabouts.covers(at),
            Self::Refused { .. } => false,
        }
    }

    /// What became of it, for people.
    pub(crate) fn explain(&self) -> Value {
        match self {
            Self::Taken {
                whereabouts,
                candidates,
            } => json!({ "indexed": whereabouts.living, "candidates": candidates }),
            Self::Refused { reason } => json!({ "not_used": reason }),
        }
    }
}

fn refused(reason: &'static str) -> Walk {
    Walk::Refused { reason }
}

fn take(job: &Job, index: &Index) -> Walk {
    let whereabouts = index.whereabouts(&job.snapshot);
    if whereabouts.living == 0 {
        return refused("the index is not built yet");
    }
    let share = share_kept(job);
    if share < LEAST_SHARE {
        return refused("few records pass the filter: all of them were scanned");
    }
    let wanted = job.ranking.size() + SPARE;
    let nodes = wanted as f64 / share;
    if nodes * SCANNED_PER_CANDIDATE > whereabouts.living as f64 {
        return refused("the database is small: a scan is faster");
    }
    match find(job, index, &whereabouts, wanted) {
        Ok(Some((hits, candidates))) => {
            for hit in hits {
                job.ranking.offer(hit);
            }
            Walk::Taken {
                whereabouts,
                candidates,
            }
        }
        Ok(None) => refused("the page lies deep: a scan is faster"),
        Err(Failed::Graph) => refused("the index could not be searched"),
        Err(Failed::Job(error)) => {
            job.fail(error);
            refused("a record could not be scored")
        }
    }
}

enum Failed {
    Graph,
    Job(Error),
}

impl From<Unusable> for Failed {
    fn from(_: Unusable) -> Self {
        Self::Graph
    }
}

/// The best of the records that the graph holds, and how many it took; `None` when it would take too many.
///
/// Where the page before ended says nothing about how many come before it: so the walk asks for twice as many until
/// `wanted` come after it, or the last has a score below the threshold.
fn find(
    job: &Job,
    index: &Index,
    whereabouts: &Whereabouts,
    wanted: usize,
) -> Result<Option<(Vec<Hit>, usize)>, Failed> {
    let stop_check = &job.stop_check();
    let keeps = |key: u32| {
        let Some((at, slot)) = whereabouts.locate(key) else {
            return false;
        };
        let block = &job.snapshot.blocks[at];
        // Rule by rule: a walk meets few records of each block, so a mask of all of them would cost more.
        job.selection.holds((block, slot), stop_check) == Ok(true)
            && job.passes_lazily(block, slot, stop_check)
    };
    let mut scores: HashMap<u32, Score> = HashMap::new();
    let mut count = wanted;
    while count <= MOST && !job.is_over() {
        let keys = index.graph.near(job.vector(), count, keeps)?;
        let mut hits = Vec::with_capacity(keys.len());
        let mut last = Score(0);
        for &key in &keys {
            let (at, slot) = whereabouts.locate(key).expect("only such keys are kept");
            let block = &job.snapshot.blocks[at];
            let score = match scores.get(&key) {
                Some(&score) => score,
                None => job.score(block, slot).map_err(Failed::Job)?,
            };
            scores.insert(key, score);
            last = score;
            let position = Position {
                score,
                id: job.id_key(block, slot),
            };
            let after = job.ranking.after();
            if after.is_none_or(|after| position.rank(&after).is_gt()) {
                hits.push(Hit {
                    position,
                    row: block.row(slot),
                });
            }
        }
        let all = keys.len() < count || last < job.threshold();
        if all || hits.len() >= wanted {
            hits.retain(|hit| hit.position.score >= job.threshold());
            return Ok(Some((hits, keys.len())));
        }
        count *= 2;
    }
    Ok(None)
}

/// Which share of the records passes filter and time range, by a few blocks of the snapshot.
fn share_kept(job: &Job) -> f64 {
    let blocks = &job.snapshot.blocks;
    let stop_check = &job.stop_check();
    let (mut kept, mut seen) = (0.0, 0);
    for block in blocks
        .iter()
        .step_by(blocks.len().div_ceil(TRIED_BLOCKS).max(1))
    {
        // Once the search is stopped, whatever is found is forgotten.
        let Ok(mask) = job.selection.mask(block, stop_check) else {
            break;
        };
        let tried: Vec<bool> = mask
            .iter()
            .take(TRIED_RECORDS)
            .map(|slot| job.passes_lazily(block, slot, stop_check))
            .collect();
        let passed = tried.iter().filter(|&&passed| passed).count();
        kept += mask.count() as f64 * passed as f64 / tried.len().max(1) as f64;
        seen += block.len();
    }
    kept / seen.max(1) as f64
}
