//! The engine: the databases of one data directory, and the threads that serve them.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::{Mutex, MutexGuard, RwLock};

use serde_json::{Value, json};

use crate::api::database::{Database, Dependencies};
use crate::api::describe::{describe, sizes};
use crate::api::workers::{Step, Workers};
use crate::background::Scheduler;
use crate::disk::{
    DROPPED, DataLock, Disk, NEW, NEXT, RealDisk, create_directories, drop_directory, finish_swaps,
    next_path, remove_if_exists,
};
use crate::error::{Done, Error};
use crate::limits::Limits;
use crate::reembedding::ReembeddingStore;
use crate::runtime::{EventCode, EventQueue, Metrics, MetricsReading, TakenEvents, message};
use crate::search::{Scanner, ScannerStats};
use crate::settings::Settings;
use crate::store::{self, StoreError, store_path};
use crate::write::Answer;

/// The databases of a data directory. Holds its lock until closed.
pub struct Engine {
    pub(crate) disk: Arc<dyn Disk>,
    directory: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) events: Arc<EventQueue>,
    /// Searches lock it on the caller's thread: it is never held while files are read or written.
    databases: RwLock<BTreeMap<String, Slot>>,
    /// Held while a database is created, dropped or replaced.
    files: Mutex<()>,
    pub(crate) scanner: Scanner,
    pub(crate) scheduler: Arc<Scheduler>,
    /// Creates and drops databases, one at a time: a drop waits for the writer of the database.
    admin: Workers,
    /// For calls that must never wait for a query: listings of databases, single records, checks of writes.
    control: Workers,
    queries: Workers,
    /// For queries and deletions whose filter takes long.
    heavy: Arc<Workers>,
    closed: AtomicBool,
    /// Databases with the vectors of another model, in the making.
    shadows: Mutex<BTreeMap<String, ReembeddingStore>>,
    /// Held by what [`Engine::in_background`] does with files.
    pub(crate) background: Mutex<()>,
    lock: Mutex<Option<DataLock>>,
}

/// A database, or how far it has come.
#[derive(Clone)]
pub(crate) enum Slot {
    Loading {
        records: usize,
    },
    /// It is being created or dropped, and the id is taken meanwhile.
    Reserved,
    Ready(Arc<Database>),
    /// It could not be opened; the others are served all the same.
    Failed {
        code: &'static str,
        detail: String,
    },
}

/// Threads of each kind for what is not scanning.
const WORKERS: usize = 2;

impl Engine {
    /// Opens a data directory, made when missing, and lists its databases; [`Engine::load`] brings them to memory.
    ///
    /// `threads` scan; `None`: as many as the machine has cores. `limits` hold for every request.
    ///
    /// # Errors
    /// [`Error::Store`] when another process holds the directory.
    pub fn open(
        directory: &Path,
        threads: Option<usize>,
        limits: Limits,
    ) -> Result<Arc<Self>, Error> {
        Self::open_on(Arc::new(RealDisk), directory, threads, limits)
    }

    /// As [`Engine::open`], with the disk that the directory is on.
    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        directory: &Path,
        threads: Option<usize>,
        limits: Limits,
    ) -> Result<Arc<Self>, Error> {
        let lock = DataLock::acquire(&*disk, directory)?;
        let file = |source| Error::File {
            path: directory.to_owned(),
            source,
        };
        let events = Arc::<EventQueue>::default();
        let mut databases = BTreeMap::new();
        let root = directory.join("databases");
        create_directories(&*disk, &root).map_err(file)?;
        finish_swaps(&*disk, &root).map_err(file)?;
        for path in disk.list(&root).map_err(file)? {
            let name = path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            if is_database_id(&name) {
                let store = store_path(&path);
                // One that cannot be looked at is opened, which says why.
                if disk.exists(&store).unwrap_or(true) {
                    databases.insert(name, Slot::Loading { records: 0 });
                } else if store::has_traces(&*disk, &store) {
                    let error = StoreError::FileMissing { path: store }.into();
                    let slot = failed(&events, &name, &error);
                    databases.insert(name, slot);
                }
            } else if is_leftover(&*disk, &root, &name) {
                let (code, text) = match disk.remove_directory(&path) {
                    Ok(()) => (EventCode::TemporaryFilesRemoved, path.display().to_string()),
                    Err(error) => (
                        EventCode::DropFailed,
                        format!("{}: {error}", path.display()),
                    ),
                };
                events.emit(code, None, text);
            }
        }
        let threads =
            threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let metrics = Arc::new(Metrics::default());
        Ok(Arc::new(Self {
            disk,
            directory: directory.to_owned(),
            limits,
            databases: RwLock::new(databases),
            files: Mutex::default(),
            scanner: Scanner::start(threads, Arc::clone(&metrics)).map_err(file)?,
            scheduler: Arc::new(Scheduler::start().map_err(file)?),
            metrics,
            events,
            admin: Workers::start("cosift-admin", 1).map_err(file)?,
            control: Workers::start("cosift-control", WORKERS).map_err(file)?,
            queries: Workers::start("cosift-query", WORKERS).map_err(file)?,
            heavy: Arc::new(Workers::start("cosift-heavy-query", WORKERS).map_err(file)?),
            closed: AtomicBool::new(false),
            shadows: Mutex::default(),
            background: Mutex::default(),
            lock: Mutex::new(Some(lock)),
        }))
    }

    /// Brings every database to memory. One that can't be opened keeps no other from it: [`Engine::progress`]
    /// says why, and calls for it are refused.
    pub fn load(self: &Arc<Self>, done: Done<()>) {
        let engine = Arc::clone(self);
        self.run(done, move || engine.load_all());
    }

    fn load_all(&self) -> Result<(), Error> {
        let waiting: Vec<String> = {
            let databases = self.slots();
            let loading = databases
                .iter()
                .filter(|(_, slot)| matches!(slot, Slot::Loading { .. }));
            loading.map(|(id, _)| id.clone()).collect()
        };
        for id in waiting {
            let progress = |records: usize| {
                if let Some(slot) = self.slots_mut().get_mut(&id) {
                    *slot = Slot::Loading { records };
                }
                !self.closed.load(Relaxed)
            };
            let open = || Database::open(&self.dependencies(), &id, &self.path(&id), &progress);
            let opened = catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|panic| {
                Err(self.internal_error("while a database was opened", &*panic))
            });
            let slot = match opened {
                Ok(database) => Slot::Ready(Arc::new(database)),
                Err(Error::Closed) => return Err(Error::Closed),
                Err(error) => self.failed(&id, &error),
            };
            self.slots_mut().insert(id, slot);
        }
        Ok(())
    }

    /// How far [`Engine::load`] has come, as JSON; `problem` is why a database could not be opened.
    #[must_use]
    pub fn progress(&self) -> Value {
        let databases: Vec<Value> = self
            .slots()
            .iter()
            .filter_map(|(id, slot)| match slot {
                Slot::Loading { records } => Some(json!({
                    "id": id, "loaded": false, "writable": false, "records": records,
                    "memory_bytes": 0, "disk_bytes": 0,
                })),
                Slot::Reserved => None,
                Slot::Failed { code, detail } => Some(json!({
                    "id": id, "loaded": false, "writable": false, "records": 0,
                    "memory_bytes": 0, "disk_bytes": 0,
                    "problem": { "code": code, "detail": detail },
                })),
                Slot::Ready(database) => Some(sizes(database)),
            })
            .collect();
        json!({ "databases": databases })
    }

    /// Makes a database, or finds it made with the same settings. The answer is JSON: `created`, `database`.
    pub fn create_database(self: &Arc<Self>, id: String, settings: String, done: Done<Vec<u8>>) {
        let engine = Arc::clone(self);
        self.admin.run(done, move || {
            if !is_database_id(&id) {
                let detail = "a database id is 1 to 64 of a-z, 0-9, _ and -";
                return Err(Error::invalid("invalid_request", "/id", detail));
            }
            let settings = Settings::parse(&settings)?;
            // Of two that create at once, the second finds the database created.
            let _files = engine.lock_files();
            let (created, database) = match engine.reserve(&id) {
                None => (true, engine.create_reserved(&id, &settings)?),
                Some(Slot::Ready(database)) if database.damage().is_some() => {
                    return Err(Error::NotOpened {
                        id,
                        reason: "damaged",
                    });
                }
                Some(Slot::Ready(database)) if database.settings == settings => (false, database),
                Some(Slot::Ready(database)) => {
                    let existing = Value::Object(database.settings.to_json()).to_string();
                    return Err(Error::DatabaseExists { id, existing });
                }
                Some(Slot::Failed { code, .. }) => {
                    return Err(Error::NotOpened { id, reason: code });
                }
                Some(Slot::Loading { .. } | Slot::Reserved) => return Err(Error::NotReady { id }),
            };
            Ok(
                json!({ "created": created, "database": describe(&database) })
                    .to_string()
                    .into_bytes(),
            )
        });
    }

    /// Reserves an id for a database to be created, unless there is one: then it is returned.
    fn reserve(&self, id: &str) -> Option<Slot> {
        let mut databases = self.slots_mut();
        let there = databases.get(id).cloned();
        if there.is_none() {
            databases.insert(id.to_owned(), Slot::Reserved);
        }
        there
    }

    /// Creates the database of a reserved id; when that fails the id is free again and nothing is left on disk.
    fn create_reserved(&self, id: &str, settings: &Settings) -> Result<Arc<Database>, Error> {
        let create = || Database::create(&self.dependencies(), id, &self.root(), settings);
        let created = catch_unwind(AssertUnwindSafe(create))
            .unwrap_or_else(|panic| {
                Err(self.internal_error("while a database was created", &*panic))
            })
            .map(Arc::new);
        let mut databases = self.slots_mut();
        match &created {
            Ok(database) => databases.insert(id.to_owned(), Slot::Ready(Arc::clone(database))),
            Err(_) => databases.remove(id),
        };
        created
    }

    /// Describes every database, as a JSON array.
    pub fn list_databases(self: &Arc<Self>, done: Done<Vec<u8>>) {
        let engine = Arc::clone(self);
        self.run(done, move || {
            let ready: Vec<Arc<Database>> = engine
                .slots()
                .values()
                .filter_map(|slot| match slot {
                    Slot::Ready(database) => Some(Arc::clone(database)),
                    Slot::Loading { .. } | Slot::Reserved | Slot::Failed { .. } => None,
                })
                .collect();
            let described: Vec<Value> = ready.iter().map(|database| describe(database)).collect();
            Ok(Value::Array(described).to_string().into_bytes())
        });
    }

    /// Describes a database, as JSON.
    pub fn describe_database(self: &Arc<Self>, id: &str, done: Done<Vec<u8>>) {
        self.with(id, done, move |_, database| {
            Ok(describe(database).to_string().into_bytes())
        });
    }

    /// Drops a database with all its files, one that could not be opened too. When the files cannot be removed the
    /// database is shown as failed, and can be dropped again.
    pub fn drop_database(self: &Arc<Self>, id: String, done: Done<()>) {
        let engine = Arc::clone(self);
        self.admin.run(done, move || {
            let _files = engine.lock_files();
            let taken = match engine.slots_mut().get_mut(&id) {
                Some(Slot::Loading { .. } | Slot::Reserved) => return Err(Error::NotReady { id }),
                Some(slot) => std::mem::replace(slot, Slot::Reserved),
                None => return Err(Error::DatabaseNotFound { id }),
            };
            if let Slot::Ready(database) = taken {
                database.close();
            }
            engine.shadows().remove(&id);
            let disk = &*engine.disk;
            let dropped = remove_if_exists(disk, &next_path(&engine.root(), &id))
                .and_then(|()| drop_directory(disk, &engine.root(), &id));
            let mut databases = engine.slots_mut();
            let Err(source) = dropped else {
                databases.remove(&id);
                return Ok(());
            };
            let path = engine.path(&id);
            let error = Error::File { path, source };
            let (code, detail) = (EventCode::DropFailed, error.to_string());
            engine
                .events
                .emit(code, Some(&id.as_str().into()), detail.as_str());
            let code = code.name();
            databases.insert(id, Slot::Failed { code, detail });
            Err(error)
        });
    }

    /// The error of a panic, which is reported too. `place` says where it was caught.
    fn internal_error(&self, place: &str, panic: &(dyn Any + Send)) -> Error {
        let detail = message(panic);
        self.events
            .emit(EventCode::Panic, None, format!("{place}: {detail}"));
        Error::Internal { detail }
    }

    /// A database that could not be opened, which is reported too.
    pub(crate) fn failed(&self, id: &str, error: &Error) -> Slot {
        failed(&self.events, id, error)
    }

    /// Removes and returns the events since the last call. Works after [`Engine::close`] too.
    #[must_use]
    pub fn take_events(&self) -> TakenEvents {
        self.events.take()
    }

    /// How busy the scan threads are.
    #[must_use]
    pub fn scanner_stats(&self) -> ScannerStats {
        self.scanner.stats()
    }

    /// What has been done since the engine was opened, and what waits.
    #[must_use]
    pub fn metrics(&self) -> MetricsReading {
        self.metrics.read()
    }

    /// Closes from a thread of its own, since every other may be one that is to end.
    pub fn close_in_background(engine: &Arc<Self>, done: Done<()>) {
        engine.in_background(done, |engine| {
            engine.close();
            Ok(())
        });
    }

    /// Does what takes long in a thread of its own.
    pub(crate) fn in_background(
        self: &Arc<Self>,
        done: Done<()>,
        work: impl FnOnce(&Self) -> Result<(), Error> + Send + 'static,
    ) {
        let engine = Arc::clone(self);
        let answer = Arc::new(Mutex::new(Some(Answer::new(done))));
        let take = Arc::clone(&answer);
        let send = |answer: &Mutex<Option<Answer<()>>>, result| {
            let answer = answer.lock().take();
            if let Some(answer) = answer {
                answer.send(result);
            }
        };
        let started = std::thread::Builder::new()
            .name("cosift-background".into())
            .spawn(move || {
                let worked = catch_unwind(AssertUnwindSafe(|| work(&engine)));
                let result = worked.unwrap_or_else(|panic| {
                    Err(engine.internal_error("in the background", &*panic))
                });
                // Let go of first: whoever waits for the answer may want the engine to be gone.
                drop(engine);
                send(&take, result);
            });
        if let Err(source) = started {
            let path = "thread".into();
            send(&answer, Err(Error::File { path, source }));
        }
    }

    /// Answers what was taken, saves what makes the next start fast, and releases the directory. Does nothing when
    /// the engine is closed.
    pub fn close(&self) {
        self.closed.store(true, Relaxed);
        // Held to the end: of two that close at once, the second returns when the first is done.
        let mut lock = self.lock.lock();
        self.scanner.close();
        self.queries.close();
        self.heavy.close();
        self.control.close();
        self.admin.close();
        // What is under way sees that it is to end.
        let _background = self.background.lock();
        self.shadows().clear();
        let databases = std::mem::take(&mut *self.slots_mut());
        for slot in databases.into_values() {
            if let Slot::Ready(database) = slot {
                database.close();
            }
        }
        self.scheduler.close();
        lock.take();
    }

    /// What every database is opened with.
    pub(crate) fn dependencies(&self) -> Dependencies<'_> {
        Dependencies {
            disk: &self.disk,
            metrics: &self.metrics,
            events: &self.events,
            scheduler: &self.scheduler,
            keep_changes: self.limits.keep_changes,
        }
    }

    /// The directory of the databases.
    pub(crate) fn root(&self) -> PathBuf {
        self.directory.join("databases")
    }

    pub(crate) fn path(&self, id: &str) -> PathBuf {
        self.root().join(id)
    }

    /// Whether it is closed or closing.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    pub(crate) fn shadows(&self) -> MutexGuard<'_, BTreeMap<String, ReembeddingStore>> {
        self.shadows.lock()
    }

    pub(crate) fn lock_files(&self) -> MutexGuard<'_, ()> {
        self.files.lock()
    }

    fn slots(&self) -> parking_lot::RwLockReadGuard<'_, BTreeMap<String, Slot>> {
        self.databases.read()
    }

    pub(crate) fn slots_mut(&self) -> parking_lot::RwLockWriteGuard<'_, BTreeMap<String, Slot>> {
        self.databases.write()
    }

    pub(crate) fn database(&self, id: &str) -> Result<Arc<Database>, Error> {
        match self.slots().get(id) {
            Some(Slot::Ready(database)) if database.damage().is_some() => Err(Error::NotOpened {
                id: id.to_owned(),
                reason: "damaged",
            }),
            Some(Slot::Ready(database)) => Ok(Arc::clone(database)),
            Some(Slot::Loading { .. } | Slot::Reserved) => {
                Err(Error::NotReady { id: id.to_owned() })
            }
            Some(Slot::Failed { code, .. }) => Err(Error::NotOpened {
                id: id.to_owned(),
                reason: code,
            }),
            None if self.closed.load(Relaxed) => Err(Error::Closed),
            None => Err(Error::DatabaseNotFound { id: id.to_owned() }),
        }
    }

    fn run<T: Send + 'static>(
        &self,
        done: Done<T>,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) {
        self.control.run(done, work);
    }

    pub(crate) fn with<T: Send + 'static>(
        self: &Arc<Self>,
        id: &str,
        done: Done<T>,
        work: impl FnOnce(&Self, &Database) -> Result<T, Error> + Send + 'static,
    ) {
        match self.database(id) {
            Ok(database) => {
                let engine = Arc::clone(self);
                self.run(done, move || work(&engine, &database));
            }
            Err(error) => done(Err(error)),
        }
    }

    /// Runs a query, or as much of it as tells that it takes long: then others do the rest.
    pub(crate) fn run_query<T: Send + 'static>(
        &self,
        done: Done<T>,
        work: impl FnOnce() -> Result<Step<T>, Error> + Send + 'static,
    ) {
        self.queries.run_or_hand_over(&self.heavy, done, work);
    }
}

impl Drop for Engine {
    /// Closes an engine that was not closed: its threads end before the lock of the directory is released.
    fn drop(&mut self) {
        self.close();
    }
}

/// A database that could not be opened, which is reported to `events` too.
fn failed(events: &EventQueue, id: &str, error: &Error) -> Slot {
    let detail = error.to_string();
    events.emit(EventCode::OpenFailed, Some(&id.into()), detail.as_str());
    Slot::Failed {
        code: error.code(),
        detail,
    }
}

/// Whether an entry was left by a process that ended while it created or dropped a database.
fn is_leftover(disk: &dyn Disk, root: &Path, name: &str) -> bool {
    let is_orphan = |id| {
        let store = store_path(&root.join(id));
        !disk.exists(&store).unwrap_or(true) && !store::has_traces(disk, &store)
    };
    name.starts_with(DROPPED)
        || name.starts_with(NEW)
        // What was to take the place of a database that is not there.
        || name.strip_prefix(NEXT).is_some_and(is_orphan)
}

/// Whether a text may name a database: 1 to 64 of `a-z 0-9 _ -`.
fn is_database_id(id: &str) -> bool {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
    };
    (1..=64).contains(&id.len()) && id.bytes().all(allowed)
}
