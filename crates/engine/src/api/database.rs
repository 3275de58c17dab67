//! A database: its settings, the snapshot that readers see, and the writer that publishes the next.

use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use crate::approximate::Approximation;
use crate::background::Scheduler;
use crate::disk::{Disk, create_directory};
use crate::error::Error;
use crate::reembedding::Followed;
use crate::runtime::{DatabaseEvents, EventQueue, Metrics, now_ms};
use crate::search::Searchable;
use crate::settings::Settings;
use crate::snapshot::{IndexFiles, Published, PublishedCell, Snapshot};
use crate::store::{CREATED_AT, Reader, Store, store_path};
use crate::write::{Command, Shared, Target, Writer};

/// Tasks that may wait for the writer; one more is refused as busy.
const MAX_WAITING: usize = 1024;

/// A database that is in memory and takes reads and writes.
pub(crate) struct Database {
    /// Its id.
    pub id: String,
    pub(crate) settings: Settings,
    pub(crate) created_at: i64,
    /// The history of its change feed; see [`Store::epoch`].
    pub(crate) epoch: [u8; 16],
    shared: Arc<Shared>,
    pub(crate) reader: Reader,
    /// What searches read.
    pub(crate) searchable: Arc<Searchable>,
    writer: SyncSender<Command>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What all databases of an engine share.
pub(crate) struct Dependencies<'a> {
    pub(crate) disk: &'a Arc<dyn Disk>,
    pub(crate) metrics: &'a Arc<Metrics>,
    pub(crate) events: &'a Arc<EventQueue>,
    pub(crate) scheduler: &'a Arc<Scheduler>,
    /// How long the change feed keeps a change.
    pub(crate) keep_changes: Duration,
}

impl Database {
    /// Makes a new database in a directory of `root`.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::File`]; then the database is not there, also after the next start.
    pub(crate) fn create(
        dependencies: &Dependencies<'_>,
        id: &str,
        root: &Path,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let json = serde_json::to_vec(&settings.to_json()).expect("strings and numbers");
        let disk = dependencies.disk;
        create_directory(
            &**disk,
            root,
            id,
            |directory| {
                let mut store = Store::create(disk, &store_path(directory), &json)?;
                Ok(store.set_meta(CREATED_AT, &now_ms().to_le_bytes())?)
            },
            |directory| Self::open(dependencies, id, directory, &|_| true),
        )
    }

    /// Opens a database and brings it to memory; `progress` gets the records so far and says whether to go on.
    ///
    /// # Errors
    /// [`Error::Closed`] when `progress` ends it; [`Error::Store`]; index files that are missing or damaged are made again.
    pub(crate) fn open(
        dependencies: &Dependencies<'_>,
        id: &str,
        directory: &Path,
        progress: &dyn Fn(usize) -> bool,
    ) -> Result<Self, Error> {
        let disk = dependencies.disk;
        let store = Store::open(disk, &store_path(directory))?;
        let json = store.reader().meta("settings")?.unwrap_or_default();
        let settings = Settings::parse(&String::from_utf8_lossy(&json))?;
        let reader = store.reader();
        let created_at = reader
            .meta(CREATED_AT)?
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, i64::from_le_bytes);
        let last_write_at = last_write_at(&reader, store.last_position())?.unwrap_or(created_at);
        let index_files = directory.join("derived");
        let events = DatabaseEvents::new(dependencies.events, id);
        let shared = Arc::new(Shared {
            published: Arc::new(PublishedCell::new(Published::empty())),
            last_write_at: AtomicI64::new(last_write_at),
            disk_bytes: AtomicU64::new(0),
            metrics: Arc::clone(dependencies.metrics),
            writable: AtomicBool::new(true),
            #[cfg(test)]
            panic_after_commit: AtomicBool::new(false),
            checked: AtomicBool::new(false),
            damage: OnceLock::new(),
            approximation: settings.approximate.then(|| {
                Arc::new(Approximation::new(
                    disk,
                    &index_files,
                    store.id(),
                    settings.dimensions,
                    events.clone(),
                ))
            }),
            events,
        });
        let (sender, tasks) = sync_channel(MAX_WAITING);
        let index_files = IndexFiles::new(&index_files, settings.dimensions, &store);
        let mut writer = Writer::new(
            settings.clone(),
            store,
            index_files,
            Arc::clone(&shared),
            sender.clone(),
            dependencies.keep_changes,
            Arc::clone(dependencies.scheduler),
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
            reader,
            searchable: Arc::new(Searchable::new(
                Arc::clone(&shared.published),
                shared.approximation.clone(),
            )),
            shared,
            writer: sender,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// What readers see now.
    pub(crate) fn published(&self) -> &PublishedCell {
        &self.shared.published
    }

    /// What records are prepared for.
    pub(crate) fn prepare_target(&self) -> Target<'_> {
        Target {
            settings: &self.settings,
            epoch: self.epoch,
            published: &self.shared.published,
            reader: &self.reader,
        }
    }

    /// What a re-embedding store follows.
    pub(crate) fn followed(&self) -> Followed<'_> {
        Followed {
            created_at: self.created_at,
            epoch: self.epoch,
            reader: &self.reader,
        }
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

    /// The newest snapshot.
    #[must_use]
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.published.snapshot()
    }

    /// Hands a task to the writer.
    pub(crate) fn send(&self, task: Command) {
        // Counted first: the writer may take it at once.
        self.shared.metrics.write_waits();
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
        self.shared.metrics.write_waits_no_more();
        task.refuse(error);
    }

    /// Finishes the writes taken so far, saves what makes the next start fast, and ends the writer.
    pub(crate) fn close(&self) {
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            // The writer may be gone after a panic: then there is nothing left to close.
            let _ = self.writer.send(Command::Close);
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

#[cfg(test)]
mod tests;
