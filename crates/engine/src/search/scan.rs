//! Scanning one block for several searches: mask, head of the codes, full codes, exact score.

use std::sync::atomic::Ordering::Relaxed;

use cosift_kernels::{Candidate, Scan, refine, sweep};

use crate::block::Block;
use crate::error::Error;
use crate::mask::Mask;
use crate::rank::{Hit, Position};
use crate::score::Score;
use crate::search::job::Job;
use crate::identity::IdKey;

/// What a worker keeps from block to block.
#[derive(Default)]
pub(crate) struct Scratch {
    masks: Vec<Mask>,
    found: Vec<Vec<Candidate>>,
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
        if job.stopped() {
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
        let found = found.find(|(place, _)| *place == at).expect("live jobs are in order").1;
        let (floor, ceiling) = bounds(jobs[at]);
        scans.push(Scan { query: jobs[at].query(block), mask: &mask.0, floor, ceiling, found });
    }
    sweep(&block.coded.codes, &mut scans);
    if !scans.is_empty() {
        // All searches of a pass go through the codes together.
        scratch.bytes += block.coded.codes.head_bytes().len() as u64;
    }
    drop(scans);
    for at in live {
        scratch.bytes += (scratch.found[at].len() * block.coded.codes.layout().row_bytes()) as u64;
        rank_candidates(block, jobs[at], &mut scratch.found[at]);
    }
}

/// The window of scores that matters, as the kernels compare it.
fn bounds(job: &Job) -> (f32, f32) {
    // A score is clamped at 0: when 0 is good enough, every cosine is.
    let floor = match job.tau() {
        Score(0) => f32::NEG_INFINITY,
        tau => tau.value() as f32,
    };
    (floor, job.ceiling().map_or(f32::INFINITY, |score| score.value() as f32))
}

/// Settles the candidates of the head step, in two rounds where there are many.
///
/// The records that look best raise tau; most of the others are then out without another look.
fn rank_candidates(block: &Block, job: &Job, found: &mut Vec<Candidate>) {
    let mut matches = Mask::empty();
    let first = job.size();
    if found.len() > 2 * first {
        found.select_nth_unstable_by(first, |a, b| b.estimate.total_cmp(&a.estimate));
        let mut best: Vec<Candidate> = found.drain(..first).collect();
        settle(block, job, &mut best, &mut matches);
        let (floor, _) = bounds(job);
        found.retain(|candidate| candidate.estimate + candidate.error >= floor && !job.is_settled(candidate, &mut matches));
    }
    settle(block, job, found, &mut matches);
    if job.counts_all() {
        job.count_matches(block, &matches);
    }
}

/// Sharpens candidates by their full codes and scores those that may enter, best first.
fn settle(block: &Block, job: &Job, found: &mut Vec<Candidate>, matches: &mut Mask) {
    let (floor, ceiling) = bounds(job);
    job.counts.refined.fetch_add(found.len() as u64, Relaxed);
    refine(&block.coded.codes, job.query(block), floor, ceiling, found);
    // Best first: tau rises as early as it can, and the first that can't enter ends the block.
    found.sort_unstable_by(|a, b| (b.estimate + b.error).total_cmp(&(a.estimate + a.error)));
    for candidate in found.iter() {
        if !job.counts_all() && !job.may_enter(candidate) {
            break;
        }
        let slot = usize::from(candidate.slot);
        if job.is_settled(candidate, matches) || !job.passes_lazily(block, slot) {
            continue;
        }
        match score(block, job, slot, candidate.estimate + candidate.error) {
            Ok(score) if score >= job.threshold() => {
                matches.set(slot);
                let id = IdKey::new(job.search.variant, block.id(slot), block.uuid(slot));
                job.offer(Hit { position: Position { score, id }, row: block.row(slot) });
            }
            Ok(_) => {}
            Err(error) => return job.fail(error),
        }
    }
}

fn score(block: &Block, job: &Job, slot: usize, highest: f32) -> Result<Score, Error> {
    // Certainly below 0, so clamped to 0: no need to look.
    if highest < 0.0 {
        return Ok(Score(0));
    }
    job.counts.scored.fetch_add(1, Relaxed);
    job.score(block, slot)
}
