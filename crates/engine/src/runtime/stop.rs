//! When the tests of a filter end early.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Set by a caller who no longer wants the answer; looked at between blocks.
pub type StopFlag = Arc<AtomicBool>;

/// Bytes that are tested between two looks at the stop flag: about a millisecond.
pub(crate) const CHECK_BYTES: usize = 1 << 20;

/// The stop flag of a call was set before the filter was tested on all records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Looks at the stop flag of a call while one thread tests a filter for it.
#[derive(Debug)]
pub(crate) struct StopCheck<'a> {
    stop: Option<&'a AtomicBool>,
    /// Bytes tested since the last look.
    tested: Cell<usize>,
}

impl<'a> StopCheck<'a> {
    /// Ends the tests once `stop` is set.
    pub(crate) fn new(stop: &'a AtomicBool) -> Self {
        Self {
            stop: Some(stop),
            tested: Cell::new(0),
        }
    }

    /// Never ends them.
    pub(crate) fn never() -> Self {
        Self {
            stop: None,
            tested: Cell::new(0),
        }
    }

    /// Notes that `bytes` are about to be tested.
    ///
    /// # Errors
    /// [`Stopped`] once the flag is set; noticed after [`CHECK_BYTES`] at most.
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
