//! Long computations that let other threads run in between.

use std::cell::Cell;
use std::thread::yield_now;
use std::time::{Duration, Instant};

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
