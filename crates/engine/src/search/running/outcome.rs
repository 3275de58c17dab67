//! How a search ends: stopped, with an error, or with a reply.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::Mutex;

use crate::error::Error;
use crate::reply::Reply;
use crate::runtime::{StopCheck, StopFlag};
use crate::search::page::Page;

/// The stop flag of a search, its first error, and its reply.
pub(crate) struct Outcome {
    stop: StopFlag,
    error: Mutex<Option<Error>>,
    has_failed: AtomicBool,
    pub(crate) reply: Reply<Page>,
}

impl Outcome {
    pub(crate) fn new(stop: StopFlag, reply: Reply<Page>) -> Self {
        Self {
            stop,
            error: Mutex::new(None),
            has_failed: AtomicBool::new(false),
            reply,
        }
    }

    /// Ends the evaluation of filters once the search is stopped.
    pub(crate) fn stop_check(&self) -> StopCheck<'_> {
        StopCheck::new(&self.stop)
    }

    /// Keeps an error, unless there is an earlier one.
    pub(crate) fn fail(&self, error: Error) {
        self.error.lock().get_or_insert(error);
        self.has_failed.store(true, Relaxed);
    }

    /// Whether no more blocks need be scanned.
    pub(crate) fn is_over(&self) -> bool {
        self.has_failed.load(Relaxed) || self.stop.load(Relaxed)
    }

    /// Fails where the search has failed or was stopped.
    ///
    /// # Errors
    /// The first error of the search; [`Error::Stopped`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some(error) = self.error.lock().take() {
            return Err(error);
        }
        if self.stop.load(Relaxed) {
            return Err(Error::Stopped);
        }
        Ok(())
    }
}
