//! A background job, and what it makes for the writer.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use crate::snapshot::{Basis, Body, Coded};

/// Work of one database that the scheduler runs step by step.
pub(crate) trait Job: Send {
    /// Runs the next step. A step that takes long polls `stop` and returns early once it is set.
    fn step(&mut self, stop: &AtomicBool) -> Step;
}

/// A job of a single step. Returns whether it made progress.
pub(crate) struct SingleStep<F>(pub(crate) F);

impl<F: FnMut(&AtomicBool) -> bool + Send> Job for SingleStep<F> {
    fn step(&mut self, stop: &AtomicBool) -> Step {
        let progress = self.0(stop);
        Step::Finished { progress }
    }
}

/// What remains of a job after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The job has more steps.
    Continue,
    /// The job has ended. Without `progress` it is not started again before the next write, so that a job that fails
    /// is not retried in a loop.
    Finished { progress: bool },
}

/// Something that a job made and that the writer of the database applies.
pub(crate) enum JobResult {
    /// The basis for the codes of new blocks; `None` when no basis is better than the current one.
    Trained {
        basis: Option<Arc<Basis>>,
        records: usize,
    },
    /// Codes of a block in another basis.
    Recoded { body: Arc<Body>, coded: Arc<Coded> },
}

/// Wakes the writer of a database, which then applies job results and looks for due jobs. Does nothing when the writer
/// is awake.
pub(crate) type Wake = Arc<dyn Fn() + Send + Sync>;

/// Where the jobs of a database send their results.
#[derive(Clone)]
pub(crate) struct Results {
    pub(crate) sender: Sender<JobResult>,
    pub(crate) wake: Wake,
}

impl Results {
    /// Sends a result and wakes the writer: results that are applied one by one keep old and new codes of only a few
    /// blocks in memory at a time.
    pub(crate) fn send(&self, result: JobResult) {
        // The writer may have ended, and then nothing needs the result.
        let _ = self.sender.send(result);
        (self.wake)();
    }
}
