//! The writer of a database: runs commands one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::background::{BackgroundCheck, Checked, DatabaseJobs, Loaded, Saved, Scheduler};
use crate::error::Error;
use crate::runtime::{EventCode, message};
use crate::settings::Settings;
use crate::snapshot::IndexFiles;
use crate::store::{Store, StoreError, Tally};
use crate::write::Shared;
use crate::write::block_maintenance::BlockMaintenance;
use crate::write::commit::Commit;
use crate::write::committer::Committer;
use crate::write::load::{LoadedDatabase, Loader};
use crate::write::maintenance::Maintenance;
use crate::write::writer_queue::{Command, Next, Refreshed, RunsCommands, WriterQueue};

/// Commits that share one transaction, and so one sync of the disk.
const MAX_GROUP: usize = 64;

/// Records of a group. With more, the transaction takes longer than the sync.
const MAX_GROUP_RECORDS: usize = 4096;

/// How long a writer runs commands before the writers that wait for a thread.
const MAX_TURN: Duration = Duration::from_millis(50);

/// The only object that writes a database.
pub(crate) struct Writer {
    committer: Committer,
    maintenance: Maintenance,
    scheduler: Arc<Scheduler>,
    check: Option<BackgroundCheck>,
    /// After a panic the state in memory is unknown: reads go on, and writes are refused.
    broken: bool,
}

impl Writer {
    /// The writer of `store`, which runs the commands of `queue`.
    pub(crate) fn new(
        settings: Settings,
        store: Store,
        index_files: IndexFiles,
        shared: Arc<Shared>,
        queue: Arc<WriterQueue>,
        keep_changes: Duration,
        scheduler: Arc<Scheduler>,
    ) -> Self {
        let index_files = Arc::new(index_files);
        // When the queue is full, the writer is awake and runs its maintenance anyway.
        let wake = move || queue.send(Command::Wake);
        let jobs = DatabaseJobs::new(
            Arc::clone(&scheduler),
            Arc::clone(&index_files),
            Arc::new(wake),
            shared.events.clone(),
        );
        let blocks = BlockMaintenance::new(Arc::clone(&index_files), shared.events.clone());
        Self {
            committer: Committer::new(settings, store, shared),
            maintenance: Maintenance::new(jobs, blocks, index_files, keep_changes),
            scheduler,
            check: None,
            broken: false,
        }
    }

    /// Loads the database into memory and publishes it. `progress` gets the number of records so far and returns
    /// whether to go on.
    pub(crate) fn load(&mut self, progress: &dyn Fn(usize) -> bool) -> Result<(), Error> {
        let committer = &mut self.committer;
        let loader = Loader {
            settings: &committer.settings,
            store: &mut committer.store,
            index_files: &self.maintenance.index_files,
            events: &committer.shared.events,
            blocks: &mut self.maintenance.blocks,
            progress,
        };
        let LoadedDatabase {
            published,
            coding,
            saved,
        } = loader.load()?;
        committer.coding = coding;
        if let Some(reason) = committer.store.restored() {
            let begun = committer.store.start_new_epoch();
            begun.inspect_err(|_| self.maintenance.blocks.abandon(&committer.store.reader()))?;
            let text = format!(
                "{reason}; the index files are rebuilt and the change feed has a new epoch"
            );
            committer.shared.events.emit(EventCode::StoreReplaced, text);
        }
        let shared = Arc::clone(&committer.shared);
        shared.published.update(|current| *current = published);
        committer.set_word_columns();
        match saved {
            Some((saved, replayed)) => self.start_check(saved, replayed),
            None => shared.checked.store(true, Relaxed),
        }
        self.maintenance.run(&mut self.committer, false);
        Ok(())
    }

    /// Starts the complete check of a database that was loaded from index files.
    fn start_check(&mut self, saved: Saved, replayed: Tally) {
        self.maintenance.jobs.loaded(saved);
        let loaded = Loaded {
            version: self.committer.store.version(),
            since: saved.version,
            replayed,
            reader: self.committer.store.reader(),
            published: Arc::clone(&self.committer.shared.published),
        };
        let index_files = Arc::clone(&self.maintenance.index_files);
        let shared = Arc::clone(&self.committer.shared);
        let report = move |checked| match checked {
            Checked::Complete => shared.checked.store(true, Relaxed),
            Checked::Damaged(text) => {
                // The next start reads everything from the store.
                index_files.mark_untrusted();
                shared.note_damage(&text);
            }
            Checked::Failed(text) => shared.events.emit(EventCode::JobFailed, text),
        };
        self.check = Some(BackgroundCheck::start(
            &self.scheduler,
            &self.committer.shared.events,
            loaded,
            report,
        ));
    }

    /// The history of the change feed.
    pub(crate) fn epoch(&self) -> [u8; 16] {
        self.committer.store.epoch()
    }

    /// Runs a command, and the commits that wait behind a commit. Returns whether the writer goes on.
    fn run_command(&mut self, command: Command, queue: &Arc<WriterQueue>) -> bool {
        let idle = matches!(command, Command::Idle);
        match command {
            Command::Commit(waiting, first) => {
                drop(waiting);
                self.commit_group(take_group(first, queue));
            }
            Command::Delete {
                waiting,
                matches,
                reply,
            } => {
                drop(waiting);
                let outcome = self.guarded(|writer| {
                    writer.renumber_if_due()?;
                    writer.committer.delete(matches)
                });
                reply.send(outcome);
            }
            Command::Configure(settings, reply) => {
                reply.send(self.guarded(|writer| writer.committer.configure(*settings)));
            }
            Command::Use(call) => {
                // A panic refuses all later writes, and the caller learns of it when the reply is dropped.
                let _ = self.guarded(|writer| {
                    call(Ok(&mut writer.committer.store));
                    Ok(())
                });
            }
            // The database is as of now.
            Command::Refresh(reply) => reply.send(Ok(Refreshed::Current)),
            Command::Pause(begun) => {
                // When the receiver is gone, the pause ends at once.
                let _ = begun.send(queue.pause());
            }
            Command::Wake | Command::Idle => {}
            Command::Close => return false,
        }
        // A panic here loses no write, but no other write is accepted after it.
        let _ = self.guarded(|writer| {
            writer.maintenance.run(&mut writer.committer, idle);
            Ok(())
        });
        true
    }

    /// Commits a group, and replies to the caller of each commit.
    fn commit_group(&mut self, group: Vec<Commit>) {
        let committed = self.guarded(|writer| {
            writer.renumber_if_due()?;
            writer.committer.commit(&group)
        });
        match committed {
            Ok(outcomes) => group
                .into_iter()
                .zip(outcomes)
                .for_each(|(commit, outcome)| {
                    let written = commit.prepared.take_committed();
                    commit.reply.send(Ok(outcome));
                    // The caller does not wait until the records are freed.
                    drop(written);
                }),
            // A commit must not fail because of another commit: each is tried alone.
            Err(_) if group.len() > 1 => group
                .into_iter()
                .for_each(|commit| self.commit_group(vec![commit])),
            Err(error) => {
                if let Some(commit) = group.into_iter().next() {
                    commit.reply.send(Err(error));
                }
            }
        }
    }

    fn renumber_if_due(&mut self) -> Result<(), Error> {
        if self.committer.shared.renumber_if_due()? {
            self.maintenance.jobs.rows_renumbered();
        }
        Ok(())
    }

    /// Runs `work`. After a panic it is unknown what `work` did, so all later writes are refused.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.broken {
            return Err(StoreError::Poisoned.into());
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|panic| {
            self.broken = true;
            let detail = message(&*panic);
            let text = format!("in the writer: {detail}");
            self.committer.shared.events.emit(EventCode::Panic, text);
            Err(Error::Internal { detail })
        });
        if self.broken || self.committer.store.is_poisoned() {
            self.refuse_writes(outcome.as_ref().err());
        }
        outcome
    }

    /// Reports once that all later writes are refused.
    fn refuse_writes(&self, cause: Option<&Error>) {
        let shared = &self.committer.shared;
        if shared.writable.swap(false, Relaxed) {
            let cause = cause.map_or_else(
                || "the log could not be moved into the database file".to_owned(),
                ToString::to_string,
            );
            shared.events.emit(EventCode::WritesRefused, cause);
        }
    }

    /// Cancels the check and the job, and saves the snapshot.
    fn close(&mut self) {
        self.check = None;
        // After a panic the snapshot may lack commits. The next start reads what is not saved from the store.
        let snapshot = (!self.broken).then(|| self.committer.snapshot());
        let events = &self.committer.shared.events;
        let store = &mut self.committer.store;
        if let Some(snapshot) = &snapshot
            && !store.is_poisoned()
        {
            self.maintenance.blocks.finish(snapshot, store);
        }
        if let Err(error) = self.maintenance.jobs.finish(snapshot.as_deref(), store) {
            let text = format!("the index files could not be saved: {error}");
            events.emit(EventCode::JobFailed, text);
        }
        // The files that the last hand-over left can be removed once the log is in the main file.
        let finished = store
            .checkpoint()
            .and_then(|()| store.remove_unnamed_files());
        if let Err(error) = finished {
            let text = format!("the log could not be moved into the database file: {error}");
            events.emit(EventCode::JobFailed, text);
        }
    }
}

impl RunsCommands for Writer {
    fn run(&mut self, queue: &Arc<WriterQueue>, due: Option<Command>) -> Option<Next> {
        let end = Instant::now() + MAX_TURN;
        let mut next = due;
        while let Some(command) = next.take().or_else(|| queue.take()) {
            if !self.run_command(command, queue) {
                self.close();
                return None;
            }
            if Instant::now() >= end {
                break;
            }
        }
        Some(self.maintenance.next(&mut self.committer))
    }

    fn has_open_files(&self) -> bool {
        self.committer.store.is_open()
    }

    fn close_files(&mut self) {
        // A panic here loses no write, but no other write is accepted after it.
        let _ = self.guarded(|writer| {
            writer.committer.store.close_files();
            Ok(())
        });
    }
}

/// Takes the commits that wait behind `first`, for one transaction.
fn take_group(first: Commit, queue: &WriterQueue) -> Vec<Commit> {
    let mut records = first.prepared.records();
    let mut group = vec![first];
    while group.len() < MAX_GROUP
        && records < MAX_GROUP_RECORDS
        && let Some(commit) = queue.take_commit()
    {
        records += commit.prepared.records();
        group.push(commit);
    }
    group
}
