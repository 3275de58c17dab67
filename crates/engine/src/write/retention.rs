//! Removes changes from the feed that are older than the feed keeps them.

use std::time::{Duration, Instant};

use crate::runtime::{DatabaseEvents, EventCode, now_ms};
use crate::store::Store;

/// The pause until the writer looks for old changes again.
const PAUSE: Duration = Duration::from_secs(60);

/// The pause between two steps, so that waiting writes run between them.
const MIN_PAUSE: Duration = Duration::from_millis(10);

/// How long the change feed keeps a change, and when the next step is due.
pub(crate) struct Retention {
    keep: Duration,
    next: Instant,
}

impl Retention {
    pub(crate) fn new(keep: Duration) -> Self {
        Self {
            keep,
            next: Instant::now(),
        }
    }

    /// The time until the next step is due.
    pub(crate) fn due_in(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Removes some old changes, if a step is due. Those after the commit `saved` stay, because replaying them needs
    /// their deletions.
    pub(crate) fn step(&mut self, store: &mut Store, saved: u64, events: &DatabaseEvents) {
        if self.next > Instant::now() {
            return;
        }
        let removed = if store.is_poisoned() {
            Ok(false)
        } else {
            store.retain_changes(now_ms(), self.keep, saved)
        };
        let pause = match removed {
            Ok(true) => Duration::ZERO,
            Ok(false) => PAUSE.min(self.keep / 32),
            Err(error) => {
                let text = format!("old changes could not be removed from the feed: {error}");
                events.emit(EventCode::JobFailed, text);
                PAUSE
            }
        };
        self.next = Instant::now() + pause.max(MIN_PAUSE);
    }
}
