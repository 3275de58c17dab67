//! Maintenance: what the writer does after commands to keep the database fast. It never fails a write.
//!
//! It also removes changes that are older than the feed keeps them, and while nothing is written gives the disk space of
//! deleted records back to the file system.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::background::DatabaseJobs;
use crate::runtime::{DatabaseEvents, EventCode, now_ms};
use crate::snapshot::IndexFiles;
use crate::store::{Store, StoreError};
use crate::write::block_maintenance::BlockMaintenance;
use crate::write::committer::Committer;
use crate::write::writer_queue::{Command, Next};

/// A database is idle when its writer got no command for this long.
const IDLE_AFTER: Duration = Duration::from_secs(2);

/// The maintenance of one database.
pub(crate) struct Maintenance {
    pub(crate) jobs: DatabaseJobs,
    pub(crate) blocks: BlockMaintenance,
    pub(crate) index_files: Arc<IndexFiles>,
    reclaim: Reclaim,
    retention: Retention,
}

impl Maintenance {
    pub(crate) fn new(
        jobs: DatabaseJobs,
        blocks: BlockMaintenance,
        index_files: Arc<IndexFiles>,
        keep_changes: Duration,
    ) -> Self {
        Self {
            jobs,
            blocks,
            index_files,
            reclaim: Reclaim::Idle,
            retention: Retention::new(keep_changes),
        }
    }

    /// What the writer does when no command comes, and when.
    pub(crate) fn next(&self, committer: &mut Committer) -> Next {
        let (command, pause) = if self.reclaim == Reclaim::Running {
            (Command::Idle, Duration::ZERO)
        } else if DatabaseJobs::is_due_when_idle(
            &committer.snapshot(),
            &committer.coding,
            committer.settings.lexical.is_on(),
        ) || self.reclaim.is_due(&mut committer.store)
            || committer.store.has_log()
        {
            (Command::Idle, IDLE_AFTER)
        } else {
            (Command::Wake, self.retention.due_in(&committer.store))
        };
        Next { command, pause }
    }

    /// Applies job results, maintains blocks, submits the next job, frees disk space, removes old changes. `idle`:
    /// nothing was written for a while.
    pub(crate) fn run(&mut self, committer: &mut Committer, idle: bool) {
        let results = self.jobs.take_results();
        let blocks = &mut self.blocks;
        let more = committer.publish(|next, coding| {
            next.apply_job_results(results, coding);
            blocks.run(next, coding)
        });
        if more {
            self.jobs.wake_writer();
        }
        let snapshot = committer.snapshot();
        let store = &mut committer.store;
        if self.blocks.hand_over(&snapshot, store) {
            self.jobs.wake_writer();
        }
        let lexical = committer.settings.lexical.is_on();
        self.jobs
            .start_due_job(&snapshot, Some(store), &committer.coding, lexical, idle);
        let events = &committer.shared.events;
        if idle {
            self.reclaim.step(store, events);
            store.free_log_and_memory();
        } else {
            self.reclaim.pause();
        }
        self.retention
            .step(store, self.jobs.saved_version(), events);
        let bytes = store.file_bytes() + self.index_files.disk_bytes();
        committer.shared.disk_bytes.store(bytes, Relaxed);
    }
}

/// Whether free pages of the store are being released.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reclaim {
    Idle,
    Running,
    /// A step failed. Nothing is tried again until the database is opened again.
    Failed,
}

impl Reclaim {
    /// Whether a step is due while nothing is written.
    pub(crate) fn is_due(self, store: &mut Store) -> bool {
        self == Self::Running || self != Self::Failed && has_space(store)
    }

    /// Releases some pages, if a step is due.
    pub(crate) fn step(&mut self, store: &mut Store, events: &DatabaseEvents) {
        if !self.is_due(store) {
            return;
        }
        *self = match release(store) {
            Ok(true) => Self::Running,
            Ok(false) => Self::Idle,
            Err(error) => {
                let text = format!("disk space of deleted records could not be freed: {error}");
                events.emit(EventCode::JobFailed, text);
                Self::Failed
            }
        };
    }

    /// Pauses until nothing is written again.
    pub(crate) fn pause(&mut self) {
        if *self == Self::Running {
            *self = Self::Idle;
        }
    }
}

fn has_space(store: &mut Store) -> bool {
    // A store whose files are closed is not opened for it.
    store.is_open() && !store.is_poisoned() && store.has_space_to_reclaim().unwrap_or(false)
}

/// Releases some pages; returns whether there are more.
fn release(store: &mut Store) -> Result<bool, StoreError> {
    let more = store.reclaim()?;
    if !more {
        // Only the checkpoint shortens the file.
        store.checkpoint()?;
    }
    Ok(more)
}

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
