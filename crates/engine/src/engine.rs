//! The engine: the databases of one data directory, and the threads that serve them.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::changes::Changes;
use crate::commit::{Commit, Committed};
use crate::database::Database;
use crate::defect::message;
use crate::delete::{Deletion, RecordRef};
use crate::describe::{describe, sizes};
use crate::error::Error;
use crate::limits::Limits;
use crate::lock::DataLock;
use crate::meter::{Meter, MeterReading};
use crate::prepare::{Format, Prepared, prepare};
use crate::query::Query;
use crate::score::to_unit_q30;
use crate::search::{
    Page, RequestReader, Scanner, ScannerStats, Search, StopFlag, TimeRange, write_record,
};
use crate::select::Selection;
use crate::settings::Settings;
use crate::task::Task;
use crate::workers::Workers;

/// Called once with the outcome of a call, from one of the engine's threads.
pub type Done<T> = Box<dyn FnOnce(Result<T, Error>) + Send>;

/// The databases of a data directory. Holds its lock until closed.
pub struct Engine {
    directory: PathBuf,
    limits: Limits,
    meter: Arc<Meter>,
    databases: RwLock<BTreeMap<String, Slot>>,
    scanner: Scanner,
    workers: Workers,
    closed: AtomicBool,
    lock: Mutex<Option<DataLock>>,
}

/// A database, or how far it has come.
#[derive(Clone)]
enum Slot {
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

/// Begins the name of a database's directory while it is removed.
const DROPPED: &str = ".dropped-";

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
        for entry in std::fs::read_dir(&root).map_err(file)? {
            let entry = entry.map_err(file)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().join("records.sqlite").exists() && is_database_id(&name) {
                databases.insert(name, Slot::Loading { records: 0 });
            } else if name.starts_with(DROPPED) {
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
            workers: Workers::start(WORKERS).map_err(file)?,
            closed: AtomicBool::new(false),
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
            let open = || Database::open(&id, &self.path(&id), &self.meter, &progress);
            let opened = catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|panic| {
                Err(Error::Defect {
                    detail: message(&*panic),
                })
            });
            let slot = match opened {
                Ok(database) => Slot::Ready(Arc::new(database)),
                Err(Error::Closed) => return Err(Error::Closed),
                Err(error) => Slot::Failed {
                    code: error.code(),
                    detail: error.to_string(),
                },
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
                    json!({ "id": id, "loaded": false, "records": records, "memory_bytes": 0, "disk_bytes": 0 })
                }
                Slot::Failed { code, detail } => json!({
                    "id": id, "loaded": false, "records": 0, "memory_bytes": 0, "disk_bytes": 0,
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
            // Renamed first: a crash in between must not leave half a database to be opened.
            let (path, gone) = (
                engine.path(&id),
                engine
                    .directory
                    .join("databases")
                    .join(format!("{DROPPED}{id}")),
            );
            let _ = std::fs::remove_dir_all(&gone);
            let dropped =
                std::fs::rename(&path, &gone).and_then(|()| std::fs::remove_dir_all(&gone));
            engine.slots_mut().remove(&id);
            dropped.map_err(|source| Error::File { path, source })
        });
    }

    /// Parses and checks records, and finds which of them need an embedding.
    ///
    /// `vectors` are those of a batch whose records come without: one after the other, or none.
    pub fn prepare(
        self: &Arc<Self>,
        id: &str,
        body: Vec<u8>,
        vectors: Vec<f32>,
        format: Format,
        done: Done<Prepared>,
    ) {
        self.with(id, done, move |engine, database| {
            prepare(database, &body, &vectors, format, &engine.limits)
        });
    }

    /// Commits prepared records; they are durable and searchable when `done` is called.
    pub fn commit(
        &self,
        id: &str,
        prepared: Arc<Prepared>,
        vectors: Vec<f32>,
        done: Done<Committed>,
    ) {
        match self.database(id) {
            Ok(database) => database.send(Task::Commit(Commit {
                prepared,
                vectors,
                answer: Answer::new(done),
            })),
            Err(error) => done(Err(error)),
        }
    }

    /// Deletes records; `done` gets how many there were.
    pub fn delete(&self, id: &str, request: &str, done: Done<usize>) {
        match self
            .database(id)
            .and_then(|database| Ok((database, Deletion::parse(request, &self.limits)?)))
        {
            Ok((database, deletion)) => database.send(Task::Delete {
                deletion,
                answer: Answer::new(done),
            }),
            Err(error) => done(Err(error)),
        }
    }

    /// One record as `variant` shows it, if it satisfies the forced filter.
    pub fn record(
        self: &Arc<Self>,
        id: &str,
        record: String,
        request: String,
        done: Done<Vec<u8>>,
    ) {
        self.with(id, done, move |engine, database| {
            let request = RequestReader::new(&request, &engine.limits)?;
            let variant = request.variant()?;
            let forced = request.filter(variant)?;
            database.with_published(|published| {
                let snapshot = &published.snapshot;
                let selection = Selection::bind(snapshot, forced.as_ref(), TimeRange::ALWAYS);
                let found = RecordRef::parse(&record).and_then(|record| record.find(published));
                match found.filter(|&row| selection.holds(snapshot.at(row))) {
                    Some(row) => {
                        let (block, slot) = snapshot.at(row);
                        let mut out = Vec::new();
                        write_record(snapshot, block, slot, variant, &mut out);
                        Ok(out)
                    }
                    None => Err(Error::RecordNotFound {
                        database: database.id.clone(),
                        id: record.clone(),
                    }),
                }
            })
        });
    }

    /// Searches; see [`Search::parse`] for the request. `vector` is the query's embedding.
    pub fn search(
        &self,
        id: &str,
        request: &str,
        vector: &[f32],
        stop: StopFlag,
        done: Done<Page>,
    ) {
        let checked = self.database(id).and_then(|database| {
            let search = Search::parse(request, &self.limits)?;
            let expected = database.settings.dimensions;
            if vector.len() != expected {
                return Err(Error::Dimensions {
                    expected,
                    got: vector.len(),
                });
            }
            Ok((database, search, to_unit_q30(vector)?))
        });
        match checked {
            Ok((database, search, vector)) => {
                self.scanner.submit(database, search, vector, stop, done)
            }
            Err(error) => done(Err(error)),
        }
    }

    /// Runs the filter-only operation; see [`Query::parse`] for the request.
    pub fn query(self: &Arc<Self>, id: &str, request: String, stop: StopFlag, done: Done<Page>) {
        self.with(id, done, move |engine, database| {
            Query::parse(&request, &engine.limits)?.run(database, &stop)
        });
    }

    /// Reads the change feed; see [`Changes::parse`] for the request.
    pub fn changes(self: &Arc<Self>, id: &str, request: String, done: Done<Vec<u8>>) {
        self.with(id, done, move |engine, database| {
            Changes::parse(&request, &engine.limits)?.run(database)
        });
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
    pub fn close_in_background(engine: Arc<Self>, done: Done<()>) {
        let done = Arc::new(Mutex::new(Some(done)));
        let take = Arc::clone(&done);
        let answer = move |done: &Mutex<Option<Done<()>>>, result| {
            if let Some(done) = done.lock().unwrap_or_else(PoisonError::into_inner).take() {
                done(result);
            }
        };
        let closing = std::thread::Builder::new()
            .name("cosift-close".into())
            .spawn(move || {
                engine.close();
                answer(&take, Ok(()));
            });
        if let Err(source) = closing {
            answer(
                &done,
                Err(Error::File {
                    path: "close".into(),
                    source,
                }),
            );
        }
    }

    /// Answers what was taken, saves what makes the next start fast, and gives the directory free.
    pub fn close(&self) {
        self.closed.store(true, Relaxed);
        self.scanner.close();
        self.workers.close();
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

    fn path(&self, id: &str) -> PathBuf {
        self.directory.join("databases").join(id)
    }

    fn slots(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<String, Slot>> {
        self.databases
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn slots_mut(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<String, Slot>> {
        self.databases
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn database(&self, id: &str) -> Result<Arc<Database>, Error> {
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

    fn with<T: Send + 'static>(
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

/// Whether a text may name a database: 1 to 64 of `a-z 0-9 _ -`.
fn is_database_id(id: &str) -> bool {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
    };
    (1..=64).contains(&id.len()) && id.bytes().all(allowed)
}
