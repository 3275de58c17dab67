//! The job that saves a snapshot, so that the next start need not read all records.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::Mutex;

use crate::background::job::{Job, Step};
use crate::background::saved::Saved;
use crate::runtime::{DatabaseEvents, EventCode};
use crate::snapshot::{IndexFiles, Snapshot};
use crate::store::Stamp;

/// Saves a snapshot in a single step.
pub(crate) struct Save {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) stamp: Stamp,
    pub(crate) index_files: Arc<IndexFiles>,
    pub(crate) saved: Arc<Mutex<Saved>>,
    pub(crate) events: DatabaseEvents,
}

impl Job for Save {
    fn step(&mut self, stop: &AtomicBool) -> Step {
        let stopped = || stop.load(Relaxed);
        let outcome = self.index_files.save(&self.snapshot, self.stamp, &stopped);
        if let Err(error) = &outcome {
            let text = format!("the index files could not be saved: {error}");
            self.events.emit(EventCode::JobFailed, text);
        }
        let progress = outcome.is_ok() && !stopped();
        if progress {
            *self.saved.lock() = Saved::of(&self.snapshot, self.stamp);
        }
        Step::Finished { progress }
    }
}
