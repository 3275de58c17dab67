//! Turns a panic into an error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::Error;
use crate::runtime::{EventCode, EventQueue, message};

/// Runs `work`. A panic is reported as an event, with `place` to say where it was caught, and returned as
/// [`Error::Internal`].
pub(crate) fn guarded<T>(
    events: &EventQueue,
    place: &str,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let detail = message(&*panic);
        events.emit(EventCode::Panic, None, format!("{place}: {detail}"));
        Err(Error::Internal { detail })
    })
}
