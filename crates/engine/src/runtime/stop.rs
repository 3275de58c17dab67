//! Stop flags, which end calls early, and long computations that let other threads run in between.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::yield_now;
use std::time::{Duration, Instant};

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

/// How long a computation runs before it gives way.
const TURN: Duration = Duration::from_millis(1);

/// Calls between two looks at the clock, which takes longer than the rest of a call.
const CALLS: u32 = 8;

thread_local! {
    static CALLED: Cell<u32> = const { Cell::new(0) };
    static TURN_BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Lets a thread that waits for this core run, unless this thread did so a moment ago. Writes and background jobs call it
/// for each record: Linux lets a thread run for milliseconds while a search waits behind it, even if another core is idle.
pub(crate) fn give_way() {
    let called = CALLED.get().wrapping_add(1);
    CALLED.set(called);
    if !called.is_multiple_of(CALLS) {
        return;
    }
    let began = TURN_BEGAN.get();
    if began.is_none_or(|began| began.elapsed() >= TURN) {
        yield_now();
        TURN_BEGAN.set(Some(Instant::now()));
    }
}
