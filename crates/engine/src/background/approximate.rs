//! The job that keeps the approximate index up to date.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::approximate::{Approximation, Upkeep};
use crate::background::job::{Job, Step};
use crate::snapshot::Snapshot;

/// One step of upkeep, such as adding a block to the index.
pub(crate) struct UpdateIndex {
    pub(crate) approximation: Arc<Approximation>,
    /// Taken by the step.
    pub(crate) upkeep: Option<Upkeep>,
    pub(crate) snapshot: Arc<Snapshot>,
}

impl Job for UpdateIndex {
    fn step(&mut self, stop: &AtomicBool) -> Step {
        let go_on = || !stop.load(Relaxed);
        let upkeep = self.upkeep.take();
        let progress =
            upkeep.is_some_and(|upkeep| self.approximation.keep_up(upkeep, &self.snapshot, &go_on));
        Step::Finished { progress }
    }
}
