//! Calls that give a database the vectors of another model while it is read, searched and written.
//!
//! A re-embedding store copies the commits of the database, batch by batch, with vectors of texts that the caller
//! embeds. When the store has the last commit and nothing is written for a moment, it takes the place of the database.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::catalog::Catalog;
use crate::api::database::Database;
use crate::api::engine::Engine;
use crate::api::reembeddings::Reembeddings;
use crate::disk::{remove_dropped, swap_directories};
use crate::error::{Done, Error};
use crate::json::time_text;
use crate::reembedding::{ReembeddingBatch, ReembeddingStore};
use crate::reply::guarded;
use crate::settings::Settings;
use crate::write::Embedded;

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
            let store = engine.reembeddings.take_or_create(database, settings)?;
            let described = describe(&store).to_string().into_bytes();
            engine.reembeddings.put_back(&database.id, store);
            Ok(described)
        });
    }

    /// The progress of a re-embedding as JSON: `embed`, `model`, `fingerprint`, `done`, `started_at`; `null` without one.
    pub fn reembedding(self: &Arc<Self>, id: &str, done: Done<Vec<u8>>) {
        self.between_drops(id, done, move |engine, database| {
            let store = engine.reembeddings.take_or_open(database)?;
            let described = store.as_ref().map_or(Value::Null, describe);
            if let Some(store) = store {
                engine.reembeddings.put_back(&database.id, store);
            }
            Ok(described.to_string().into_bytes())
        });
    }

    /// Reads the next batch of records to embed. It may be empty.
    pub fn prepare_reembedding(self: &Arc<Self>, id: &str, done: Done<ReembeddingBatch>) {
        self.with(id, done, move |engine, database| {
            let prepare =
                |store: &mut ReembeddingStore| store.prepare(&database.reader, &database.settings);
            engine.reembeddings.with(&database.id, prepare)
        });
    }

    /// Stores a batch with the vectors of its texts, one after the other. `done` gets the number of records in the
    /// re-embedding store.
    pub fn commit_reembedding(
        self: &Arc<Self>,
        id: &str,
        batch: Arc<ReembeddingBatch>,
        embedded: Embedded,
        done: Done<u64>,
    ) {
        self.with(id, done, move |engine, database| {
            engine.reembeddings.with(&database.id, |store| {
                store.commit(&batch, &embedded)?;
                Ok(store.done)
            })
        });
    }

    /// Writes the index files of the records so far, so that [`Engine::switch_reembedding`] is quick.
    pub fn warm_reembedding(self: &Arc<Self>, id: String, done: Done<()>) {
        self.run_switch(done, move |engine| {
            warm(&engine.catalog, &engine.reembeddings, &id)
        });
    }

    /// Switches the database to the new model. Searches and reads are served throughout. Nothing may be written after
    /// the last batch.
    ///
    /// `done` gets [`Error::Stale`] when something was written: then the database continues with the old model.
    pub fn switch_reembedding(self: &Arc<Self>, id: String, done: Done<()>) {
        self.run_switch(done, move |engine| {
            switch(&engine.catalog, &engine.reembeddings, &id)
                .inspect_err(|_| engine.open_waiting_databases())
        });
    }

    /// Ends a re-embedding and removes its store.
    pub fn cancel_reembedding(self: &Arc<Self>, id: &str, done: Done<()>) {
        self.between_drops(id, done, |engine, database| {
            engine.reembeddings.cancel(&database.id)
        });
    }

    /// Runs `work` with a database on the thread that drops databases: a drop removes the re-embedding store.
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

fn describe(store: &ReembeddingStore) -> Value {
    let mut settings = store.settings.to_json();
    json!({
        "embed": settings.remove("embed"),
        "model": store.settings.model,
        "fingerprint": store.settings.fingerprint,
        "done": store.done,
        "started_at": time_text(store.started_at),
    })
}

/// Switches a database to the vectors of its re-embedding store. Searches and reads are served throughout, from the old
/// or from the new database.
///
/// # Errors
/// [`Error::Stale`] when something was written after the last batch: then the database continues with the old model.
/// [`Error::ReembeddingNotFound`], [`Error::DatabaseNotFound`], [`Error::File`], [`Error::Store`].
pub(crate) fn switch(
    catalog: &Catalog,
    reembeddings: &Reembeddings,
    id: &str,
) -> Result<(), Error> {
    // Held to the end, so that the switch does not restore a database that is dropped meanwhile.
    let _files = catalog.lock_files_of(id);
    let source = catalog.database(id)?;
    let mut store = reembeddings.take(id)?;
    if source.reader.version()? != store.version() {
        reembeddings.put_back(id, store);
        return Err(Error::Stale);
    }
    // Ends its writer. The published snapshot can still be read and searched.
    source.close();
    let prepared = store.configure(&source.current_settings(), &source.reader);
    let swapped = prepared.and_then(|()| swap(catalog, &source, store));
    // Opens the old or the new database, whichever is in the directory now.
    let opened = catalog.open_database(id, &catalog.path(id));
    catalog.replace(&source, opened)?;
    if swapped.is_ok() {
        // What cannot be removed now is removed at the next start.
        let _ = remove_dropped(catalog.disk(), catalog.root(), id);
    }
    swapped
}

/// Swaps the directories, if the store has all commits of the database.
fn swap(catalog: &Catalog, source: &Arc<Database>, store: ReembeddingStore) -> Result<(), Error> {
    let version = store.version();
    // SQLite must close the files by the path that it opened them by.
    drop(store);
    if source.reader.version()? != version {
        return Err(Error::Stale);
    }
    // Searches may still read them.
    for block in &source.snapshot().blocks {
        block.exact.keep_open();
    }
    let swap = || swap_directories(catalog.disk(), catalog.root(), &source.id);
    (source.reader.replace(swap)).map_err(Error::file(catalog.root()))
}

/// Writes the index files of the re-embedding store, so that [`switch`] is quick.
///
/// # Errors
/// [`Error::ReembeddingNotFound`], [`Error::DatabaseNotFound`], [`Error::Store`].
pub(crate) fn warm(catalog: &Catalog, reembeddings: &Reembeddings, id: &str) -> Result<(), Error> {
    let epoch = catalog.database(id)?.epoch;
    // A store has one writer, so it is closed while a database is opened on it.
    drop(reembeddings.take(id)?);
    let opened = catalog.open_database(id, &reembeddings.path(id));
    let warmed = opened.map(|next| next.close());
    reembeddings.reopen(id, epoch)?;
    warmed
}
