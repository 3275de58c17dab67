//! Calls that give a database the vectors of another model while it is read, searched and written.
//!
//! A re-embedding store copies the commits of the database, batch by batch, with vectors of texts that the caller
//! embeds. When the store has the last commit and nothing is written for a moment, it takes the place of the database.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::database::Database;
use crate::api::engine::Engine;
use crate::api::model_switch::{switch, warm};
use crate::error::{Done, Error};
use crate::json::time_text;
use crate::reembedding::{ReembeddingBatch, ReembeddingStore};
use crate::reply::guarded;
use crate::settings::Settings;
use crate::write::Embedded;

impl Engine {
    /// Begins to embed a database with another model, or continues an interrupted re-embedding. A re-embedding with
    /// other settings is discarded. `settings` hold `model`, `fingerprint` and `dimensions`. `done` gets the JSON of
    /// [`Engine::reembedding`].
    pub fn begin_reembedding(self: &Arc<Self>, id: &str, settings: String, done: Done<Vec<u8>>) {
        self.between_drops(id, done, move |engine, database| {
            let settings = Settings {
                embed: database.settings.embed.clone(),
                approximate: database.settings.approximate,
                lexical: database.is_lexical(),
                ..Settings::parse(&settings)?
            };
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

    /// The progress of a re-embedding as JSON: `model`, `fingerprint`, `done`, `started_at`; `null` without one.
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
            let prepare = |store: &mut ReembeddingStore| store.prepare(&database.reader);
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
        let max_passages = self.limits.passages_per_record;
        self.with(id, done, move |engine, database| {
            engine.reembeddings.with(&database.id, |store| {
                store.commit(&batch, &embedded, max_passages)?;
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
            if engine.is_closed() {
                return Err(Error::Closed);
            }
            guarded(&engine.events(), "in the background", || work(&engine))
        });
    }
}

fn describe(store: &ReembeddingStore) -> Value {
    json!({
        "model": store.settings.model,
        "fingerprint": store.settings.fingerprint,
        "done": store.done,
        "started_at": time_text(store.started_at),
    })
}
