//! The engine: the databases of one data directory, and the threads that serve them.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::database::{Database, store_path};
use crate::defect::message;
use crate::describe::{describe, sizes};
use crate::error::Error;
use crate::events::{EventCode, EventQueue, TakenEvents};
use crate::exchange::{
    DROPPED, NEXT, drop_directory, finish_exchanges, next_path, remove_if_there,
};
use crate::limits::Limits;
use crate::lock::DataLock;
use crate::meter::{Meter, MeterReading};
use crate::search::{Scanner, ScannerStats};
use crate::settings::Settings;
use crate::shadow::Shadow;
use crate::workers::Workers;

/// Called once with the outcome of a call, from one of the engine's threads.
pub type Done<T> = Box<dyn FnOnce(Result<T, Error>) + Send>;

/// The databases of a data directory. Holds its lock until closed.
pub struct Engine {
    directory: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) meter: Arc<Meter>,
    pub(crate) events: Arc<EventQueue>,
    databases: RwLock<BTreeMap<String, Slot>>,
    pub(crate) scanner: Scanner,
    workers: Workers,
    closed: AtomicBool,
    /// Databases with the vectors of another model, in the making.
    shadows: Mutex<BTreeMap<String, Shadow>>,
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
    Ready(Arc<Database>),
    /// It could not be opened; the others are served all the same.
    Failed {
        code: &'static str,
        detail: String,
    },
}

/// Threads for what is not scanning: parsing, queries, reads.
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
        let lock = DataLock::acquire(directory)?;
        let file = |source| Error::File {
            path: directory.to_owned(),
            source,
        };
        let mut databases = BTreeMap::new();
        let root = directory.join("databases");
        std::fs::create_dir_all(&root).map_err(file)?;
        finish_exchanges(&root).map_err(file)?;
        for entry in std::fs::read_dir(&root).map_err(file)? {
            let entry = entry.map_err(file)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if store_path(&entry.path()).exists() && is_database_id(&name) {
                databases.insert(name, Slot::Loading { records: 0 });
            } else if name.starts_with(DROPPED) || is_orphan(&root, &name) {
                // A crash interrupted its removal.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let threads =
            threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let meter = Arc::new(Meter::default());
        Ok(Arc::new(Self {
            directory: directory.to_owned(),
            limits,
            databases: RwLock::new(databases),
            scanner: Scanner::start(threads, Arc::clone(&meter)).map_err(file)?,
            meter,
            events: Arc::default(),
            workers: Workers::start(WORKERS).map_err(file)?,
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
            let open =
                || Database::open(&id, &self.path(&id), &self.meter, &self.events, &progress);
            let opened = catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|panic| {
                Err(Error::Defect {
                    detail: message(&*panic),
                })
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
            .map(|(id, slot)| match slot {
                Slot::Loading { records } => {
                    json!({
                        "id": id, "loaded": false, "writable": false, "records": records,
                        "memory_bytes": 0, "disk_bytes": 0,
                    })
                }
                Slot::Failed { code, detail } => json!({
                    "id": id, "loaded": false, "writable": false, "records": 0,
                    "memory_bytes": 0, "disk_bytes": 0,
                    "problem": { "code": code, "detail": detail },
                }),
                Slot::Ready(database) => sizes(database),
            })
            .collect();
        json!({ "databases": databases })
    }

    /// Makes a database, or finds it made with the same settings. The answer is JSON: `created`, `database`.
    pub fn create_database(self: &Arc<Self>, id: String, settings: String, done: Done<Vec<u8>>) {
        let engine = Arc::clone(self);
        self.run(done, move || {
            if !is_database_id(&id) {
                let detail = "a database id is 1 to 64 of a-z, 0-9, _ and -";
                return Err(Error::invalid("invalid_request", "/id", detail));
            }
            let settings = Settings::parse(&settings)?;
            // Held while the file is made: of two that create at once, the second finds it made.
            let mut databases = engine.slots_mut();
            let (created, database) = match databases.get(&id) {
                Some(Slot::Loading { .. }) => return Err(Error::NotReady { id }),
                Some(Slot::Failed { code, .. }) => {
                    return Err(Error::NotOpened { id, reason: code });
                }
                Some(Slot::Ready(database)) if database.settings == settings => {
                    (false, Arc::clone(database))
                }
                Some(Slot::Ready(database)) => {
                    let existing = Value::Object(database.settings.to_json()).to_string();
                    return Err(Error::DatabaseExists { id, existing });
                }
                None => {
                    let database = Arc::new(Database::create(
                        &id,
                        &engine.path(&id),
                        &settings,
                        &engine.meter,
                        &engine.events,
                    )?);
                    databases.insert(id, Slot::Ready(Arc::clone(&database)));
                    (true, database)
                }
            };
            drop(databases);
            Ok(
                json!({ "created": created, "database": describe(&database) })
                    .to_string()
                    .into_bytes(),
            )
        });
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
                    Slot::Loading { .. } | Slot::Failed { .. } => None,
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

    /// Drops a database with all its files, one that could not be opened too.
    pub fn drop_database(self: &Arc<Self>, id: String, done: Done<()>) {
        let engine = Arc::clone(self);
        self.run(done, move || {
            let taken = match engine.slots_mut().get_mut(&id) {
                Some(Slot::Loading { .. }) => return Err(Error::NotReady { id }),
                // Not removed yet: nobody is to make a database where this one's files still are.
                Some(slot) => std::mem::replace(slot, Slot::Loading { records: 0 }),
                None => return Err(Error::DatabaseNotFound { id }),
            };
            if let Slot::Ready(database) = taken {
                database.close();
            }
            engine.shadows().remove(&id);
            let path = engine.path(&id);
            let dropped = remove_if_there(&next_path(&engine.root(), &id))
                .and_then(|()| drop_directory(&engine.root(), &id));
            engine.slots_mut().remove(&id);
            dropped.map_err(|source| Error::File { path, source })
        });
    }

    /// A database that could not be opened, which is reported too.
    pub(crate) fn failed(&self, id: &str, error: &Error) -> Slot {
        let detail = error.to_string();
        self.events
            .emit(EventCode::OpenFailed, Some(&id.into()), detail.as_str());
        Slot::Failed {
            code: error.code(),
            detail,
        }
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
    pub fn meter(&self) -> MeterReading {
        self.meter.read()
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
            let answer = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(answer) = answer {
                answer.send(result);
            }
        };
        let started = std::thread::Builder::new()
            .name("cosift-background".into())
            .spawn(move || {
                let worked = catch_unwind(AssertUnwindSafe(|| work(&engine)));
                let result = worked.unwrap_or_else(|panic| {
                    let detail = message(&*panic);
                    Err(Error::Defect { detail })
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

    /// Answers what was taken, saves what makes the next start fast, and gives the directory free.
    pub fn close(&self) {
        self.closed.store(true, Relaxed);
        self.scanner.close();
        self.workers.close();
        // What is under way sees that it is to end.
        let _background = self
            .background
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.shadows().clear();
        let databases = std::mem::take(&mut *self.slots_mut());
        for slot in databases.into_values() {
            if let Slot::Ready(database) = slot {
                database.close();
            }
        }
        self.lock
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    /// The directory of the databases.
    pub(crate) fn root(&self) -> PathBuf {
        self.directory.join("databases")
    }

    pub(crate) fn path(&self, id: &str) -> PathBuf {
        self.root().join(id)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    pub(crate) fn shadows(&self) -> MutexGuard<'_, BTreeMap<String, Shadow>> {
        self.shadows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slots(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<String, Slot>> {
        self.databases
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn slots_mut(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<String, Slot>> {
        self.databases
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn database(&self, id: &str) -> Result<Arc<Database>, Error> {
        match self.slots().get(id) {
            Some(Slot::Ready(database)) => Ok(Arc::clone(database)),
            Some(Slot::Loading { .. }) => Err(Error::NotReady { id: id.to_owned() }),
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
        self.workers.run(done, work);
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
}

/// Whether a directory was to take the place of a database that is not there.
fn is_orphan(root: &Path, name: &str) -> bool {
    name.strip_prefix(NEXT)
        .is_some_and(|id| !store_path(&root.join(id)).exists())
}

/// Whether a text may name a database: 1 to 64 of `a-z 0-9 _ -`.
fn is_database_id(id: &str) -> bool {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
    };
    (1..=64).contains(&id.len()) && id.bytes().all(allowed)
}
