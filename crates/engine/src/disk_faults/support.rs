//! An engine on a faulty disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::disk::RealDisk;
use crate::disk_faults::faulty::{Fault, FaultyDisk, IO_ERROR, NO_SPACE, TOO_MANY_FILES, can_fail};
use crate::error::{Done, Error};
use crate::write::Format;
use crate::{Committed, Embedded, Engine, Limits};

/// A data directory on a faulty disk.
pub(super) struct World {
    directory: TempDir,
    pub(super) disk: Arc<FaultyDisk>,
}

/// Every way in which one of `operations` can fail: which operation, its error, and whether the error lasts.
pub(super) fn faults(operations: &[&str]) -> Vec<(usize, i32, bool)> {
    let mut faults = Vec::new();
    for code in [NO_SPACE, IO_ERROR, TOO_MANY_FILES] {
        let failing = (0..operations.len()).filter(|&at| can_fail(operations[at], code));
        faults.extend(failing.flat_map(|at| [(at, code, false), (at, code, true)]));
    }
    faults
}

/// Every `step`th of `all`; all of them where every test runs in full (`npm run test:all`).
///
/// `step` is odd, because [`faults`] has each one twice: of one operation, and of all that follow.
pub(super) fn sampled<T>(all: impl IntoIterator<Item = T>, step: usize) -> impl Iterator<Item = T> {
    assert!(step % 2 == 1, "an even step");
    let is_full = std::env::var_os("TESTS_IN_FULL").is_some();
    all.into_iter().step_by(if is_full { 1 } else { step })
}

impl World {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let disk = Arc::new(FaultyDisk::new(&directory.path().join("data")));
        Self { directory, disk }
    }

    pub(super) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Opens the data directory on the faulty disk.
    pub(super) fn open(&self) -> Arc<Engine> {
        load(Engine::open_on(
            Arc::clone(&self.disk) as _,
            &self.data(),
            Some(1),
            Limits::default(),
        ))
    }

    /// A closed database `db` with `records` records.
    pub(super) fn filled(records: u64) -> Self {
        let world = Self::new();
        let engine = world.open();
        create(&engine, "db").expect("created");
        for first in (1..=records).step_by(1_000) {
            put(&engine, "db", first..(first + 1_000).min(records + 1)).expect("stored");
        }
        engine.close();
        world
    }

    /// A copy of this directory, opened.
    pub(super) fn open_copy(&self) -> (Self, Arc<Engine>) {
        let world = Self::new();
        self.disk.write_image(&world.data());
        let engine = world.open();
        (world, engine)
    }

    /// Opens what a power cut leaves, in a directory named `name`. It is the present state when no power cut was set.
    pub(super) fn open_image(&self, name: &str) -> Arc<Engine> {
        let image = self.directory.path().join(name);
        if !image.exists() {
            self.disk.write_image(&image);
        }
        open(&image)
    }

    /// Runs `body` without a fault and returns the operations.
    pub(super) fn rehearse(&self, body: impl FnOnce()) -> Vec<&'static str> {
        self.disk.set(None);
        body();
        self.disk.operations()
    }

    /// Runs `body` while an operation fails.
    pub(super) fn failing<T>(
        &self,
        (at, code, lasting): (usize, i32, bool),
        body: impl FnOnce() -> T,
    ) -> T {
        self.disk.set(Some(Fault::Error { at, code, lasting }));
        let value = body();
        self.disk.set(None);
        value
    }

    /// Runs `body` with a power cut after an operation; returns whether there was such an operation. See
    /// [`World::open_image`].
    pub(super) fn with_power_cut<T>(
        &self,
        after: usize,
        name: &str,
        body: impl FnOnce() -> T,
    ) -> (T, bool) {
        let image = self.directory.path().join(name);
        self.disk.set(Some(Fault::PowerCut { after, image }));
        let value = body();
        let reached = self.disk.operations().len() > after;
        self.disk.set(None);
        (value, reached)
    }
}

/// Opens a data directory on the real disk.
pub(super) fn open(directory: &Path) -> Arc<Engine> {
    load(Engine::open_on(
        Arc::new(RealDisk),
        directory,
        Some(1),
        Limits::default(),
    ))
}

fn load(opened: Result<Arc<Engine>, Error>) -> Arc<Engine> {
    let engine = opened.expect("it opens");
    wait(|done| engine.load(done)).expect("loaded");
    engine
}

pub(super) fn wait<T: Send + 'static>(start: impl FnOnce(Done<T>)) -> Result<T, Error> {
    let (sender, outcome) = channel();
    start(Box::new(move |result| drop(sender.send(result))));
    outcome.recv().expect("every call is answered")
}

/// Creates a database of two dimensions, whose records bring their vectors.
pub(super) fn create(engine: &Arc<Engine>, id: &str) -> Result<Vec<u8>, Error> {
    let settings = json!({ "model": null, "dimensions": 2 }).to_string();
    wait(|done| engine.create_database(id.into(), settings, done))
}

/// Stores records with their ids as data and as vectors.
pub(super) fn put(
    engine: &Arc<Engine>,
    database: &str,
    ids: std::ops::Range<u64>,
) -> Result<Committed, Error> {
    let record = |id| json!({ "id": id, "data": { "number": id }, "vector": [1, id] });
    commit(engine, database, ids.map(record).collect(), None)
}

/// Stores records, whose vectors `fingerprint` made if they have any.
pub(super) fn commit(
    engine: &Arc<Engine>,
    database: &str,
    records: Vec<Value>,
    fingerprint: Option<&str>,
) -> Result<Committed, Error> {
    let body = json!({ "records": records }).to_string().into_bytes();
    let prepared = wait(|done| engine.prepare(database, body, Vec::new(), Format::Batch, done))?;
    let embedded = Embedded {
        fingerprint: fingerprint.map(str::to_owned),
        ..Embedded::default()
    };
    wait(|done| engine.commit(database, Arc::new(prepared), embedded, done))
}

/// Checks that a database has exactly the records 1 to `last`, each with its data, and that it takes writes.
pub(super) fn assert_serves(engine: &Arc<Engine>, database: &str, last: u64, what: &str) {
    let opened = engine
        .database(database)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(opened.snapshot().records() as u64, last, "{what}");
    assert!(opened.is_writable(), "{what}");
    let mut ids = Vec::new();
    let read = opened.reader.load(0, |record| {
        let data = format!(r#"{{"number":{}}}"#, record.header.id);
        assert_eq!(record.data, data.as_bytes(), "{what}");
        ids.push(record.header.id);
        std::ops::ControlFlow::Continue(())
    });
    read.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(ids.into_iter().eq(1..=last), "{what}");
}

/// Checks that the store of a database has the vectors of [`put`].
pub(super) fn assert_has_vectors(engine: &Arc<Engine>, database: &str, what: &str) {
    let opened = engine.database(database).expect("opened");
    let read = opened.reader.load(0, |record| {
        let &[one, number] = record.vectors else {
            panic!("{what}: {} components", record.vectors.len());
        };
        let (one, id) = (i64::from(one), record.header.id.cast_signed());
        let difference = i64::from(number) - one * id;
        assert!(one > 0 && difference.abs() <= id + 1, "{what}");
        std::ops::ControlFlow::Continue(())
    });
    read.unwrap_or_else(|error| panic!("{what}: {error}"));
}

/// Whether there is a database with this id.
pub(super) fn exists(engine: &Arc<Engine>, database: &str) -> bool {
    !matches!(
        engine.database(database).err(),
        Some(Error::DatabaseNotFound { .. })
    )
}

/// Checks that the directory of the databases has no entries but the databases.
pub(super) fn assert_no_leftovers(directory: &Path, what: &str) {
    for entry in std::fs::read_dir(directory.join("databases")).expect("read") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        assert!(!name.starts_with('.'), "{what}: {name} is left");
    }
}

/// Checks that an error says which file or directory it is about, or that the disk is full.
pub(super) fn assert_names_a_path(error: &Error, directory: &Path, what: &str) {
    let text = error.to_string();
    let names = text.contains(&directory.display().to_string());
    assert!(names || error.code() == "disk_full", "{what}: {text}");
}
