//! Background jobs of a database, one at a time: learn a basis, code blocks anew, save the snapshot, fill the
//! approximate index.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use crate::approximate::Approximation;
use crate::record::q30_to_f32;
use crate::runtime::{DatabaseEvents, EventCode, message};
use crate::snapshot::{
    Basis, Body, Coded, Coding, FileId, IndexFiles, Snapshot, VectorBuffer, recode,
};
use crate::store::{Stamp, Store};

/// Records from which a rotated basis pays.
const TRAIN_FROM: usize = 8_192;

/// The basis is learned anew when the database has grown by this much, percent of what it was.
const TRAIN_GROWTH: usize = 400;

/// Likewise, while nothing is written. Records often come in an order, so the first of them say little of the others;
/// once all are there, it pays to look again.
const QUIET_TRAIN_GROWTH: usize = 125;

/// Vectors a basis is learned from.
const SAMPLE: usize = 8_192;

/// New rows that make a save worth while, beside a quarter of the database.
const SAVE_ROWS: u32 = 65_536;

/// What a background job hands to the writer.
pub(crate) enum HandedOver {
    /// The basis that new blocks are to be coded in; `None`: none is better than the one there is.
    Trained {
        basis: Option<Arc<Basis>>,
        records: usize,
    },
    /// Other codes of a block.
    Recoded { body: Arc<Body>, coded: Arc<Coded> },
}

/// Wakes the writer, which then looks for what jobs have made. Does nothing when the writer is awake.
pub(crate) type Nudge = Arc<dyn Fn() + Send + Sync>;

/// Starts background jobs and collects what they make.
pub(crate) struct BackgroundJobs {
    index_files: Arc<IndexFiles>,
    approximation: Option<Arc<Approximation>>,
    nudge: Nudge,
    sender: Sender<HandedOver>,
    handed: Mutex<Receiver<HandedOver>>,
    running: Option<JoinHandle<()>>,
    /// Whether a job has work left. Its thread may live a little longer.
    busy: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    saved: Arc<Mutex<Saved>>,
    events: DatabaseEvents,
}

/// How far the saved snapshot reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Saved {
    pub(crate) version: u64,
    next_row: u32,
    /// The latest of its blocks' codes.
    codes: Option<FileId>,
    stamp: Option<Stamp>,
}

impl Saved {
    pub(crate) fn of(snapshot: &Snapshot, stamp: Stamp) -> Self {
        let codes = snapshot
            .blocks
            .iter()
            .map(|block| block.coded.file_id)
            .max();
        Self {
            version: snapshot.version,
            next_row: snapshot.next_row().0,
            codes,
            stamp: Some(stamp),
        }
    }
}

impl BackgroundJobs {
    pub(crate) fn new(
        index_files: Arc<IndexFiles>,
        approximation: Option<Arc<Approximation>>,
        nudge: Nudge,
        events: DatabaseEvents,
    ) -> Self {
        let (sender, handed) = channel();
        Self {
            index_files,
            approximation,
            nudge,
            sender,
            handed: Mutex::new(handed),
            running: None,
            busy: Arc::default(),
            stop: Arc::default(),
            saved: Arc::default(),
            events,
        }
    }

    pub(crate) fn disk_bytes(&self) -> u64 {
        self.index_files.disk_bytes()
    }

    /// The snapshot that was read from disk is saved already.
    pub(crate) fn loaded(&self, saved: Saved) {
        *self.lock_saved() = saved;
    }

    /// What jobs have made since the last call.
    pub(crate) fn handed_over(&self) -> Vec<HandedOver> {
        self.handed.lock().try_iter().collect()
    }

    /// Whether there is something to do once nothing is written for a while.
    pub(crate) fn waits_for_quiet(snapshot: &Snapshot, coding: &Coding) -> bool {
        has_outgrown_basis(snapshot.records(), coding.trained_at, QUIET_TRAIN_GROWTH)
    }

    /// Starts the job that the database needs most, unless one is running. `quiet`: nothing was written for a while.
    pub(crate) fn consider(
        &mut self,
        snapshot: &Arc<Snapshot>,
        store: &mut Store,
        coding: &Coding,
        quiet: bool,
    ) {
        if self.busy.load(Acquire) {
            return;
        }
        let records = snapshot.records();
        let growth = if quiet {
            QUIET_TRAIN_GROWTH
        } else {
            TRAIN_GROWTH
        };
        if has_outgrown_basis(records, coding.trained_at, growth) {
            let dimensions = coding.dimensions;
            return self.start(snapshot, move |snapshot, job| {
                job.train(snapshot, dimensions)
            });
        }
        let basis = Arc::clone(&coding.basis);
        if snapshot
            .blocks
            .iter()
            .any(|block| block.coded.basis.file_id != basis.file_id)
        {
            return self.start(snapshot, move |snapshot, job| job.recode(snapshot, &basis));
        }
        let rows = snapshot
            .next_row()
            .0
            .saturating_sub(self.lock_saved().next_row);
        if rows >= SAVE_ROWS.max(records as u32 / 4) {
            let Some(stamp) = self.stamp(snapshot, store) else {
                return;
            };
            return self.start(snapshot, move |snapshot, job| job.save(snapshot, stamp));
        }
        if let Some(approximation) = self.approximation.clone()
            && let Some(upkeep) = approximation.due(snapshot)
        {
            self.start(snapshot, move |snapshot, job| {
                approximation.keep_up(upkeep, snapshot, &|| !job.stopped())
            });
        }
    }

    /// Notes that the rows were renumbered: how far the saved snapshot reaches is no longer known.
    pub(crate) fn renumbered(&self) {
        let mut saved = self.lock_saved();
        *saved = Saved {
            stamp: saved.stamp,
            ..Saved::default()
        };
    }

    /// Ends the running job and saves the last snapshot, if there is one to be saved.
    pub(crate) fn finish(
        &mut self,
        snapshot: Option<&Snapshot>,
        store: &mut Store,
    ) -> std::io::Result<()> {
        self.stop.store(true, Relaxed);
        if let Some(job) = self.running.take() {
            // A job that panicked made nothing; the snapshot is saved all the same.
            let _ = job.join();
        }
        if let Some(approximation) = &self.approximation {
            // What is not saved is built again.
            approximation.save();
        }
        let Some(snapshot) = snapshot else {
            return Ok(());
        };
        let saved = *self.lock_saved();
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

    /// Records a stamp for a snapshot; `None` when the snapshot cannot be saved.
    fn stamp(&self, snapshot: &Snapshot, store: &mut Store) -> Option<Stamp> {
        // A snapshot that lacks a commit must not be saved as if it had all of them.
        if snapshot.version != store.version() {
            return None;
        }
        let saved = self.lock_saved().stamp;
        match store.stamp(saved) {
            Ok(stamp) => Some(stamp),
            Err(error) => {
                let text = format!("the index files could not be saved: {error}");
                self.events.emit(EventCode::JobFailed, text);
                None
            }
        }
    }

    /// The commit that the saved snapshot is of, 0 without one.
    pub(crate) fn saved_version(&self) -> u64 {
        self.lock_saved().version
    }

    fn lock_saved(&self) -> parking_lot::MutexGuard<'_, Saved> {
        self.saved.lock()
    }

    /// Has the writer look for more to do, after the writes that wait.
    pub(crate) fn nudge(&self) {
        (self.nudge)();
    }

    /// Starts a job; `work` says whether it got anywhere. One that did not is tried again at the next write.
    fn start(
        &mut self,
        snapshot: &Arc<Snapshot>,
        work: impl FnOnce(&Snapshot, &Job) -> bool + Send + 'static,
    ) {
        let snapshot = Arc::clone(snapshot);
        let job = Job {
            index_files: Arc::clone(&self.index_files),
            sender: self.sender.clone(),
            nudge: Arc::clone(&self.nudge),
            stop: Arc::clone(&self.stop),
            saved: Arc::clone(&self.saved),
            events: self.events.clone(),
        };
        let nudge = Arc::clone(&self.nudge);
        self.busy.store(true, Release);
        let busy = Arc::clone(&self.busy);
        let events = self.events.clone();
        let index_files = Arc::clone(&self.index_files);
        let run = move || {
            // A job that panics made nothing; the next may.
            let done =
                catch_unwind(AssertUnwindSafe(|| work(&snapshot, &job))).unwrap_or_else(|panic| {
                    let text = format!("in a background job: {}", message(&*panic));
                    events.emit(EventCode::Panic, text);
                    false
                });
            index_files.measure();
            // Before the nudge: the writer is to find the place free for the next job.
            busy.store(false, Release);
            if done {
                nudge();
            }
        };
        self.running = std::thread::Builder::new()
            .name("cosift-background".into())
            .spawn(run)
            .ok();
        if self.running.is_none() {
            // Without a thread the job waits for the next call.
            self.busy.store(false, Release);
        }
    }
}

fn has_outgrown_basis(records: usize, trained_at: usize, percent: usize) -> bool {
    records >= TRAIN_FROM && records >= trained_at.saturating_mul(percent) / 100
}

struct Job {
    index_files: Arc<IndexFiles>,
    sender: Sender<HandedOver>,
    nudge: Nudge,
    stop: Arc<AtomicBool>,
    saved: Arc<Mutex<Saved>>,
    events: DatabaseEvents,
}

impl Job {
    fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    fn hand_over(&self, made: HandedOver) {
        // The writer may have ended: then nobody needs it.
        let _ = self.sender.send(made);
        // Taken over one by one, old and new codes of few blocks are in memory at a time.
        (self.nudge)();
    }

    fn train(&self, snapshot: &Snapshot, dimensions: usize) -> bool {
        let records = snapshot.records();
        let step = records.div_ceil(SAMPLE).max(1);
        let mut sample = Vec::with_capacity(SAMPLE.min(records) * dimensions);
        let (mut buffer, mut vector) = (VectorBuffer::default(), Vec::new());
        let living = snapshot
            .blocks
            .iter()
            .flat_map(|block| block.alive.iter().map(move |slot| (block, slot)))
            .filter(|(block, slot)| block.has_vector(*slot));
        for (block, slot) in living.step_by(step) {
            if self.stopped() {
                return false;
            }
            if let Ok(components) = block.exact.vector(slot, &mut buffer) {
                q30_to_f32(components, &mut vector);
                sample.extend_from_slice(&vector);
            }
        }
        let basis = Basis::train(dimensions, &sample, records, &|| self.stopped()).map(Arc::new);
        if self.stopped() {
            return false;
        }
        self.hand_over(HandedOver::Trained { basis, records });
        true
    }

    fn recode(&self, snapshot: &Snapshot, basis: &Arc<Basis>) -> bool {
        let mut any = false;
        for block in snapshot
            .blocks
            .iter()
            .filter(|block| block.coded.basis.file_id != basis.file_id)
        {
            match recode(&block.exact, block.len(), basis, &|| self.stopped()) {
                Ok(None) => return false,
                Ok(Some(coded)) => {
                    self.hand_over(HandedOver::Recoded {
                        body: Arc::clone(&block.body),
                        coded: Arc::new(coded),
                    });
                    any = true;
                }
                Err(error) => self.events.emit(
                    EventCode::JobFailed,
                    format!("a block could not be coded again: {error}"),
                ),
            }
        }
        any
    }

    fn save(&self, snapshot: &Snapshot, stamp: Stamp) -> bool {
        let saved = self.index_files.save(snapshot, stamp, &|| self.stopped());
        if let Err(error) = &saved {
            let text = format!("the index files could not be saved: {error}");
            self.events.emit(EventCode::JobFailed, text);
        }
        let saved = saved.is_ok() && !self.stopped();
        if saved {
            *self.saved.lock() = Saved::of(snapshot, stamp);
        }
        saved
    }
}
