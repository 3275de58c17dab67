//! The background jobs of one database, one at a time, and how far its saved snapshot reaches.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::mpsc::{Receiver, channel};

use parking_lot::Mutex;

use crate::background::basis_jobs::{Recode, Train};
use crate::background::index_words::{IndexWords, groups_to_index, has_many_small_groups};
use crate::background::scheduler::{
    Job, JobHandle, JobResult, Lane, Results, Scheduler, SingleStep, Wake,
};
use crate::disk::FileError;
use crate::runtime::{DatabaseEvents, EventCode};
use crate::snapshot::{Block, Coding, FileId, IndexFiles, SavedSnapshot, Snapshot};
use crate::store::{Stamp, Store};

/// A rotated basis makes searches faster from this many records on.
const TRAIN_FROM: usize = 8_192;

/// A basis is trained again when the database has grown to this many percent of the records it had at the last
/// training.
const TRAIN_GROWTH: usize = 400;

/// The same bound while nothing is written. Records often come in an order, so the first of them are no fair sample of
/// all. Once all are there, a training pays earlier.
const IDLE_TRAIN_GROWTH: usize = 125;

/// A snapshot is saved when so many rows are new, or when so many vectors wait for the file of their codes, which take less
/// memory then. In larger databases, it is a quarter of the records or vectors.
const SAVE_ROWS: usize = 65_536;

/// Decides which job a database needs, submits it to the scheduler, and collects what it makes.
pub(crate) struct DatabaseJobs {
    scheduler: Arc<Scheduler>,
    index_files: Arc<IndexFiles>,
    results: Results,
    received: Mutex<Receiver<JobResult>>,
    submitted: Option<JobHandle>,
    /// Whether a job waits or has work left.
    busy: Arc<AtomicBool>,
    saved: Arc<Mutex<Saved>>,
    /// Whether the last save failed.
    save_failed: Arc<AtomicBool>,
    events: DatabaseEvents,
}

impl DatabaseJobs {
    pub(crate) fn new(
        scheduler: Arc<Scheduler>,
        index_files: Arc<IndexFiles>,
        wake: Wake,
        events: DatabaseEvents,
    ) -> Self {
        let (sender, received) = channel();
        Self {
            scheduler,
            index_files,
            results: Results { sender, wake },
            received: Mutex::new(received),
            submitted: None,
            busy: Arc::default(),
            saved: Arc::default(),
            save_failed: Arc::default(),
            events,
        }
    }

    /// Notes the state of the saved snapshot that the database was loaded from.
    pub(crate) fn loaded(&self, saved: Saved) {
        *self.saved.lock() = saved;
    }

    /// Removes and returns what jobs have made since the last call.
    pub(crate) fn take_results(&self) -> Vec<JobResult> {
        self.received.lock().try_iter().collect()
    }

    /// Whether a job is due as soon as nothing is written for a while. `lexical`: the words are indexed.
    pub(crate) fn is_due_when_idle(snapshot: &Snapshot, coding: &Coding, lexical: bool) -> bool {
        has_outgrown_basis(snapshot.records(), coding.trained_at, IDLE_TRAIN_GROWTH)
            || lexical && has_many_small_groups(&snapshot.blocks)
    }

    /// Submits the job that the database needs most, unless one waits or runs. No snapshot is saved without a `store`.
    /// `lexical`: its words are indexed. `idle`: nothing was written for a while.
    pub(crate) fn start_due_job(
        &mut self,
        snapshot: &Arc<Snapshot>,
        store: Option<&mut Store>,
        coding: &Coding,
        lexical: bool,
        idle: bool,
    ) {
        if self.busy.load(Acquire) {
            return;
        }
        if let Some((lane, job)) = self.due_job(snapshot, store, coding, lexical, idle) {
            self.submit(lane, job);
        }
    }

    fn due_job(
        &self,
        snapshot: &Arc<Snapshot>,
        store: Option<&mut Store>,
        coding: &Coding,
        lexical: bool,
        idle: bool,
    ) -> Option<(Lane, Box<dyn Job>)> {
        let shared_snapshot = || Arc::clone(snapshot);
        let records = snapshot.records();
        let growth = if idle {
            IDLE_TRAIN_GROWTH
        } else {
            TRAIN_GROWTH
        };
        if has_outgrown_basis(records, coding.trained_at, growth) {
            let train = Train {
                snapshot: shared_snapshot(),
                dimensions: coding.dimensions,
                results: self.results.clone(),
            };
            let train = SingleStep(move |stop: &AtomicBool| train.run(stop));
            return Some((Lane::Training, Box::new(train)));
        }
        let mut blocks = snapshot.blocks.iter();
        if blocks.any(|block| block.coded.basis.file_id != coding.basis.file_id) {
            let recode = Recode::new(
                shared_snapshot(),
                Arc::clone(&coding.basis),
                self.results.clone(),
                self.events.clone(),
            );
            return Some((Lane::Maintenance, Box::new(recode)));
        }
        let next_row = snapshot.next_row().0;
        let rows = next_row.saturating_sub(self.saved.lock().next_row) as usize;
        if let Some(store) = store
            && (are_many(rows, records) || self.many_wait_for_file(snapshot))
        {
            let stamp = self.stamp(snapshot, store)?;
            let (snapshot, index_files) = (shared_snapshot(), Arc::clone(&self.index_files));
            let (saved, events) = (Arc::clone(&self.saved), self.events.clone());
            let save_failed = Arc::clone(&self.save_failed);
            let save = SingleStep(move |stop: &AtomicBool| {
                let stopped = || stop.load(Relaxed);
                let done = index_files.save(&snapshot, stamp, &stopped);
                save_failed.store(done.is_err(), Relaxed);
                if let Err(error) = done {
                    let text = format!("the index files could not be saved: {error}");
                    events.emit(EventCode::JobFailed, text);
                    return false;
                }
                let progress = !stopped();
                if progress {
                    *saved.lock() = Saved::of(&snapshot, stamp);
                }
                progress
            });
            return Some((Lane::Maintenance, Box::new(save)));
        }
        if lexical {
            let groups = groups_to_index(&snapshot.blocks, idle);
            if !groups.is_empty() {
                let columns = snapshot.words.bind(&snapshot.names);
                let index = IndexWords::new(groups, columns);
                return Some((Lane::Maintenance, Box::new(index)));
            }
        }
        None
    }

    /// Whether so many vectors wait for the file of their codes that a save is due. After a save that failed, only new rows make
    /// the next one due.
    fn many_wait_for_file(&self, snapshot: &Snapshot) -> bool {
        let vectors = |block: &Block| block.body.rows();
        let all = snapshot.blocks.iter().map(vectors).sum();
        let waiting = (snapshot.blocks.iter()).filter(|block| block.coded.waits_for_file());
        !self.save_failed.load(Relaxed) && are_many(waiting.map(vectors).sum(), all)
    }

    fn submit(&mut self, lane: Lane, job: Box<dyn Job>) {
        self.busy.store(true, Release);
        let busy = Arc::clone(&self.busy);
        let index_files = Arc::clone(&self.index_files);
        let wake = Arc::clone(&self.results.wake);
        let on_end = move |progress| {
            index_files.measure();
            // Before the wake-up: the writer can only submit the next job when none is busy.
            busy.store(false, Release);
            if progress {
                wake();
            }
        };
        let name = "a background job";
        let handle = self
            .scheduler
            .submit(lane, name, &self.events, job, Box::new(on_end));
        self.submitted = Some(handle);
    }

    /// Forgets how far the saved snapshot reaches, because all rows have new numbers.
    pub(crate) fn rows_renumbered(&self) {
        let mut saved = self.saved.lock();
        *saved = saved.renumbered();
    }

    /// Cancels the job and saves the last snapshot, unless it is saved already. `None`: there is none to save.
    pub(crate) fn finish(
        &mut self,
        snapshot: Option<&Snapshot>,
        store: &mut Store,
    ) -> Result<(), FileError> {
        drop(self.submitted.take());
        let Some(snapshot) = snapshot else {
            return Ok(());
        };
        let saved = *self.saved.lock();
        if let Some(stamp) = saved.stamp
            && saved == Saved::of(snapshot, stamp)
        {
            return Ok(());
        }
        match self.stamp(snapshot, store) {
            Some(stamp) => self.index_files.save(snapshot, stamp, &|| false),
            None => Ok(()),
        }
    }

    /// Records a stamp for a snapshot in the store; `None` when the snapshot cannot be saved.
    fn stamp(&self, snapshot: &Snapshot, store: &mut Store) -> Option<Stamp> {
        // A snapshot that lacks a commit must not be saved as if it had all of them.
        if snapshot.version != store.version() {
            return None;
        }
        let saved = self.saved.lock().stamp;
        match store.stamp(saved) {
            Ok(stamp) => Some(stamp),
            Err(error) => {
                let text = format!("the index files could not be saved: {error}");
                self.events.emit(EventCode::JobFailed, text);
                None
            }
        }
    }

    /// The commit of the saved snapshot, 0 without one.
    pub(crate) fn saved_version(&self) -> u64 {
        self.saved.lock().version
    }

    /// Makes the writer look for due jobs again, after the writes that wait.
    pub(crate) fn wake_writer(&self) {
        (self.results.wake)();
    }
}

/// Whether `count` of `all` make a save due.
fn are_many(count: usize, all: usize) -> bool {
    count >= SAVE_ROWS.max(all / 4)
}

fn has_outgrown_basis(records: usize, trained_at: usize, percent: usize) -> bool {
    records >= TRAIN_FROM && records >= trained_at.saturating_mul(percent) / 100
}

/// The state of the last saved snapshot. The default is that none is saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Saved {
    /// The commit of the snapshot; 0 when none is saved.
    pub(crate) version: u64,
    pub(super) next_row: u32,
    /// See [`Snapshot::newest_file`].
    newest_file: Option<FileId>,
    pub(super) stamp: Option<Stamp>,
}

impl Saved {
    /// The state after `snapshot` was saved with `stamp`.
    pub(crate) fn of(snapshot: &Snapshot, stamp: Stamp) -> Self {
        Self {
            version: snapshot.version,
            next_row: snapshot.next_row().0,
            newest_file: snapshot.newest_file(),
            stamp: Some(stamp),
        }
    }

    /// The state of a saved snapshot that was loaded.
    pub(crate) fn loaded(saved: &SavedSnapshot) -> Self {
        Self {
            newest_file: saved.newest_file,
            ..Self::of(&saved.snapshot, saved.stamp)
        }
    }

    /// What remains known after all rows got new numbers: the stamp.
    pub(super) fn renumbered(self) -> Self {
        Self {
            stamp: self.stamp,
            ..Self::default()
        }
    }
}
