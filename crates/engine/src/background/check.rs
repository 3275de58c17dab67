//! The complete check of a database that was loaded from index files.
//!
//! Loading only counts the records, because the first search after a start must not wait. The check reads all rows of
//! the store, with half a core at most and a tenth beside searches, and compares them with the store's checksum, with what loading read after the
//! saved snapshot, and with the records in memory.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::background::scheduler::{Job, JobHandle, Lane, Scheduler, Step};
use crate::runtime::DatabaseEvents;
use crate::snapshot::{PublishedCell, Snapshot};
use crate::store::{Check, Found, Reader, StoreError, Tally};

/// Blocks of a step that compares the records in memory.
const STEP_BLOCKS: usize = 8;

/// Steps that wait until a commit is published, each with a pause.
const MAX_WAITING_STEPS: usize = 10_000;

/// What was loaded.
pub(crate) struct Loaded {
    /// The last commit.
    pub(crate) version: u64,
    /// The commit of the saved snapshot.
    pub(crate) since: u64,
    /// The records that were read from the store because later commits wrote or touched them.
    pub(crate) replayed: Tally,
    pub(crate) reader: Reader,
    /// The records in memory.
    pub(crate) published: Arc<PublishedCell>,
}

/// How a check ended. A cancelled check reports nothing.
pub(crate) enum Checked {
    /// All records are as they were written.
    Complete,
    /// Records are damaged; why.
    Damaged(String),
    /// The check could not be made; why.
    Failed(String),
}

/// A check that waits or runs. Dropping it cancels the check.
pub(crate) struct BackgroundCheck {
    _handle: JobHandle,
}

impl BackgroundCheck {
    /// Starts the check of a database that was loaded, and calls `report` with its outcome. It checks the commit that is
    /// the last when its turn comes.
    pub(crate) fn start(
        scheduler: &Scheduler,
        events: &DatabaseEvents,
        loaded: Loaded,
        report: impl FnOnce(Checked) + Send + 'static,
    ) -> Self {
        let check = CheckRecords {
            phase: Some(Phase::Waiting { steps: 0 }),
            loaded,
            report: Some(Box::new(report)),
        };
        let name = "the check of the records";
        Self {
            _handle: scheduler.submit(Lane::Check, name, events, Box::new(check), Box::new(|_| ())),
        }
    }
}

struct CheckRecords {
    loaded: Loaded,
    /// `None` once the check has ended.
    phase: Option<Phase>,
    report: Option<Box<dyn FnOnce(Checked) + Send>>,
}

enum Phase {
    /// Holds no file open. Some steps found a commit that was not published yet.
    Waiting { steps: usize },
    /// Reads the rows of the store, of the same commit as the snapshot.
    Store(Box<Check>, Arc<Snapshot>),
    /// Adds up the records in memory, from block `next` on, to compare them with what the store holds.
    Memory {
        snapshot: Arc<Snapshot>,
        stored: Found,
        sum: Tally,
        next: usize,
    },
}

impl Job for CheckRecords {
    fn step(&mut self, _: &AtomicBool) -> Step {
        let Some(phase) = self.phase.take() else {
            return Step::Finished { progress: true };
        };
        let checked = match phase.step(&self.loaded) {
            Ok(Some(phase)) => {
                self.phase = Some(phase);
                return Step::Continue;
            }
            Ok(None) => Checked::Complete,
            Err(StoreError::Dropped) => return Step::Finished { progress: true },
            Err(error) if error.code() == "damaged" => Checked::Damaged(error.to_string()),
            Err(error) => Checked::Failed(format!("the records could not be checked: {error}")),
        };
        if let Some(report) = self.report.take() {
            report(checked);
        }
        Step::Finished { progress: true }
    }
}

impl Phase {
    /// Runs a step and returns what follows, or `None` when everything was checked.
    fn step(self, loaded: &Loaded) -> Result<Option<Self>, StoreError> {
        match self {
            Self::Waiting { steps } => {
                let check = loaded.reader.begin_check(loaded.since)?;
                let snapshot = loaded.published.snapshot();
                if snapshot.version != check.version() {
                    // A commit is published a moment later, except after a panic.
                    if steps == MAX_WAITING_STEPS {
                        return Err(StoreError::Busy);
                    }
                    return Ok(Some(Self::Waiting { steps: steps + 1 }));
                }
                Self::Store(Box::new(check), snapshot).step(loaded)
            }
            Self::Store(mut check, snapshot) => {
                let version = check.version();
                let Some(stored) = check.step()? else {
                    return Ok(Some(Self::Store(check, snapshot)));
                };
                // Later commits changed what they are compared with. The comparison with memory finds the same records.
                if version == loaded.version && stored.since != loaded.replayed {
                    return Err(StoreError::inconsistent(
                        "an index does not lead to all records that were written last",
                    ));
                }
                Ok(Some(Self::Memory {
                    snapshot,
                    stored,
                    sum: Tally::default(),
                    next: 0,
                }))
            }
            Self::Memory {
                snapshot,
                stored,
                mut sum,
                next,
            } => {
                let blocks = &snapshot.blocks;
                let end = blocks.len().min(next + STEP_BLOCKS);
                for block in &blocks[next..end] {
                    for slot in block.alive.iter() {
                        sum.add(&block.header(slot));
                    }
                }
                if end < blocks.len() {
                    return Ok(Some(Self::Memory {
                        snapshot,
                        stored,
                        sum,
                        next: end,
                    }));
                }
                if stored.in_memory != sum {
                    return Err(StoreError::inconsistent(
                        "the index files hold other records",
                    ));
                }
                Ok(None)
            }
        }
    }
}
