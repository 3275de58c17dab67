//! A database: its settings, the snapshot that readers see, and the writer that publishes the next.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::approximate::Approximation;
use crate::derived::Derived;
use crate::error::Error;
use crate::events::{DatabaseEvents, EventCode, EventQueue};
use crate::exchange::create_directory;
use crate::meter::Meter;
use crate::search::{KnownCounts, KnownMasks, Windows};
use crate::settings::Settings;
use crate::snapshot::{IdentityIndex, Snapshot};
use crate::store::{Reader, Store};
use crate::task::Task;
use crate::writer::Writer;

/// Tasks that may wait for the writer; one more is refused as busy.
const MAX_WAITING: usize = 1024;

/// What readers see: a snapshot, and the index of its living records.
pub(crate) struct Published {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) index: IdentityIndex,
}

/// A database that is in memory and takes reads and writes.
pub struct Database {
    /// Its id.
    pub id: String,
    pub(crate) settings: Settings,
    pub(crate) created_at: i64,
    /// The history of its change feed; see [`Store::epoch`].
    pub(crate) epoch: [u8; 16],
    shared: Arc<Shared>,
    pub(crate) reader: Reader,
    pub(crate) windows: Windows,
    pub(crate) known_counts: KnownCounts,
    pub(crate) known_masks: KnownMasks,
    writer: SyncSender<Task>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the writer of a database shows to its readers.
pub(crate) struct Shared {
    pub(crate) published: RwLock<Published>,
    /// Milliseconds since 1970.
    pub(crate) last_write_at: AtomicI64,
    pub(crate) disk_bytes: AtomicU64,
    pub(crate) meter: Arc<Meter>,
    pub(crate) events: DatabaseEvents,
    /// Whether writes are taken. Once false it stays so until the database is opened again.
    pub(crate) writable: AtomicBool,
    /// Has the writer panic after the next commit, before it is published.
    #[cfg(test)]
    pub(crate) panic_after_commit: AtomicBool,
    /// Whether all of its records were checked since it was opened.
    pub(crate) checked: AtomicBool,
    /// Why it is not served any more: its records are damaged.
    damage: OnceLock<String>,
    /// For a database that was made with one.
    pub(crate) approximation: Option<Arc<Approximation>>,
}

impl Shared {
    /// Ends serving the database, and reports why.
    pub(crate) fn note_damage(&self, text: &str) {
        if self.damage.set(text.to_owned()).is_ok() {
            self.writable.store(false, Relaxed);
            self.events.emit(EventCode::DatabaseDamaged, text);
        }
    }
}

impl Published {
    pub(crate) fn empty() -> Self {
        Self {
            snapshot: Arc::new(Snapshot::empty()),
            index: IdentityIndex::default(),
        }
    }
}

pub(crate) const CREATED_AT: &str = "created_at";

impl Database {
    /// Makes a new database in a directory of `root`.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::File`]; then the database is not there, also after the next start.
    pub(crate) fn create(
        id: &str,
        root: &Path,
        settings: &Settings,
        meter: &Arc<Meter>,
        events: &Arc<EventQueue>,
        keep_changes: Duration,
    ) -> Result<Self, Error> {
        let json = serde_json::to_vec(&settings.to_json()).expect("strings and numbers");
        create_directory(
            root,
            id,
            |directory| {
                let mut store = Store::create(&store_path(directory), &json)?;
                Ok(store.set_meta(CREATED_AT, &now_ms().to_le_bytes())?)
            },
            |directory| Self::open(id, directory, meter, events, keep_changes, &|_| true),
        )
    }

    /// Opens a database and brings it to memory; `progress` gets the records so far and says whether to go on. The
    /// change feed keeps a change for `keep_changes`.
    ///
    /// # Errors
    /// [`Error::Closed`] when `progress` ends it; [`Error::Store`]; derived files that are missing or damaged are made again.
    pub(crate) fn open(
        id: &str,
        directory: &Path,
        meter: &Arc<Meter>,
        events: &Arc<EventQueue>,
        keep_changes: Duration,
        progress: &dyn Fn(usize) -> bool,
    ) -> Result<Self, Error> {
        let store = Store::open(&store_path(directory))?;
        let json = store.reader().meta("settings")?.unwrap_or_default();
        let settings = Settings::parse(&String::from_utf8_lossy(&json))?;
        let reader = store.reader();
        let created_at = reader
            .meta(CREATED_AT)?
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, i64::from_le_bytes);
        let last_write_at = last_write_at(&reader, store.last_position())?.unwrap_or(created_at);
        let derived = directory.join("derived");
        let events = DatabaseEvents::new(events, id);
        let shared = Arc::new(Shared {
            published: RwLock::new(Published::empty()),
            last_write_at: AtomicI64::new(last_write_at),
            disk_bytes: AtomicU64::new(0),
            meter: Arc::clone(meter),
            writable: AtomicBool::new(true),
            #[cfg(test)]
            panic_after_commit: AtomicBool::new(false),
            checked: AtomicBool::new(false),
            damage: OnceLock::new(),
            approximation: settings.approximate.then(|| {
                Arc::new(Approximation::new(
                    &derived,
                    store.id(),
                    settings.dimensions,
                    events.clone(),
                ))
            }),
            events,
        });
        let (sender, tasks) = sync_channel(MAX_WAITING);
        let derived = Derived::new(&derived, settings.dimensions, &store);
        let mut writer = Writer::new(
            settings.clone(),
            store,
            derived,
            Arc::clone(&shared),
            sender.clone(),
            keep_changes,
        );
        writer.load(progress)?;
        let epoch = writer.epoch();
        let thread = std::thread::Builder::new()
            .name(format!("cosift-write-{id}"))
            .spawn(move || writer.run(&tasks))
            .map_err(|source| Error::File {
                path: directory.to_owned(),
                source,
            })?;
        Ok(Self {
            id: id.to_owned(),
            settings,
            created_at,
            epoch,
            shared,
            reader,
            windows: Windows::default(),
            known_counts: KnownCounts::default(),
            known_masks: KnownMasks::default(),
            writer: sender,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Calls `read` with what is published now. The lock is short: keep the snapshot, not the guard.
    pub(crate) fn with_published<T>(&self, read: impl FnOnce(&Published) -> T) -> T {
        read(
            &self
                .shared
                .published
                .read()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// When it was last written, milliseconds since 1970.
    pub(crate) fn last_write_at(&self) -> i64 {
        self.shared.last_write_at.load(Relaxed)
    }

    /// Whether it takes writes: a failed sync or a panic of the writer ends that until it is opened again.
    pub(crate) fn is_writable(&self) -> bool {
        self.shared.writable.load(Relaxed)
    }

    /// Whether all of its records were checked since it was opened.
    pub(crate) fn is_checked(&self) -> bool {
        self.shared.checked.load(Relaxed)
    }

    /// What is damaged, if anything is: then it is not served any more.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.shared.damage.get().map(String::as_str)
    }

    /// Bytes of all its files.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.shared.disk_bytes.load(Relaxed)
    }

    /// Its approximate index, if it was made with one.
    pub(crate) fn approximation(&self) -> Option<&Approximation> {
        self.shared.approximation.as_deref()
    }

    /// The newest snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.with_published(|published| Arc::clone(&published.snapshot))
    }

    /// Hands a task to the writer.
    pub(crate) fn send(&self, task: Task) {
        // Counted first: the writer may take it at once.
        self.shared.meter.write_waits();
        let (task, error) = match self.writer.try_send(task) {
            Ok(()) => return,
            Err(TrySendError::Full(task)) => (
                task,
                Error::Busy {
                    what: "writes",
                    limit: MAX_WAITING,
                },
            ),
            Err(TrySendError::Disconnected(task)) => (task, Error::Closed),
        };
        self.shared.meter.write_waits_no_more();
        task.refuse(error);
    }

    /// Finishes the writes taken so far, saves what makes the next start fast, and ends the writer.
    pub(crate) fn close(&self) {
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // The writer may be gone after a defect: then there is nothing left to close.
            let _ = self.writer.send(Task::Close);
            // The last handle of a database may be dropped by its writer, which then ends by itself.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

impl Drop for Database {
    /// Ends the writer of a database that was not closed: it holds a sender of its own queue, so it would wait for ever.
    fn drop(&mut self) {
        self.close();
    }
}

/// The time of the last change in the feed.
fn last_write_at(reader: &Reader, position: u64) -> Result<Option<i64>, Error> {
    let last = reader.changes(position.saturating_sub(1), 1)?;
    Ok(last.first().map(|change| change.at))
}

/// The store in the directory of a database.
pub(crate) fn store_path(directory: &Path) -> PathBuf {
    directory.join("records.sqlite")
}

/// Milliseconds since 1970, UTC.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}

#[cfg(test)]
mod tests;
