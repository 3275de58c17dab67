//! Maintenance: what the writer does after commands to keep the database fast. It never fails a write.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::background::DatabaseJobs;
use crate::snapshot::IndexFiles;
use crate::write::block_maintenance::BlockMaintenance;
use crate::write::command::Command;
use crate::write::committer::Committer;
use crate::write::reclaim::Reclaim;
use crate::write::retention::Retention;
use crate::write::writer_queue::Next;

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
            committer.settings.lexical,
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
        let lexical = committer.settings.lexical;
        self.jobs
            .start_due_job(&snapshot, store, &committer.coding, lexical, idle);
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
