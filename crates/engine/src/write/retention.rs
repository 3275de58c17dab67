//! Removes changes from the feed that are older than the feed keeps them.

use std::time::{Duration, Instant};

use crate::runtime::{DatabaseEvents, EventCode, now_ms};
use crate::store::Store;

/// The pause until the writer looks for old changes again.
const PAUSE: Duration = Duration::from_secs(60);

/// The longest pause while nothing is written, in case the clock is set.
const MAX_PAUSE: Duration = Duration::from_secs(3_600);

/// The pause between two steps, so that waiting writes run between them.
const MIN_PAUSE: Duration = Duration::from_millis(10);

/// How long the change feed keeps a change, and when the next step is due.
pub(crate) struct Retention {
    keep: Duration,
    next: Instant,
    /// The position of the feed after the last step, and when the next one is due if the position stays.
    unchanged: (u64, Instant),
}

impl Retention {
    pub(crate) fn new(keep: Duration) -> Self {
        Self {
            keep,
            next: Instant::now(),
            unchanged: (0, Instant::now()),
        }
    }

    /// The time until the next step is due.
    pub(crate) fn due_in(&self, store: &Store) -> Duration {
        let (position, until) = self.unchanged;
        let due = if position == store.last_position() {
            until
        } else {
            self.next
        };
        due.saturating_duration_since(Instant::now())
    }

    /// Removes some old changes, if a step is due. Those after the commit `saved` stay, because replaying them needs
    /// their deletions.
    pub(crate) fn step(&mut self, store: &mut Store, saved: u64, events: &DatabaseEvents) {
        if !self.due_in(store).is_zero() {
            return;
        }
        let removed = if store.is_poisoned() {
            Ok(false)
        } else {
            store.retain_changes(now_ms(), self.keep, saved)
        };
        let pause = match &removed {
            Ok(true) => Duration::ZERO,
            Ok(false) => PAUSE.min(self.keep / 32),
            Err(error) => {
                let text = format!("old changes could not be removed from the feed: {error}");
                events.emit(EventCode::JobFailed, text);
                PAUSE
            }
        };
        let now = Instant::now();
        self.next = now + pause.max(MIN_PAUSE);
        // When the marks cannot be read, the next step reports it.
        let unchanged = match removed {
            Ok(false) => store.next_retention(now_ms(), self.keep).unwrap_or(PAUSE),
            _ => Duration::ZERO,
        };
        let unchanged = now + unchanged.min(MAX_PAUSE);
        self.unchanged = (store.last_position(), unchanged.max(self.next));
    }
}
