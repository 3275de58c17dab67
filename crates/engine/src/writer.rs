//! The writer of a database: one thread that commits, then publishes what it committed.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use crate::answer::Answer;
use crate::columns::ColumnNames;
use crate::database::{Published, now_ms};
use crate::defect::message;
use crate::delete::Deletion;
use crate::derived::Derived;
use crate::error::Error;
use crate::identity::{RecordId, RecordUuid};
use crate::json::write_integer;
use crate::keeper::Keeper;
use crate::memory::{Memory, Next};
use crate::meter::Meter;
use crate::problem::{Problem, ProblemCode};
use crate::prepare::{LineProblem, Prepared, PreparedRecords, VectorSource};
use crate::score::to_unit_q30;
use crate::settings::Settings;
use crate::stage::{Context, Stage, StagedRow, StagedWrite, Standing, Status, Upserted};
use crate::snapshot::Snapshot;
use crate::store::{Identity, PutKind, Store, StoreError, Write};
use crate::uuid::UuidMaker;

/// What a commit did.
#[derive(Debug, Default)]
pub struct Committed {
    /// Each record, in the order of the request; bad lines are missing.
    pub results: Vec<Upserted>,
    /// Lines that turned out to be bad only now.
    pub problems: Vec<LineProblem>,
}

/// What the writer is asked to do.
pub(crate) enum Task {
    /// Write prepared records with the vectors of their texts, `dimensions` each.
    Commit(Commit),
    /// Delete records.
    Delete { deletion: Deletion, answer: Answer<usize> },
    /// A background job has something to hand over.
    Nudge,
    /// Save and end.
    Close,
}

/// Prepared records with the vectors of their texts, `dimensions` values each.
pub(crate) struct Commit {
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) vectors: Vec<f32>,
    pub(crate) answer: Answer<Committed>,
}

impl Task {
    /// Answers a task that can't be taken.
    pub(crate) fn refuse(self, error: Error) {
        match self {
            Self::Commit(commit) => commit.answer.send(Err(error)),
            Self::Delete { answer, .. } => answer.send(Err(error)),
            Self::Nudge | Self::Close => {}
        }
    }
}

/// Commits that share one transaction, and so one wait for the disk.
const MAX_GROUP: usize = 64;

/// Records of a group: beyond, the transaction itself is what takes the time.
const MAX_GROUP_RECORDS: usize = 4096;

/// The one who writes a database.
pub(crate) struct Writer {
    settings: Settings,
    store: Store,
    memory: Memory,
    keeper: Keeper,
    uuids: UuidMaker,
    published: Arc<RwLock<Published>>,
    last_write_at: Arc<AtomicI64>,
    disk_bytes: Arc<AtomicU64>,
    meter: Arc<Meter>,
    /// A panic left unknown what is in memory: reads go on, writes are refused.
    broken: bool,
}

impl Writer {
    pub(crate) fn new(
        settings: Settings,
        store: Store,
        derived: Derived,
        published: Arc<RwLock<Published>>,
        last_write_at: Arc<AtomicI64>,
        disk_bytes: Arc<AtomicU64>,
        meter: Arc<Meter>,
        tasks: SyncSender<Task>,
    ) -> Self {
        let derived = Arc::new(derived);
        Self {
            memory: Memory::new(settings.dimensions, Arc::clone(&derived)),
            keeper: Keeper::new(derived, tasks),
            uuids: UuidMaker::default(),
            settings,
            store,
            published,
            last_write_at,
            disk_bytes,
            meter,
            broken: false,
        }
    }

    /// Brings the database to memory: the saved snapshot, then what was committed after it.
    pub(crate) fn load(&mut self, progress: &dyn Fn(usize) -> bool) -> Result<(), Error> {
        let keeper = &self.keeper;
        let published = self.memory.load(&self.store.reader(), |saved| keeper.loaded(saved), progress)?;
        *self.published.write().unwrap_or_else(PoisonError::into_inner) = published;
        self.disk_bytes.store(self.store.file_bytes() + self.keeper.disk_bytes(), Relaxed);
        self.maintain();
        Ok(())
    }

    /// Works until [`Task::Close`].
    pub(crate) fn run(mut self, tasks: &Receiver<Task>) {
        let mut next = None;
        while let Some(task) = next.take().or_else(|| tasks.recv().ok()) {
            match task {
                Task::Commit(first) => {
                    self.meter.write_waits_no_more();
                    let mut records = first.prepared.records();
                    let mut group = vec![first];
                    while group.len() < MAX_GROUP && records < MAX_GROUP_RECORDS {
                        match tasks.try_recv() {
                            Ok(Task::Commit(commit)) => {
                                self.meter.write_waits_no_more();
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
                Task::Delete { deletion, answer } => {
                    self.meter.write_waits_no_more();
                    let outcome = self.guarded(|writer| writer.delete(&deletion));
                    answer.send(outcome);
                }
                Task::Nudge => {}
                Task::Close => break,
            }
            // A panic here has lost no write: it only ends writing.
            let _ = self.guarded(|writer| {
                writer.maintain();
                Ok(())
            });
        }
        self.close();
    }

    fn close(&mut self) {
        let snapshot = self.snapshot();
        // What was not saved is read from the store again at the next start.
        let _ = self.keeper.finish(&snapshot, self.store.version());
        let _ = self.store.checkpoint();
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.published.read().unwrap_or_else(PoisonError::into_inner).snapshot)
    }

    /// Runs `work`. A panic leaves unknown how far it came, so nothing is written after it.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.broken {
            return Err(StoreError::Poisoned.into());
        }
        catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|panic| {
            self.broken = true;
            Err(Error::Defect { detail: message(&*panic) })
        })
    }

    fn commit_group(&mut self, group: Vec<Commit>) {
        let staged = self.guarded(|writer| {
            let start = Instant::now();
            let mut names = (*writer.snapshot().names).clone();
            let (stage, outcomes) = writer.stage_group(&group, &mut names)?;
            writer.write(&stage)?;
            writer.publish(stage, names);
            writer.meter.committed(start.elapsed());
            Ok(outcomes)
        });
        match staged {
            Ok(outcomes) => group.into_iter().zip(outcomes).for_each(|(commit, outcome)| commit.answer.send(Ok(outcome))),
            // One commit must not fail for another's sake: try each alone.
            Err(_) if group.len() > 1 => group.into_iter().for_each(|commit| self.commit_group(vec![commit])),
            Err(error) => {
                if let Some(commit) = group.into_iter().next() {
                    commit.answer.send(Err(error));
                }
            }
        }
    }

    /// Settles the records of each commit.
    fn stage_group(&mut self, group: &[Commit], names: &mut ColumnNames) -> Result<(Stage, Vec<Committed>), Error> {
        let stored = self.stored_hashes(group)?;
        let mut stage = Stage::new(self.store.next_id());
        let published = self.published.read().unwrap_or_else(PoisonError::into_inner);
        let context = Context { published: &published, stored: &stored, now: now_ms() };
        let mut outcomes = Vec::with_capacity(group.len());
        for Commit { prepared, vectors, .. } in group {
            let mut prepared = prepared.lock();
            let uuids = &mut self.uuids;
            outcomes.push(stage_commit(&self.settings, &context, &mut prepared, vectors, &mut stage, names, uuids)?);
        }
        Ok((stage, outcomes))
    }

    /// The content hashes of the records that the group may change.
    fn stored_hashes(&self, group: &[Commit]) -> Result<HashMap<u64, Identity>, Error> {
        let published = self.published.read().unwrap_or_else(PoisonError::into_inner);
        let mut ids = Vec::new();
        for Commit { prepared, .. } in group {
            for record in &prepared.lock().records {
                ids.extend(record.new.id);
                let uuid = record.new.uuid.map(RecordUuid);
                if let Some(row) = uuid.and_then(|uuid| published.index.find_uuid(&published.snapshot, uuid)) {
                    let (block, slot) = published.snapshot.at(row);
                    ids.push(block.id(slot).0);
                }
            }
        }
        ids.retain(|&id| published.index.find_id(&published.snapshot, RecordId(id)).is_some());
        let found = self.store.reader().identities(&ids)?;
        Ok(found.into_iter().flatten().map(|identity| (identity.id, identity)).collect())
    }

    fn delete(&mut self, deletion: &Deletion) -> Result<usize, Error> {
        let start = Instant::now();
        let mut stage = Stage::new(self.store.next_id());
        let now = now_ms();
        let (found, names) = {
            let published = self.published.read().unwrap_or_else(PoisonError::into_inner);
            (deletion.find(&published), (*published.snapshot.names).clone())
        };
        found.iter().for_each(|&(id, row)| stage.delete(id, row, now));
        self.write(&stage)?;
        self.publish(stage, names);
        self.meter.committed(start.elapsed());
        Ok(found.len())
    }

    /// Makes the stage durable.
    fn write(&mut self, stage: &Stage) -> Result<(), Error> {
        let writes: Vec<Write<'_>> = stage
            .writes
            .iter()
            .map(|write| match write {
                StagedWrite::Put { row, created, json, hash } => {
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
                        kind: if *created { PutKind::Created } else { PutKind::Changed },
                    }
                }
                StagedWrite::Touch { id, synced } => Write::Touch { id: id.0, synced: *synced },
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
        if stage.writes.is_empty() {
            return;
        }
        let Stage { rows, touches, gone, records, .. } = stage;
        // A record that was put twice enters memory as it ended.
        let mut last = vec![false; rows.len()];
        for record in records.values() {
            if let StagedRow::New(at) = record.row {
                last[at] = true;
            }
        }
        let rows = rows.into_iter().zip(last).filter_map(|(row, last)| last.then_some(row)).collect();
        let version = self.store.version();
        self.change(|memory, next| memory.apply(next, names, version, rows, &touches, gone));
        self.last_write_at.store(now_ms(), Relaxed);
        self.disk_bytes.store(self.store.file_bytes() + self.keeper.disk_bytes(), Relaxed);
    }

    /// Makes the next snapshot with `change` and publishes it.
    fn change(&mut self, change: impl FnOnce(&mut Memory, &mut Next)) {
        let mut next = Next::of(&self.snapshot());
        change(&mut self.memory, &mut next);
        next.publish(&self.published);
    }

    /// Work that keeps the database fast: takes over, seals, compacts, trains, saves. Never fails a write.
    fn maintain(&mut self) {
        let handed = self.keeper.handed_over();
        let mut more = false;
        self.change(|memory, next| {
            memory.take_over(next, handed);
            more = memory.tidy(next);
        });
        if more {
            self.keeper.nudge();
        }
        let snapshot = self.snapshot();
        self.keeper.consider(&snapshot, self.store.version(), &self.memory);
    }
}

fn stage_commit(
    settings: &Settings,
    context: &Context<'_>,
    prepared: &mut PreparedRecords,
    vectors: &[f32],
    stage: &mut Stage,
    names: &mut ColumnNames,
    uuids: &mut UuidMaker,
) -> Result<Committed, Error> {
    let dimensions = settings.dimensions;
    // The texts are others since they were embedded: an earlier try found records that had changed.
    if vectors.len() != prepared.texts.len() * dimensions {
        return Err(Error::Stale);
    }
    let mut committed = Committed::default();
    let mut stale = Vec::new();
    stage.reserve(&prepared.records);
    for (at, record) in prepared.records.iter().enumerate() {
        let standing = match stage.standing(context, at, record) {
            Ok(standing) => standing,
            Err(error) => match (record.line, error) {
                (Some(line), Error::IdentityConflict { detail, pointer }) => {
                    let pointer = pointer.trim_start_matches(&format!("/records/{at}")).to_owned();
                    let problem = Problem { pointer, code: ProblemCode::IdentityConflict, detail };
                    committed.problems.push(LineProblem { line, problem });
                    continue;
                }
                (_, error) => return Err(error),
            },
        };
        if let Standing::Same(id) = standing {
            committed.results.push(stage.touch(context, id, record));
            continue;
        }
        if stage.out_of_ids() && record.new.id.is_none() {
            return Err(Error::invalid("invalid_record", format!("/records/{at}"), "no integer id is left: give one"));
        }
        let vector = match &record.vector {
            VectorSource::Given(unit) => unit.clone(),
            VectorSource::Text(text) => to_unit_q30(&vectors[text * dimensions..][..dimensions])?,
            VectorSource::Unchanged => {
                stale.push(at);
                continue;
            }
        };
        committed.results.push(stage.put(context, &standing, record, vector, names, uuids));
    }
    if !stale.is_empty() {
        prepared.texts.clear();
        for at in 0..prepared.records.len() {
            if !matches!(prepared.records[at].vector, VectorSource::Given(_)) {
                prepared.ask_text(at, settings);
            }
        }
        return Err(Error::Stale);
    }
    Ok(committed)
}

impl Committed {
    /// The results as a JSON array of `id`, `uuid` and `status`.
    #[must_use]
    pub fn results_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.results.len() * 90 + 2);
        out.push(b'[');
        for (at, record) in self.results.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"{\"id\":" } else { b",{\"id\":" });
            write_integer(record.id.0, &mut out);
            out.extend_from_slice(b",\"uuid\":\"");
            record.uuid.write(&mut out);
            out.extend_from_slice(b"\",\"status\":\"");
            out.extend_from_slice(record.status.name().as_bytes());
            out.extend_from_slice(b"\"}");
        }
        out.push(b']');
        out
    }

    /// How many records had `status`.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.results.iter().filter(|record| record.status == status).count()
    }
}
