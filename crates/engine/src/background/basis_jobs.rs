//! The jobs that train a basis on a sample of the records, and that encode blocks again after a training.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::background::scheduler::{Job, JobResult, Results, Step};
use crate::record::q30_to_f32;
use crate::runtime::{DatabaseEvents, EventCode};
use crate::snapshot::{Basis, Snapshot, VectorBuffer, recode};

/// Encodes the blocks that have codes of another basis, one block a step.
pub(crate) struct Recode {
    snapshot: Arc<Snapshot>,
    basis: Arc<Basis>,
    results: Results,
    events: DatabaseEvents,
    /// The place of the next block to look at.
    next: usize,
    /// Whether a block was encoded.
    progress: bool,
}

impl Recode {
    pub(crate) fn new(
        snapshot: Arc<Snapshot>,
        basis: Arc<Basis>,
        results: Results,
        events: DatabaseEvents,
    ) -> Self {
        Self {
            snapshot,
            basis,
            results,
            events,
            next: 0,
            progress: false,
        }
    }
}

impl Job for Recode {
    fn step(&mut self, stop: &AtomicBool) -> Step {
        let rest = self.snapshot.blocks[self.next..].iter();
        let outdated = rest
            .enumerate()
            .find(|(_, block)| block.coded.basis.file_id != self.basis.file_id);
        let Some((skipped, block)) = outdated else {
            return Step::Finished {
                progress: self.progress,
            };
        };
        self.next += skipped + 1;
        match recode(&block.exact, &block.body, &self.basis, &|| {
            stop.load(Relaxed)
        }) {
            Ok(None) => return Step::Finished { progress: false },
            Ok(Some(coded)) => {
                self.results.send(JobResult::Recoded {
                    body: Arc::clone(&block.body),
                    coded: Arc::new(coded),
                });
                self.progress = true;
            }
            Err(error) => self.events.emit(
                EventCode::JobFailed,
                format!("a block could not be coded again: {error}"),
            ),
        }
        Step::Continue
    }
}

/// Components of the sample, so that a training takes seconds for any dimensions. With the most dimensions there are 11
/// times as many vectors as axes.
const SAMPLE_COMPONENTS: usize = 1 << 24;

/// Maximum number of vectors in the sample.
const MAX_SAMPLE: usize = 8_192;

/// Trains a basis in a single step, which takes up to five seconds.
pub(crate) struct Train {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) dimensions: usize,
    pub(crate) results: Results,
}

impl Train {
    /// Trains the basis. Returns whether it was not stopped.
    pub(crate) fn run(&self, stop: &AtomicBool) -> bool {
        let stopped = || stop.load(Relaxed);
        let records = self.snapshot.records();
        let trained = self
            .sample(&stopped)
            .map(|sample| Basis::train(self.dimensions, &sample, records, &stopped));
        // A training that was stopped has no result.
        let Some(basis) = trained.filter(|_| !stopped()) else {
            return false;
        };
        self.results.send(JobResult::Trained {
            basis: basis.map(Arc::new),
            records,
        });
        true
    }

    /// Vectors at equal distances in the database, one after the other; `None` when the job was stopped.
    fn sample(&self, stopped: &dyn Fn() -> bool) -> Option<Vec<f32>> {
        let records = self.snapshot.vectors();
        let size = MAX_SAMPLE.min(SAMPLE_COMPONENTS / self.dimensions);
        let distance = records.div_ceil(size).max(1);
        let mut sample = Vec::with_capacity(size.min(records) * self.dimensions);
        let (mut buffer, mut vector) = (VectorBuffer::default(), Vec::new());
        let living = self
            .snapshot
            .blocks
            .iter()
            .flat_map(|block| block.alive.iter().map(move |slot| (block, slot)))
            .filter(|(block, slot)| block.has_vector(*slot));
        let rows = living.flat_map(|(block, slot)| {
            let later = block.body.later_of(slot);
            std::iter::once(slot)
                .chain(later)
                .map(move |row| (block, row))
        });
        for (block, row) in rows.step_by(distance) {
            if stopped() {
                return None;
            }
            // A vector that cannot be read is left out of the sample.
            if let Ok(components) = block.exact.vector(row, &mut buffer) {
                q30_to_f32(components, &mut vector);
                sample.extend_from_slice(&vector);
            }
        }
        Some(sample)
    }
}
