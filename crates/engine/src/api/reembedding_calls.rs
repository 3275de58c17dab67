//! Calls that give a database the vectors of another model while it is read, searched and written.
//!
//! The vectors of the next model are stored beside those of the database, batch by batch, of texts that the caller embeds. When
//! all records have theirs and nothing is written for a moment, one transaction gives them the place of the others.

use std::sync::Arc;

use serde_json::Value;

use crate::api::catalog::Catalog;
use crate::api::database::Database;
use crate::api::engine::Engine;
use crate::error::{Done, Error};
use crate::reembedding::{Reembedding, ReembeddingBatch};
use crate::reply::guarded;
use crate::runtime::{DatabaseEvents, now_ms};
use crate::settings::Settings;
use crate::snapshot::IndexFiles;
use crate::store::{Store, StoreError, store_path};
use crate::write::{Embedded, NextIndex};

impl Engine {
    /// Begins to embed a database with another model or other columns, or continues an interrupted re-embedding. A
    /// re-embedding with other settings is discarded. `settings` hold `embed`, `model`, `fingerprint` and `dimensions`.
    /// `done` gets the JSON of [`Engine::reembedding`].
    pub fn begin_reembedding(self: &Arc<Self>, id: &str, settings: String, done: Done<Vec<u8>>) {
        self.between_drops(id, done, move |engine, database| {
            let given = Settings::parse(&settings)?;
            let settings = database.current_settings().with_vectors_of(&given);
            if settings.model.is_none() {
                let detail = "there must be a model: records have vectors of their own from the start or never";
                return Err(Error::request("/model", detail));
            }
            // The switch takes over the other settings.
            let known = Reembedding::of(&database.reader)?
                .filter(|known| known.settings.makes_vectors_of(&settings));
            if known.is_none() || !database.reader.has_next_files()? {
                engine.catalog.remove_next_index(&database.id)?;
                let json = settings.to_stored();
                database.with_store(move |store| Ok(store.begin_next(&json, now_ms())?))?;
            }
            described(database)
        });
    }

    /// The progress of a re-embedding as JSON: `embed`, `model`, `fingerprint`, `done`, `started_at`; `null` without one.
    pub fn reembedding(self: &Arc<Self>, id: &str, done: Done<Vec<u8>>) {
        self.with(id, done, move |engine, database| {
            engine.check_writable()?;
            described(database)
        });
    }

    /// Reads the next batch of records to embed. It may be empty.
    pub fn prepare_reembedding(self: &Arc<Self>, id: &str, done: Done<ReembeddingBatch>) {
        self.with(id, done, move |_, database| {
            begun(database)?.prepare(&database.reader, &database.settings)
        });
    }

    /// Stores a batch with the vectors of its texts, one after the other. `done` gets the number of records that have vectors of
    /// the next model, or [`Error::Stale`] when another batch was stored since it was read, or another model made the vectors.
    pub fn commit_reembedding(
        self: &Arc<Self>,
        id: &str,
        batch: Arc<ReembeddingBatch>,
        embedded: Embedded,
        done: Done<u64>,
    ) {
        self.with(id, done, move |_, database| {
            begun(database)?;
            let records = batch.records(&embedded)?;
            let reached = batch.reached();
            let stored = database
                .with_store(move |store| store.put_next(reached, &records)?.ok_or(Error::Stale))?;
            if let Some((file, ids)) = batch.write_file(&database.reader)? {
                let slots = ids.into_iter().enumerate().map(|(slot, id)| (id, slot));
                let handed_over = database
                    .with_store(move |store| Ok(store.hand_over_next(reached.1, file, slots)));
                match handed_over? {
                    Ok(true) => {}
                    // The next batch tries it again.
                    Ok(false) | Err(StoreError::Busy | StoreError::DiskFull) => {
                        database.reader.vector_files().remove([file]);
                    }
                    // Whether the file is named shows when the store is opened again.
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(stored)
        });
    }

    /// Writes the index files of the records so far, so that [`Engine::switch_reembedding`] is quick.
    pub fn warm_reembedding(self: &Arc<Self>, id: String, done: Done<()>) {
        self.run_switch(done, move |engine| warm(&engine.catalog, &id));
    }

    /// Switches the database to the new model. Searches and reads are served throughout. Nothing may be written after
    /// the last batch.
    ///
    /// `done` gets [`Error::Stale`] when something was written: then the database continues with the old model.
    pub fn switch_reembedding(self: &Arc<Self>, id: String, done: Done<()>) {
        self.run_switch(done, move |engine| {
            switch(&engine.catalog, &id).inspect_err(|_| engine.open_waiting_databases())
        });
    }

    /// Ends a re-embedding and removes what it made.
    pub fn cancel_reembedding(self: &Arc<Self>, id: &str, done: Done<()>) {
        self.between_drops(id, done, |engine, database| {
            // First, because that makes room where the disk is full.
            engine.catalog.remove_next_index(&database.id)?;
            begun(database)?;
            database.with_store(|store| Ok(store.cancel_next()?))
        });
    }

    /// Runs `work` with a database on the thread that drops databases.
    fn between_drops<T: Send + 'static>(
        self: &Arc<Self>,
        id: &str,
        done: Done<T>,
        work: impl FnOnce(&Self, &Database) -> Result<T, Error> + Send + 'static,
    ) {
        let (engine, id) = (Arc::clone(self), id.to_owned());
        self.threads.admin.run(done, move || {
            engine.check_writable()?;
            let database = engine.database(&id)?;
            work(&engine, &database)
        });
    }

    /// Runs `work` on the thread for switches, unless the engine is closing.
    fn run_switch(
        self: &Arc<Self>,
        done: Done<()>,
        work: impl FnOnce(&Arc<Self>) -> Result<(), Error> + Send + 'static,
    ) {
        let engine = Arc::clone(self);
        self.threads.switches.run(done, move || {
            engine.check_writable()?;
            if engine.is_closed() {
                return Err(Error::Closed);
            }
            guarded(&engine.events(), "in the background", || work(&engine))
        });
    }
}

fn described(database: &Database) -> Result<Vec<u8>, Error> {
    let reembedding = Reembedding::of(&database.reader)?;
    let described = reembedding.map_or(Value::Null, |known| known.describe());
    Ok(described.to_string().into_bytes())
}

/// The re-embedding of a database.
///
/// # Errors
/// [`Error::ReembeddingNotFound`] when none was begun.
fn begun(database: &Database) -> Result<Reembedding, Error> {
    let id = || database.id.clone();
    Reembedding::of(&database.reader)?.ok_or_else(|| Error::ReembeddingNotFound { id: id() })
}

/// Switches a database to the vectors of the next model. Searches and reads are served throughout, with the old or with the
/// new vectors.
///
/// # Errors
/// [`Error::Stale`] when records lack vectors of the next model: then the database continues with the old model.
/// [`Error::ReembeddingNotFound`], [`Error::DatabaseNotFound`], [`Error::Store`].
pub(crate) fn switch(catalog: &Catalog, id: &str) -> Result<(), Error> {
    // To the end, so that the switch does not restore a database that is dropped meanwhile.
    let _files = catalog.reserve_files_of(id);
    let source = catalog.database(id)?;
    let reembedding = begun(&source)?;
    if !source.reader.is_next_complete()? {
        return Err(Error::Stale);
    }
    // Ends its writer. The published snapshot can still be read and searched.
    source.close();
    let settings = source
        .current_settings()
        .with_vectors_of(&reembedding.settings);
    let path = catalog.path(id);
    let switched = Store::open(&catalog.dependencies.disk, &store_path(&path))
        .and_then(|mut store| store.switch(reembedding.reached(), &settings.to_stored()));
    catalog.replace(&source, catalog.open_database(id, &path))?;
    if switched? { Ok(()) } else { Err(Error::Stale) }
}

/// Writes the index files of the next model, so that [`switch`] is quick.
///
/// # Errors
/// [`Error::ReembeddingNotFound`], [`Error::DatabaseNotFound`], [`Error::Store`]; [`Error::Stale`] when a batch was stored
/// meanwhile.
pub(crate) fn warm(catalog: &Catalog, id: &str) -> Result<(), Error> {
    let database = catalog.database(id)?;
    let reembedding = begun(&database)?;
    let reached = reembedding.reached();
    let dependencies = &catalog.dependencies;
    let store = &database.reader;
    let dimensions = reembedding.settings.dimensions;
    let index_files = IndexFiles::of(
        &dependencies.disk,
        &catalog.next_index_path(id),
        dimensions,
        store.at_one_commit(|moment| moment.status())?.store_id,
        store.clone(),
        &dependencies.vectors,
    );
    let events = DatabaseEvents::new(&dependencies.events, id);
    let progress = |_| !catalog.is_closed() && !database.is_dropped();
    let built = NextIndex::build(store, index_files, dimensions, events, &progress);
    let index = built.inspect_err(|error| {
        if error.code() == "damaged" {
            // What was made is lost, and the re-embedding can be begun again.
            let _ = database.with_store(|store| Ok(store.cancel_next()?));
        }
    })?;
    let write = || {
        let stamp = database.with_store(move |store| Ok(store.stamp_next(reached)?))?;
        index.save(stamp.ok_or(Error::Stale)?)?;
        for (file_id, records) in index.files() {
            let handed_over = database.with_store(move |store| {
                Ok(store.hand_over_next(reached, file_id.0, records.into_iter())?)
            })?;
            if !handed_over {
                return Err(Error::Stale);
            }
        }
        Ok(())
    };
    write().inspect_err(|_| {
        // Which files are named after a failed sync shows when the store is opened again.
        if database.is_writable() {
            index.abandon(&database.reader);
        }
    })
}
