//! The writer of a database: one thread that commits, then publishes what it committed.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use crate::background::{BackgroundCheck, Checked, DatabaseJobs, Loaded, Scheduler};
use crate::columns::ColumnNames;
use crate::error::Error;
use crate::record::{RecordId, RecordRow, RecordUuid, UuidMaker};
use crate::runtime::{EventCode, message, now_ms};
use crate::settings::Settings;
use crate::snapshot::{IdentityIndex, IndexFiles, Published, Snapshot};
use crate::store::{Identity, PutKind, Store, StoreError, Write};
use crate::write::Shared;
use crate::write::command::Command;
use crate::write::commit::{Commit, Committed, stage_commit};
use crate::write::delete::{Deleted, Found};
use crate::write::snapshot_builder::{Memory, SnapshotBuilder};
use crate::write::stage::{Context, Stage, StagedRow, StagedWrite};

/// Commits that share one transaction, and so one wait for the disk.
const MAX_GROUP: usize = 64;

/// Records of a group: beyond, the transaction itself is what takes the time.
const MAX_GROUP_RECORDS: usize = 4096;

/// A commit that takes longer is reported.
const SLOW_COMMIT: Duration = Duration::from_secs(1);

/// How often the writer looks for changes that are older than the feed keeps them …
const RETENTION_PAUSE: Duration = Duration::from_secs(60);
/// … and how long it pauses between two steps, so that writes come in between.
const MIN_RETENTION_PAUSE: Duration = Duration::from_millis(10);

/// Without a task for so long, nobody is writing.
const QUIET: Duration = Duration::from_secs(2);

/// Nanoseconds that the writer spends on testing what was written while the records of a deletion were found.
const MAX_FINDING: f64 = 2e6;

/// The one who writes a database.
pub(crate) struct Writer {
    settings: Settings,
    store: Store,
    memory: Memory,
    jobs: DatabaseJobs,
    scheduler: Arc<Scheduler>,
    uuids: UuidMaker,
    shared: Arc<Shared>,
    /// A panic left unknown what is in memory: reads go on, writes are refused.
    broken: bool,
    reclaim: Reclaim,
    retention: Retention,
    index_files: Arc<IndexFiles>,
    check: Option<BackgroundCheck>,
}

/// How long the change feed keeps a change, and when that is looked after next.
struct Retention {
    keep: Duration,
    next: Instant,
}

/// Whether free pages of the store are being given back to the file system.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reclaim {
    Idle,
    Running,
    /// Not tried again until the database is opened again.
    Failed,
}

impl Writer {
    pub(crate) fn new(
        settings: Settings,
        store: Store,
        index_files: IndexFiles,
        shared: Arc<Shared>,
        tasks: SyncSender<Command>,
        keep_changes: Duration,
        scheduler: Arc<Scheduler>,
    ) -> Self {
        let index_files = Arc::new(index_files);
        Self {
            memory: Memory::new(
                settings.clone(),
                Arc::clone(&index_files),
                shared.events.clone(),
            ),
            jobs: DatabaseJobs::new(
                Arc::clone(&scheduler),
                Arc::clone(&index_files),
                shared.approximation.clone(),
                Arc::new(move || {
                    // A full queue means that the writer is awake and will look by itself.
                    let _ = tasks.try_send(Command::Nudge);
                }),
                shared.events.clone(),
            ),
            uuids: UuidMaker::default(),
            settings,
            store,
            shared,
            broken: false,
            reclaim: Reclaim::Idle,
            retention: Retention {
                keep: keep_changes,
                next: Instant::now(),
            },
            index_files,
            scheduler,
            check: None,
        }
    }

    /// Brings the database to memory: the saved snapshot, then what was committed after it.
    pub(crate) fn load(&mut self, progress: &dyn Fn(usize) -> bool) -> Result<(), Error> {
        let (published, saved) = self.memory.load(&self.store, progress)?;
        if let Some((saved, replayed)) = saved {
            self.jobs.loaded(saved);
            let loaded = Loaded {
                snapshot: Arc::clone(&published.snapshot),
                since: saved.version,
                replayed,
            };
            let (index_files, shared) = (Arc::clone(&self.index_files), Arc::clone(&self.shared));
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
                &self.shared.events,
                &self.store,
                loaded,
                report,
            ));
        } else {
            // All records were read and compared with the store's checksum.
            self.shared.checked.store(true, Relaxed);
        }
        if let Some(reason) = self.store.restored() {
            self.store.start_new_epoch()?;
            let text = format!(
                "{reason}; the index files are rebuilt and the change feed has a new epoch"
            );
            self.shared.events.emit(EventCode::StoreReplaced, text);
        }
        self.shared.published.update(|current| *current = published);
        self.maintain(false);
        Ok(())
    }

    /// The history of the change feed.
    pub(crate) fn epoch(&self) -> [u8; 16] {
        self.store.epoch()
    }

    /// Works until [`Command::Close`].
    pub(crate) fn run(mut self, tasks: &Receiver<Command>) {
        let mut next = None;
        while let Some(task) = next.take().or_else(|| self.wait(tasks)) {
            let quiet = matches!(task, Command::Quiet);
            match task {
                Command::Commit(first) => {
                    self.shared.metrics.write_waits_no_more();
                    let mut records = first.prepared.records();
                    let mut group = vec![first];
                    while group.len() < MAX_GROUP && records < MAX_GROUP_RECORDS {
                        match tasks.try_recv() {
                            Ok(Command::Commit(commit)) => {
                                self.shared.metrics.write_waits_no_more();
                                records += commit.prepared.records();
                                group.push(commit);
                            }
                            Ok(other) => {
                                next = Some(other);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.commit_group(group);
                }
                Command::Delete { found, answer } => {
                    self.shared.metrics.write_waits_no_more();
                    let outcome = self.guarded(|writer| writer.delete(found));
                    answer.send(outcome);
                }
                Command::Nudge | Command::Quiet => {}
                Command::Close => break,
            }
            // A panic here has lost no write: it only ends writing.
            let _ = self.guarded(|writer| {
                writer.maintain(quiet);
                Ok(())
            });
        }
        self.close();
    }

    /// The next task; [`Command::Quiet`] where none comes and that is worth knowing.
    fn wait(&self, tasks: &Receiver<Command>) -> Option<Command> {
        if let Ok(task) = tasks.try_recv() {
            return Some(task);
        }
        let (pause, task) = match self.reclaim {
            Reclaim::Running => (Duration::ZERO, Command::Quiet),
            _ if DatabaseJobs::is_due_when_idle(&self.snapshot(), &self.memory.coding)
                || self.has_space_to_reclaim() =>
            {
                (QUIET, Command::Quiet)
            }
            _ => {
                let next = self.retention.next;
                let pause = next.saturating_duration_since(Instant::now());
                (pause, Command::Nudge)
            }
        };
        match tasks.recv_timeout(pause) {
            Err(RecvTimeoutError::Timeout) => Some(task),
            received => received.ok(),
        }
    }

    fn has_space_to_reclaim(&self) -> bool {
        self.reclaim != Reclaim::Failed
            && !self.store.is_poisoned()
            && self.store.has_space_to_reclaim().unwrap_or(false)
    }

    /// Gives some of the pages of deleted records back, while nothing is written.
    fn reclaim(&mut self) {
        if self.reclaim != Reclaim::Running && !self.has_space_to_reclaim() {
            return;
        }
        let step = self.store.reclaim().and_then(|more| {
            if !more {
                // The file becomes shorter only now.
                self.store.checkpoint()?;
            }
            Ok(more)
        });
        self.reclaim = match step {
            Ok(true) => Reclaim::Running,
            Ok(false) => Reclaim::Idle,
            Err(error) => {
                let text = format!("disk space of deleted records could not be freed: {error}");
                self.shared.events.emit(EventCode::JobFailed, text);
                Reclaim::Failed
            }
        };
    }

    fn close(&mut self) {
        self.check = None;
        // After a panic the snapshot may lack what was committed. What is not saved is read from the store again at
        // the next start.
        let snapshot = (!self.broken).then(|| self.snapshot());
        if let Err(error) = self.jobs.finish(snapshot.as_deref(), &mut self.store) {
            let text = format!("the index files could not be saved: {error}");
            self.shared.events.emit(EventCode::JobFailed, text);
        }
        if let Err(error) = self.store.checkpoint() {
            let text = format!("the log could not be moved into the database file: {error}");
            self.shared.events.emit(EventCode::JobFailed, text);
        }
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.published.snapshot()
    }

    /// Runs `work`. A panic leaves unknown how far it came, so nothing is written after it.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.broken {
            return Err(StoreError::Poisoned.into());
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|panic| {
            self.broken = true;
            let detail = message(&*panic);
            let text = format!("in the writer: {detail}");
            self.shared.events.emit(EventCode::Panic, text);
            Err(Error::Internal { detail })
        });
        if self.broken || self.store.is_poisoned() {
            self.refuse_writes(outcome.as_ref().err());
        }
        outcome
    }

    /// Tells the operator, once, that every later write is refused.
    fn refuse_writes(&self, cause: Option<&Error>) {
        if self.shared.writable.swap(false, Relaxed) {
            let cause = cause.map_or_else(
                || "the log could not be moved into the database file".to_owned(),
                ToString::to_string,
            );
            self.shared.events.emit(EventCode::WritesRefused, cause);
        }
    }

    fn commit_group(&mut self, group: Vec<Commit>) {
        let staged = self.guarded(|writer| {
            let start = Instant::now();
            writer.renumber_when_due()?;
            let mut names = (*writer.snapshot().names).clone();
            let (stage, outcomes) = writer.stage_group(&group, &mut names)?;
            writer.write(&stage)?;
            writer.publish(stage, names);
            writer.committed(start);
            Ok(outcomes)
        });
        match staged {
            Ok(outcomes) => group
                .into_iter()
                .zip(outcomes)
                .for_each(|(commit, outcome)| commit.answer.send(Ok(outcome))),
            // One commit must not fail for another's sake: try each alone.
            Err(_) if group.len() > 1 => group
                .into_iter()
                .for_each(|commit| self.commit_group(vec![commit])),
            Err(error) => {
                if let Some(commit) = group.into_iter().next() {
                    commit.answer.send(Err(error));
                }
            }
        }
    }

    /// Settles the records of each commit.
    fn stage_group(
        &mut self,
        group: &[Commit],
        names: &mut ColumnNames,
    ) -> Result<(Stage, Vec<Committed>), Error> {
        let stored = self.stored_hashes(group)?;
        let mut stage = Stage::new(self.store.next_id());
        let published = self.shared.published.read();
        let context = Context {
            published: &published,
            stored: &stored,
            now: now_ms(),
        };
        let mut outcomes = Vec::with_capacity(group.len());
        for Commit {
            prepared, embedded, ..
        } in group
        {
            let mut prepared = prepared.lock();
            let uuids = &mut self.uuids;
            outcomes.push(stage_commit(
                &self.settings,
                &context,
                &mut prepared,
                embedded,
                &mut stage,
                names,
                uuids,
            )?);
        }
        Ok((stage, outcomes))
    }

    /// The content hashes of the records that the group may change.
    fn stored_hashes(&self, group: &[Commit]) -> Result<HashMap<u64, Identity>, Error> {
        let published = self.shared.published.read();
        let mut ids = Vec::new();
        for Commit { prepared, .. } in group {
            for record in &prepared.lock().records {
                ids.extend(record.new.id);
                let uuid = record.new.uuid.map(RecordUuid);
                if let Some(row) =
                    uuid.and_then(|uuid| published.index.find_uuid(&published.snapshot, uuid))
                {
                    let (block, slot) = published.snapshot.at(row);
                    ids.push(block.id(slot).0);
                }
            }
        }
        ids.retain(|&id| {
            published
                .index
                .find_id(&published.snapshot, RecordId(id))
                .is_some()
        });
        let found = self.store.reader().identities(&ids)?;
        Ok(found
            .into_iter()
            .flatten()
            .map(|identity| (identity.id, identity))
            .collect())
    }

    fn delete(&mut self, found: Found) -> Result<Deleted, Error> {
        let start = Instant::now();
        self.renumber_when_due()?;
        let finding = found.bind(&self.shared.published);
        if finding.cost() > MAX_FINDING {
            return Ok(Deleted::Outdated(finding.give_up()));
        }
        let found = finding.run()?;
        if found.is_stopped() {
            return Err(Error::Stopped);
        }
        let mut stage = Stage::new(self.store.next_id());
        let now = now_ms();
        let mut records: Vec<(RecordId, RecordRow)> = found.records().collect();
        // Rows follow the order of writing, but the changes of a deletion follow the order of the ids.
        records.sort_unstable_by_key(|(id, _)| id.0);
        for &(id, row) in &records {
            stage.delete(id, row, now);
        }
        let names = (*self.snapshot().names).clone();
        self.write(&stage)?;
        self.publish(stage, names);
        self.committed(start);
        Ok(Deleted::Records(records.len()))
    }

    /// Counts a commit that began at `start`.
    fn committed(&self, start: Instant) {
        let took = start.elapsed();
        self.shared.metrics.committed(took);
        if took > SLOW_COMMIT {
            let text = format!("a commit took {} ms", took.as_millis());
            self.shared.events.emit(EventCode::SlowCommit, text);
        }
    }

    /// Makes the stage durable.
    fn write(&mut self, stage: &Stage) -> Result<(), Error> {
        let writes: Vec<Write<'_>> = stage
            .writes
            .iter()
            .map(|write| match write {
                StagedWrite::Put {
                    row,
                    created,
                    json,
                    hash,
                } => {
                    let row = &stage.rows[*row];
                    Write::Put {
                        id: row.id.0,
                        uuid: row.uuid.0,
                        data: json,
                        vector: &row.vector,
                        hash: *hash,
                        created: row.times.created,
                        changed: row.times.changed,
                        synced: row.times.synced,
                        kind: if *created {
                            PutKind::Created
                        } else {
                            PutKind::Changed
                        },
                    }
                }
                StagedWrite::Touch { id, synced } => Write::Touch {
                    id: id.0,
                    synced: *synced,
                },
                StagedWrite::Delete { id, at } => Write::Delete { id: id.0, at: *at },
            })
            .collect();
        if !writes.is_empty() {
            self.store.commit(&writes)?;
        }
        Ok(())
    }

    /// Shows readers what was committed.
    fn publish(&mut self, stage: Stage, names: ColumnNames) {
        #[cfg(test)]
        assert!(
            !self.shared.panic_after_commit.load(Relaxed),
            "a panic was asked for"
        );
        if stage.writes.is_empty() {
            return;
        }
        let Stage {
            rows,
            touches,
            gone,
            records,
            ..
        } = stage;
        // A record that was put twice enters memory as it ended.
        let mut last = vec![false; rows.len()];
        for record in records.values() {
            if let StagedRow::New(at) = record.row {
                last[at] = true;
            }
        }
        let rows = rows
            .into_iter()
            .zip(last)
            .filter_map(|(row, last)| last.then_some(row))
            .collect();
        let version = self.store.version();
        self.change(|memory, next| memory.apply(next, names, version, rows, &touches, gone));
        self.shared.last_write_at.store(now_ms(), Relaxed);
    }

    fn note_disk_bytes(&self) {
        let bytes = self.store.file_bytes() + self.index_files.disk_bytes();
        self.shared.disk_bytes.store(bytes, Relaxed);
    }

    /// Renumbers all rows without gaps before the numbers run out. Searches go on in the old snapshot.
    fn renumber_when_due(&mut self) -> Result<(), Error> {
        if self.snapshot().next_row() < RecordRow::RENUMBER_FROM {
            return Ok(());
        }
        let snapshot = self.snapshot().renumbered(RecordRow(0));
        if snapshot.next_row() >= RecordRow::RENUMBER_FROM {
            let limit = RecordRow::RENUMBER_FROM.0 as usize;
            return Err(Error::Busy {
                what: "records",
                limit,
            });
        }
        self.jobs.rows_renumbered();
        let published = Published {
            index: IdentityIndex::of(&snapshot),
            snapshot: Arc::new(snapshot),
        };
        self.shared.published.update(|current| *current = published);
        Ok(())
    }

    /// Makes the next snapshot with `change` and publishes it.
    fn change(&mut self, change: impl FnOnce(&mut Memory, &mut SnapshotBuilder)) {
        let mut next = SnapshotBuilder::of(&self.snapshot());
        change(&mut self.memory, &mut next);
        self.shared
            .published
            .update(|published| next.publish(published));
    }

    /// Work that keeps the database fast: takes over, seals, compacts, trains, saves. Never fails a write.
    fn maintain(&mut self, quiet: bool) {
        let handed = self.jobs.take_results();
        let mut more = false;
        self.change(|memory, next| {
            memory.take_over(next, handed);
            more = memory.tidy(next);
        });
        if more {
            self.jobs.wake_writer();
        }
        let snapshot = self.snapshot();
        self.jobs
            .start_due_job(&snapshot, &mut self.store, &self.memory.coding, quiet);
        if quiet {
            self.reclaim();
        } else if self.reclaim == Reclaim::Running {
            // Somebody writes: it goes on after the next pause.
            self.reclaim = Reclaim::Idle;
        }
        if self.retention.next <= Instant::now() {
            self.retain_changes();
        }
        self.note_disk_bytes();
    }

    /// Removes some of the changes that are older than the feed keeps them.
    fn retain_changes(&mut self) {
        let keep = self.retention.keep;
        let removed = if self.store.is_poisoned() {
            Ok(false)
        } else {
            let saved = self.jobs.saved_version();
            self.store.retain_changes(now_ms(), keep, saved)
        };
        let pause = match removed {
            Ok(true) => Duration::ZERO,
            Ok(false) => RETENTION_PAUSE.min(keep / 32),
            Err(error) => {
                let text = format!("old changes could not be removed from the feed: {error}");
                self.shared.events.emit(EventCode::JobFailed, text);
                RETENTION_PAUSE
            }
        };
        self.retention.next = Instant::now() + pause.max(MIN_RETENTION_PAUSE);
    }
}
