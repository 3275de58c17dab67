//! Copies of databases as they were at one moment.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::channel;

use parking_lot::Mutex;

use serde_json::{Value, json};

use crate::api::database::Database;
use crate::api::engine::Engine;
use crate::error::{Done, Error};
use crate::record::hexadecimal;
use crate::reply::{guarded, run_on_thread};
use crate::runtime::StopFlag;
use crate::store::{CopiedState, Reader, StoreCopy, StoreError};
use crate::write::{Command, Paused};

/// Transactions that a backup keeps open. Each has three files.
const MAX_TRANSACTIONS: usize = 48;

/// Databases as they were at one moment. Until a database is copied, its log cannot be emptied.
pub struct Backup {
    databases: Vec<(Value, Mutex<Option<Moment>>)>,
}

/// What keeps a database as it was.
enum Moment {
    Transaction(StoreCopy),
    /// The writer pauses, because the backup has enough transactions.
    Pause(Reader, Paused),
}

impl Moment {
    /// Begins the transaction of a writer that pauses, and lets the writer go on.
    fn into_copy(self) -> Result<StoreCopy, StoreError> {
        match self {
            Self::Transaction(copy) => Ok(copy),
            Self::Pause(reader, _paused) => {
                let copy = reader.open_copy()?;
                copy.begin()?;
                Ok(copy)
            }
        }
    }
}

impl Backup {
    /// The databases as a JSON array: `id`, `records`, `version`, `position`, `epochs`, `model`, `fingerprint`,
    /// `dimensions`, `bytes`.
    #[must_use]
    pub fn databases(&self) -> Value {
        let databases = self.databases.iter();
        databases
            .map(|(description, _)| description.clone())
            .collect()
    }

    /// Ends the transactions and the pauses of the databases that are not copied.
    pub fn release(&self) {
        for (_, copy) in &self.databases {
            drop(copy.lock().take());
        }
    }

    /// Writes the store of the database at `index` of [`Backup::databases`] to a new file, on a thread of its own. Each
    /// database can be written once.
    ///
    /// `done` gets [`Error::Stopped`] once `stop` is set, and [`Error::Store`]. A part of the file may be left then.
    pub fn copy(
        &self,
        engine: &Engine,
        index: usize,
        path: PathBuf,
        stop: StopFlag,
        done: Done<()>,
    ) {
        let copy = self
            .databases
            .get(index)
            .and_then(|(_, copy)| copy.lock().take());
        let Some(copy) = copy else {
            done(Err(Error::Closed));
            return;
        };
        let events = engine.events();
        run_on_thread("cosift-backup", done, move || {
            guarded(&events, "in a backup", || {
                match copy.into_copy()?.write_to(&path, || !stop.load(Relaxed))? {
                    true => Ok(()),
                    false => Err(Error::Stopped),
                }
            })
        });
    }
}

impl Engine {
    /// Fixes a moment of a database, or of all of them, for a backup. Every write that was acknowledged before the call
    /// is part of it, and a write that began after a write to another database was acknowledged is part of it only
    /// with that write. Of many databases, most take no writes until their copy begins.
    ///
    /// `done` gets [`Error::DatabaseNotFound`]; [`Error::NotReady`] and [`Error::NotOpened`] when one of the databases
    /// cannot be read; [`Error::Store`].
    pub fn begin_backup(self: &Arc<Self>, id: Option<String>, done: Done<Backup>) {
        let engine = Arc::clone(self);
        self.threads.admin.run(done, move || {
            engine.check_writable()?;
            engine.pause_and_begin(id)
        });
    }

    fn pause_and_begin(&self, id: Option<String>) -> Result<Backup, Error> {
        // Held to the end, so that no database is created, dropped or replaced meanwhile. One backup at a time pauses
        // the writers: two would wait for each other.
        let _files = self.catalog.lock_files();
        let ids = id.map_or_else(|| self.catalog.ids(), |id| vec![id]);
        let databases: Vec<Arc<Database>> = ids
            .iter()
            .map(|id| self.catalog.database(id))
            .collect::<Result<_, _>>()?;
        // Opened before the pause, to keep it short.
        let copies: Vec<StoreCopy> = databases
            .iter()
            .take(MAX_TRANSACTIONS)
            .map(|database| database.reader.open_copy())
            .collect::<Result<_, _>>()?;
        let paused = pause(&databases)?;
        let mut begun = Vec::with_capacity(databases.len());
        for copy in &copies {
            begun.push(copy.begin()?);
        }
        for database in &databases[copies.len()..] {
            // The state stays: the writer pauses until the copy.
            begun.push(database.reader.open_copy()?.begin()?);
        }
        let transactions = copies
            .into_iter()
            .map(Some)
            .chain(std::iter::repeat_with(|| None));
        let moments = paused.into_iter().zip(transactions);
        let databases = databases.iter().zip(begun).zip(moments);
        let databases = databases.map(|((database, state), (paused, transaction))| {
            let moment = match transaction {
                Some(copy) => Moment::Transaction(copy),
                None => Moment::Pause(database.reader.clone(), paused),
            };
            (describe(database, &state), Mutex::new(Some(moment)))
        });
        Ok(Backup {
            databases: databases.collect(),
        })
    }
}

fn describe(database: &Database, state: &CopiedState) -> Value {
    let epochs: Value = state
        .generations
        .all()
        .map(|(after, id)| json!({ "after": after, "epoch": hexadecimal(id) }))
        .collect();
    let settings = &database.settings;
    json!({
        "id": database.id,
        "records": state.records,
        "version": state.version,
        "position": state.position,
        "epochs": epochs,
        "model": settings.model,
        "fingerprint": settings.fingerprint,
        "dimensions": settings.dimensions,
        "bytes": state.bytes,
    })
}

/// Pauses the writers of all databases, each between two commits. The results are in the order of the databases.
fn pause(databases: &[Arc<Database>]) -> Result<Vec<Paused>, Error> {
    let pauses = databases.iter().map(|database| {
        let (begun, waiting) = channel();
        database.send_waiting(Command::Pause(begun))?;
        Ok(waiting)
    });
    // All are asked before the first is waited for.
    let pauses: Vec<_> = pauses.collect::<Result<_, Error>>()?;
    // Fails when a writer ended.
    let begun = pauses
        .iter()
        .map(|waiting| waiting.recv().map_err(|_| Error::Closed));
    begun.collect()
}
