//! Scanning one block for several searches: mask, head of the codes, full codes, exact score.

use std::sync::atomic::Ordering::Relaxed;

use cosift_kernels::{Candidate, Scan, refine, sweep};

use crate::block::Block;
use crate::error::Error;
use crate::mask::Mask;
use crate::rank::{Hit, Position};
use crate::score::Score;
use crate::search::job::Job;
use crate::search::ranking::Deferred;

/// What a worker keeps from block to block.
#[derive(Default)]
pub(crate) struct Scratch {
    masks: Vec<Mask>,
    found: Vec<Vec<Candidate>>,
    deferred: Vec<Deferred>,
    /// Bytes of codes gone through since they were last taken.
    pub(crate) bytes: u64,
}

/// Scans a block for all of `jobs`.
pub(crate) fn scan_block(block: &Block, jobs: &[&Job], scratch: &mut Scratch) {
    scratch.masks.clear();
    scratch.found.resize_with(jobs.len(), Vec::new);
    let mut live: Vec<usize> = Vec::with_capacity(jobs.len());
    for (at, job) in jobs.iter().enumerate() {
        scratch.found[at].clear();
        if job.is_over() || job.is_walked(block) {
            continue;
        }
        let mask = job.selection.mask(block);
        if !mask.is_empty() {
            job.counts.scanned.fetch_add(mask.count() as u64, Relaxed);
            scratch.masks.push(mask);
            live.push(at);
        }
    }
    let mut scans: Vec<Scan<'_>> = Vec::with_capacity(live.len());
    let mut found = scratch.found.iter_mut().enumerate();
    for (&at, mask) in live.iter().zip(&scratch.masks) {
        let found = found
            .find(|(place, _)| *place == at)
            .expect("live jobs are in order")
            .1;
        let (floor, ceiling) = bounds(jobs[at]);
        scans.push(Scan {
            query: jobs[at].query(block),
            mask: &mask.0,
            floor,
            ceiling,
            found,
        });
    }
    sweep(&block.coded.codes, &mut scans);
    if !scans.is_empty() {
        // All searches of a pass go through the codes together.
        scratch.bytes += block.coded.codes.head_bytes().len() as u64;
    }
    drop(scans);
    for at in live {
        scratch.bytes += (scratch.found[at].len() * block.coded.codes.layout().row_bytes()) as u64;
        rank_candidates(
            block,
            jobs[at],
            &mut scratch.deferred,
            &mut scratch.found[at],
        );
    }
}

/// The window of scores that matters, as the kernels compare it.
fn bounds(job: &Job) -> (f32, f32) {
    // A score is clamped at 0: when 0 is good enough, every cosine is.
    let floor = match job.tau() {
        Score(0) => f32::NEG_INFINITY,
        tau => tau.value() as f32,
    };
    (
        floor,
        job.ceiling()
            .map_or(f32::INFINITY, |score| score.value() as f32),
    )
}

/// Settles the candidates of the head step, in two rounds where there are many.
///
/// The records that look best raise tau; most of the others are then out without another look.
fn rank_candidates(
    block: &Block,
    job: &Job,
    deferred: &mut Vec<Deferred>,
    found: &mut Vec<Candidate>,
) {
    let mut matches = Mask::empty();
    let first = job.ranking.size();
    if found.len() > 2 * first {
        found.select_nth_unstable_by(first, |a, b| b.estimate.total_cmp(&a.estimate));
        let mut best: Vec<Candidate> = found.drain(..first).collect();
        settle(block, job, &mut best, deferred, &mut matches);
        let (floor, _) = bounds(job);
        found.retain(|candidate| {
            candidate.estimate + candidate.error >= floor
                && !job.is_settled(candidate, &mut matches)
        });
    }
    settle(block, job, found, deferred, &mut matches);
    if job.counts_all() {
        job.count_matches(block, &matches);
    }
}

/// Sharpens candidates by their full codes. Those that surely match are ranked by their bounds, and
/// scored at the end of the scan if need be; the others are scored now.
fn settle(
    block: &Block,
    job: &Job,
    found: &mut Vec<Candidate>,
    deferred: &mut Vec<Deferred>,
    matches: &mut Mask,
) {
    let (floor, ceiling) = bounds(job);
    job.counts.refined.fetch_add(found.len() as u64, Relaxed);
    refine(&block.coded.codes, job.query(block), floor, ceiling, found);
    let threshold = job.threshold().value() as f32;
    for candidate in found.iter() {
        let slot = usize::from(candidate.slot);
        let enters = job.ranking.may_enter(candidate);
        if !(enters || job.counts_all())
            || job.is_settled(candidate, matches)
            || !job.passes_lazily(block, slot)
        {
            continue;
        }
        let surely_matches = candidate.estimate - candidate.error >= threshold;
        if surely_matches && let Some(record) = job.ranking.deferrable(candidate, block.row(slot)) {
            matches.set(slot);
            deferred.push(record);
            continue;
        }
        match score(block, job, slot, candidate.estimate + candidate.error) {
            Ok(score) if score >= job.threshold() => {
                matches.set(slot);
                let position = Position {
                    score,
                    id: job.id_key(block, slot),
                };
                job.ranking.offer(Hit {
                    position,
                    row: block.row(slot),
                });
            }
            Ok(_) => {}
            Err(error) => return job.fail(error),
        }
    }
    job.ranking.defer(deferred);
}

/// The score of a record whose cosine is at most `highest`.
fn score(block: &Block, job: &Job, slot: usize, highest: f32) -> Result<Score, Error> {
    // Certainly below 0, so clamped to 0: no need to look.
    if highest < 0.0 {
        Ok(Score(0))
    } else {
        job.score(block, slot)
    }
}
