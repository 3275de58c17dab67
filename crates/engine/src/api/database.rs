//! A database: its settings, the published snapshot, and the writer.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::background::Scheduler;
use crate::disk::{Disk, HeldDirectory, create_directory};
use crate::error::{Done, Error};
use crate::reply::{Reply, outcome_of};
use crate::runtime::{DatabaseEvents, EventQueue, Metrics, WaitingWrite, now_ms};
use crate::search::Searchable;
use crate::settings::Settings;
use crate::snapshot::{IndexFiles, PublishedCell, Snapshot, VectorMemory};
use crate::store::{CREATED_AT, Reader, SETTINGS, Store, StoreError, store_path};
use crate::write::{Command, Follower, Shared, Target, Writer, WriterQueue, WriterThreads};

/// What all databases of an engine share.
pub(crate) struct Dependencies {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) events: Arc<EventQueue>,
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) writers: Arc<WriterThreads>,
    /// Where searches keep exact vectors and low nibbles.
    pub(crate) vectors: Arc<VectorMemory>,
    /// How long the change feed keeps a change.
    pub(crate) keep_changes: Duration,
}

/// A database that is in memory and accepts reads and writes.
pub(crate) struct Database {
    /// Its id.
    pub id: String,
    /// The settings when the database was opened, which its vectors are made by. [`Database::current_settings`] are those
    /// of now.
    pub(crate) settings: Settings,
    pub(crate) created_at: i64,
    /// The epoch of its change feed; see [`Store::epoch`].
    pub(crate) epoch: [u8; 16],
    shared: Arc<Shared>,
    pub(crate) reader: Reader,
    /// The snapshot that searches read.
    pub(crate) searchable: Arc<Searchable>,
    writer: Arc<WriterQueue>,
    /// Whether the database is or was dropped.
    dropped: Arc<AtomicBool>,
    /// See [`Database::note_not_reopened`].
    not_reopened: Arc<OnceLock<(&'static str, String)>>,
}

impl Database {
    /// Creates a database in a new directory of `root`.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::File`]. After an error the database does not exist, also after the next start.
    pub(crate) fn create(
        dependencies: &Dependencies,
        id: &str,
        root: &Path,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let json = settings.to_stored();
        let disk = &dependencies.disk;
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

    /// Opens a database and loads it into memory. `progress` gets the number of records so far and returns whether to
    /// go on. Missing or damaged index files are rebuilt.
    ///
    /// # Errors
    /// [`Error::Closed`] when `progress` returns false; [`Error::Store`].
    pub(crate) fn open(
        dependencies: &Dependencies,
        id: &str,
        directory: &Path,
        progress: &dyn Fn(usize) -> bool,
    ) -> Result<Self, Error> {
        let disk = &dependencies.disk;
        let store = Store::open(disk, &store_path(directory))?;
        let reader = store.reader();
        let settings = Settings::from_stored(reader.meta(SETTINGS)?)?;
        let created_at = time_of(reader.meta(CREATED_AT)?);
        let shared = Arc::new(Shared::new(
            settings.clone(),
            created_at.max(store.last_commit_at()),
            &dependencies.metrics,
            DatabaseEvents::new(&dependencies.events, id),
        ));
        let queue = WriterQueue::new(Arc::clone(&dependencies.writers));
        let index_files = IndexFiles::of(
            store.disk(),
            &directory.join("derived"),
            settings.dimensions,
            store.id(),
            store.reader(),
            &dependencies.vectors,
        );
        let mut writer = Writer::new(
            settings.clone(),
            store,
            index_files,
            Arc::clone(&shared),
            Arc::clone(&queue),
            dependencies.keep_changes,
            Arc::clone(&dependencies.scheduler),
        );
        writer.load(progress)?;
        let epoch = writer.epoch();
        queue.start(Box::new(writer));
        let parts = (reader, shared, queue);
        Ok(Self::of(id, settings, created_at, epoch, parts))
    }

    /// Opens a database that another process writes, in `directory`, and loads it into memory. `progress` is that of
    /// [`Database::open`].
    ///
    /// # Errors
    /// [`Error::Closed`] when `progress` returns false; [`Error::Stale`] when the database was dropped or another store took
    /// its place meanwhile; [`Error::Store`].
    pub(crate) fn follow(
        dependencies: &Dependencies,
        id: &str,
        directory: HeldDirectory,
        progress: &dyn Fn(usize) -> bool,
    ) -> Result<Self, Error> {
        let path = store_path(directory.path());
        let derived = directory.path().join("derived");
        let reader = Reader::beside_a_writer(&dependencies.disk, &path, directory);
        match Self::follow_with(dependencies, id, &reader, (&path, &derived), progress) {
            Err(Error::Closed) => Err(Error::Closed),
            // What was read may be of two stores, or of one that is being removed.
            Err(_) if !reader.is_valid() => Err(Error::Stale),
            followed => followed,
        }
    }

    fn follow_with(
        dependencies: &Dependencies,
        id: &str,
        reader: &Reader,
        (path, derived): (&Path, &Path),
        progress: &dyn Fn(usize) -> bool,
    ) -> Result<Self, Error> {
        let (status, settings, created_at, last_commit_at) = reader.at_one_commit(|moment| {
            moment.check_format(path)?;
            Ok::<_, StoreError>((
                moment.status()?,
                Settings::from_stored(moment.meta(SETTINGS)?)?,
                time_of(moment.meta(CREATED_AT)?),
                moment.last_commit_at()?,
            ))
        })?;
        let shared = Arc::new(Shared::new(
            settings.clone(),
            created_at.max(last_commit_at),
            &dependencies.metrics,
            DatabaseEvents::new(&dependencies.events, id),
        ));
        let queue = WriterQueue::new(Arc::clone(&dependencies.writers));
        let index_files = IndexFiles::of(
            &dependencies.disk,
            derived,
            settings.dimensions,
            status.store_id,
            reader.clone(),
            &dependencies.vectors,
        );
        let mut follower = Follower::new(
            settings.clone(),
            reader.clone(),
            status,
            index_files,
            Arc::clone(&shared),
            Arc::clone(&queue),
            &dependencies.scheduler,
        );
        follower.load(progress)?;
        queue.start(Box::new(follower));
        let parts = (reader.clone(), shared, queue);
        Ok(Self::of(id, settings, created_at, status.epoch, parts))
    }

    fn of(
        id: &str,
        settings: Settings,
        created_at: i64,
        epoch: [u8; 16],
        (reader, shared, writer): (Reader, Arc<Shared>, Arc<WriterQueue>),
    ) -> Self {
        Self {
            id: id.to_owned(),
            created_at,
            epoch,
            reader,
            searchable: Arc::new(Searchable::new(
                Arc::clone(&shared.published),
                settings.embed.clone(),
                settings.fingerprint.clone(),
            )),
            settings,
            shared,
            dropped: Arc::default(),
            not_reopened: Arc::default(),
            writer,
        }
    }

    /// The published snapshot and its identity index.
    pub(crate) fn published(&self) -> &PublishedCell {
        &self.shared.published
    }

    /// The database as the preparation of an upsert reads it.
    pub(crate) fn prepare_target(&self) -> Target<'_> {
        Target {
            settings: self.current_settings(),
            epoch: self.epoch,
            published: &self.shared.published,
            reader: &self.reader,
        }
    }

    /// The time of the last write, milliseconds since 1970.
    pub(crate) fn last_write_at(&self) -> i64 {
        self.shared.last_write_at.load(Relaxed)
    }

    /// The moment that a database of another process is as of, milliseconds since 1970; `None` for one of this process.
    pub(crate) fn as_of(&self) -> Option<i64> {
        let as_of = self.shared.as_of.load(Relaxed);
        (as_of > 0).then_some(as_of)
    }

    /// Whether the database accepts writes. After a failed sync or a panic of the writer it refuses them until it is
    /// opened again.
    pub(crate) fn is_writable(&self) -> bool {
        self.shared.writable.load(Relaxed)
    }

    /// Whether all records were checked since the database was opened.
    pub(crate) fn is_checked(&self) -> bool {
        self.shared.checked.load(Relaxed)
    }

    /// What is damaged. A damaged database is no longer served.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.shared.damage.get().map(String::as_str)
    }

    /// The settings as they are now.
    pub(crate) fn current_settings(&self) -> Arc<Settings> {
        Arc::clone(&self.shared.settings.read())
    }

    /// Changes settings that no vector depends on.
    ///
    /// # Errors
    /// [`Error::Stale`] for settings with which records would have other vectors; [`Error::Store`], [`Error::Closed`].
    pub(crate) fn configure(&self, settings: Settings) -> Result<(), Error> {
        outcome_of(|reply| {
            // A refused command drops the reply.
            let _ = self.send_waiting(Command::Configure(Box::new(settings), reply));
        })
    }

    /// Runs `call` with the store between commits, on the thread of the writer.
    ///
    /// # Errors
    /// Those of `call`; [`Error::Closed`].
    pub(crate) fn with_store<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        outcome_of(|reply: Reply<T>| {
            let call = move |store: Result<&mut Store, Error>| reply.send(store.and_then(call));
            // A refused command drops the reply.
            let _ = self.send_waiting(Command::Use(Box::new(call)));
        })
    }

    /// The bytes of all files of the database.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.shared.disk_bytes.load(Relaxed)
    }

    /// The newest snapshot.
    #[must_use]
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.published.snapshot()
    }

    /// Counts a write until the writer takes it.
    pub(crate) fn waiting_write(&self) -> WaitingWrite {
        WaitingWrite::new(&self.shared.metrics)
    }

    /// A reply to a call to the writer. It says so if the writer has ended because the database is dropped, or could not be
    /// opened again.
    pub(crate) fn reply<T: 'static>(&self, done: Done<T>) -> Reply<T> {
        let (dropped, id) = (Arc::clone(&self.dropped), self.id.clone());
        let not_reopened = Arc::clone(&self.not_reopened);
        Reply::new(Box::new(move |outcome| {
            done(match (outcome, not_reopened.get()) {
                (Err(Error::Closed), _) if dropped.load(Relaxed) => {
                    Err(Error::DatabaseNotFound { id })
                }
                (Err(Error::Closed), Some(&(reason, _))) => Err(Error::NotOpened { id, reason }),
                (outcome, _) => outcome,
            });
        }))
    }

    /// Sends a command to the writer.
    pub(crate) fn send(&self, command: Command) {
        self.writer.send(command);
    }

    /// Sends a command to the writer, and waits while the queue is full.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub(crate) fn send_waiting(&self, command: Command) -> Result<(), Error> {
        let is_sent = self.writer.send_waiting(command);
        is_sent.then_some(()).ok_or(Error::Closed)
    }

    /// Runs the commands that wait, saves what makes the next start fast, and ends the writer. Waits while a backup pauses
    /// the writer.
    pub(crate) fn close(&self) {
        self.writer.close();
    }

    /// Closes the database, whose files will be removed. Its later reads fail.
    pub(crate) fn close_for_drop(&self) {
        self.dropped.store(true, Relaxed);
        self.close();
        self.reader.end();
    }

    /// Whether the database is or was dropped.
    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Relaxed)
    }

    /// Notes why a database that was closed, to be opened again, could not be opened. Its last snapshot is still read and
    /// searched.
    pub(crate) fn note_not_reopened(&self, error: &Error) {
        let _ = self.not_reopened.set((error.code(), error.to_string()));
    }

    /// The code and the text of the error of [`Database::note_not_reopened`].
    pub(crate) fn not_reopened(&self) -> Option<&(&'static str, String)> {
        self.not_reopened.get()
    }

    /// Ends the pause of a backup that is not complete.
    pub(crate) fn resume(&self) {
        self.writer.resume();
    }
}

/// A time of the table `meta`.
fn time_of(stored: Option<Vec<u8>>) -> i64 {
    let bytes = stored.and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, i64::from_le_bytes)
}

impl Drop for Database {
    /// Ends the writer of a database that was not closed.
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests;
