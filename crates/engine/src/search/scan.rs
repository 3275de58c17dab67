//! Scanning one block for several searches: mask, head of the codes, full codes, exact score.

use std::sync::atomic::Ordering::Relaxed;

use cosift_kernels::{Candidate, Scan, refine, scan_codes};

use crate::columns::Mask;
use crate::error::Error;
use crate::record::{Hit, Position, Score};
use crate::search::job::Job;
use crate::search::ranking::Deferred;
use crate::snapshot::Block;

/// What a worker keeps from block to block.
#[derive(Default)]
pub(crate) struct Scratch {
    looks: Vec<Look>,
    deferred: Vec<Deferred>,
    reached: Vec<Score>,
    /// Bytes of codes gone through since they were last taken.
    pub(crate) bytes: u64,
}

/// What the head step finds in a block.
#[derive(Default)]
struct Look {
    /// The records that each job asks about; `None` where it asks about none.
    masks: Vec<Option<Mask>>,
    /// Candidates of each job.
    found: Vec<Vec<Candidate>>,
}

/// Scans a block for all of `jobs`.
pub(crate) fn scan_block(block: &Block, jobs: &[&Job], scratch: &mut Scratch) {
    let mut look = scratch.looks.pop().unwrap_or_default();
    look_at(block, jobs, &mut look, &mut scratch.bytes);
    for (job, found) in jobs.iter().zip(&mut look.found) {
        rank_candidates(block, job, scratch, found);
        job.ranking.see(block.len(), &mut scratch.reached);
    }
    scratch.looks.push(look);
}

/// Scans the first blocks for all of `jobs`: the best of all of them say what to expect before any
/// other record is looked at closely.
pub(crate) fn scan_first(blocks: &[&Block], jobs: &[&Job], scratch: &mut Scratch) {
    let mut looks = std::mem::take(&mut scratch.looks);
    looks.resize_with(blocks.len(), Look::default);
    for (block, look) in blocks.iter().zip(&mut looks) {
        look_at(block, jobs, look, &mut scratch.bytes);
        for (job, found) in jobs.iter().zip(&look.found) {
            foresee(block, job, found, &mut scratch.reached);
        }
    }
    for (block, look) in blocks.iter().zip(&mut looks) {
        for (job, found) in jobs.iter().zip(&mut look.found) {
            let (floor, _) = bounds(job);
            found.retain(|candidate| candidate.estimate + candidate.error >= floor);
            rank_candidates(block, job, scratch, found);
            scratch.reached.clear();
        }
    }
    scratch.looks = looks;
}

/// Goes through the heads of a block.
fn look_at(block: &Block, jobs: &[&Job], look: &mut Look, bytes: &mut u64) {
    look.masks.clear();
    look.masks.extend(jobs.iter().map(|job| {
        if job.is_over() {
            // Whoever stopped it waits for no other search of the pass.
            job.finish();
            return None;
        }
        if job.is_walked(block) {
            return None;
        }
        let mask = job.selection.mask(block, &job.stop_check()).ok()?;
        job.counts.scanned.fetch_add(mask.count() as u64, Relaxed);
        (!mask.is_empty()).then_some(mask)
    }));
    look.found.resize_with(jobs.len(), Vec::new);
    look.found.iter_mut().for_each(Vec::clear);
    let parts = jobs.iter().zip(&look.masks).zip(&mut look.found);
    let mut scans: Vec<Scan<'_>> = parts
        .filter_map(|((job, mask), found)| {
            let (floor, ceiling) = bounds(job);
            Some(Scan {
                query: job.query(block),
                mask: &mask.as_ref()?.0,
                floor,
                ceiling,
                found,
            })
        })
        .collect();
    scan_codes(&block.coded.codes, &mut scans);
    if !scans.is_empty() {
        // All searches of a pass go through the codes together.
        *bytes += block.coded.codes.head_bytes().len() as u64;
    }
}

/// Looks closely at the best of a block's candidates: they raise the bar of the job, and what it expects
/// of other blocks.
fn foresee(block: &Block, job: &Job, found: &[Candidate], reached: &mut Vec<Score>) {
    if job.counts_all() {
        return;
    }
    let mut best = found.to_vec();
    let size = job.ranking.size();
    if best.len() > size {
        bring_forward(&mut best, size);
        best.truncate(size);
    }
    let (floor, ceiling) = bounds(job);
    refine(
        &block.coded.codes,
        job.query(block),
        floor,
        ceiling,
        &mut best,
    );
    let stop_check = &job.stop_check();
    let matching = best.iter().filter(|candidate| {
        job.ranking.surely_follows(candidate)
            && job.passes_lazily(block, usize::from(candidate.slot), stop_check)
    });
    reached.extend(matching.map(|candidate| Score::no_less(candidate.estimate - candidate.error)));
    job.ranking.foresee(block.len(), reached);
}

/// Puts the `count` candidates that look best before the others, of which there are some.
fn bring_forward(found: &mut [Candidate], count: usize) {
    found.select_nth_unstable_by(count, |a, b| b.estimate.total_cmp(&a.estimate));
}

/// The window of scores that matters, as the kernels compare it.
fn bounds(job: &Job) -> (f32, f32) {
    // A score is clamped at 0: when 0 is good enough, every cosine is.
    let floor = match job.bar() {
        Score(0) => f32::NEG_INFINITY,
        bar => bar.value() as f32,
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
fn rank_candidates(block: &Block, job: &Job, scratch: &mut Scratch, found: &mut Vec<Candidate>) {
    if found.is_empty() {
        return;
    }
    scratch.bytes += (found.len() * block.coded.codes.layout().row_bytes()) as u64;
    let mut matches = Mask::empty();
    let first = job.ranking.size();
    if found.len() > 2 * first {
        bring_forward(found, first);
        let mut best: Vec<Candidate> = found.drain(..first).collect();
        settle(block, job, &mut best, scratch, &mut matches);
        let (floor, _) = bounds(job);
        found.retain(|candidate| {
            candidate.estimate + candidate.error >= floor
                && !job.is_settled(candidate, &mut matches)
        });
    }
    settle(block, job, found, scratch, &mut matches);
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
    scratch: &mut Scratch,
    matches: &mut Mask,
) {
    let Scratch {
        deferred, reached, ..
    } = scratch;
    let (floor, ceiling) = bounds(job);
    job.counts.refined.fetch_add(found.len() as u64, Relaxed);
    refine(&block.coded.codes, job.query(block), floor, ceiling, found);
    let threshold = job.threshold().value() as f32;
    let stop_check = &job.stop_check();
    for candidate in found.iter() {
        let slot = usize::from(candidate.slot);
        let enters = job.ranking.may_enter(candidate);
        if !(enters || job.counts_all())
            || job.is_settled(candidate, matches)
            || !job.passes_lazily(block, slot, stop_check)
        {
            continue;
        }
        let surely_matches = candidate.estimate - candidate.error >= threshold;
        if surely_matches && let Some(record) = job.ranking.deferrable(candidate, block.row(slot)) {
            matches.set(slot);
            reached.push(record.lowest);
            deferred.push(record);
            continue;
        }
        match score(block, job, slot, candidate.estimate + candidate.error) {
            Ok(score) if score >= job.threshold() => {
                matches.set(slot);
                if !enters {
                    continue;
                }
                let position = Position {
                    score,
                    id: job.id_key(block, slot),
                };
                let hit = Hit {
                    position,
                    row: block.row(slot),
                };
                if job.ranking.offer(hit) {
                    reached.push(score);
                }
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
