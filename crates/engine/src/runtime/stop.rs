//! Stop flags, which end calls early.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Set by a caller who no longer needs the result. The engine checks it between blocks.
pub type StopFlag = Arc<AtomicBool>;

/// Bytes of values that are tested between two checks of the stop flag: about a millisecond.
pub(crate) const CHECK_BYTES: usize = 1 << 20;

/// The stop flag of a call was set before its filter was evaluated on all records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Checks the stop flag of a call while one thread evaluates a filter for it.
#[derive(Debug)]
pub(crate) struct StopCheck<'a> {
    stop: Option<&'a AtomicBool>,
    /// Bytes tested since the last check.
    tested: Cell<usize>,
}

impl<'a> StopCheck<'a> {
    /// Stops the evaluation once `stop` is set.
    pub(crate) fn new(stop: &'a AtomicBool) -> Self {
        Self {
            stop: Some(stop),
            tested: Cell::new(0),
        }
    }

    /// Never stops the evaluation.
    pub(crate) fn never() -> Self {
        Self {
            stop: None,
            tested: Cell::new(0),
        }
    }

    /// Counts `bytes` that are about to be tested, and checks the stop flag after every [`CHECK_BYTES`].
    ///
    /// # Errors
    /// [`Stopped`] if the flag is set.
    #[inline]
    pub(crate) fn before_testing(&self, bytes: usize) -> Result<(), Stopped> {
        let tested = self.tested.get() + bytes;
        if tested < CHECK_BYTES {
            self.tested.set(tested);
            return Ok(());
        }
        self.tested.set(0);
        match self.stop {
            Some(stop) if stop.load(Relaxed) => Err(Stopped),
            _ => Ok(()),
        }
    }
}
