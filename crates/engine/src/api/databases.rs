//! Calls on the catalog: load, create, list, describe and drop databases.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::describe::{describe, write_description};
use crate::api::engine::Engine;
use crate::api::slot::is_database_id;
use crate::api::sync_state::sync_state;
use crate::error::{Done, Error};
use crate::record::hexadecimal;
use crate::settings::Settings;
use crate::store::State;

impl Engine {
    /// Loads every database into memory. A database that cannot be opened does not block the others:
    /// [`Engine::progress`] tells why it failed, and calls for it are refused. A database that failed because the disk is
    /// full is opened when there is room.
    pub fn load(self: &Arc<Self>, done: Done<()>) {
        let engine = Arc::clone(self);
        self.run(done, move || {
            engine.catalog.load_all()?;
            engine.open_waiting_databases();
            Ok(())
        });
    }

    /// Opens the databases that wait for it, such as for room on the disk, until none waits.
    pub(crate) fn open_waiting_databases(self: &Arc<Self>) {
        if self.catalog.has_waiting() {
            let engine = Arc::downgrade(self);
            self.retries.begin(move || {
                let engine = engine.upgrade();
                engine.is_some_and(|engine| {
                    engine.catalog.open_waiting();
                    !engine.is_closed() && engine.catalog.has_waiting()
                })
            });
        }
    }

    /// The state of every database as JSON, also while [`Engine::load`] runs. `problem` is why a database could not be
    /// opened.
    #[must_use]
    pub fn progress(&self) -> Value {
        self.catalog.progress()
    }

    /// Creates a database, or finds it whatever its settings are. `done` gets JSON: `created`, `database`.
    pub fn create_database(self: &Arc<Self>, id: String, settings: String, done: Done<Vec<u8>>) {
        let engine = Arc::clone(self);
        self.threads.admin.run(done, move || {
            engine.check_writable()?;
            if !is_database_id(&id) {
                let detail = "a database id is 1 to 64 of a-z, 0-9, _ and -";
                return Err(Error::request("/id", detail));
            }
            let settings = Settings::parse(&settings)?;
            let (created, database) = engine.catalog.create(&id, &settings)?;
            let mut response = format!("{{\"created\":{created},\"database\":").into_bytes();
            response.extend(describe(&database));
            response.push(b'}');
            Ok(response)
        });
    }

    /// Changes settings that no vector depends on; see [`Settings::parse`] for the settings, which replace those before.
    /// `done` gets the description of the database, or [`Error::Stale`] for settings with which records would have other
    /// vectors.
    pub fn configure_database(self: &Arc<Self>, id: String, settings: String, done: Done<Vec<u8>>) {
        let engine = Arc::clone(self);
        self.threads.admin.run(done, move || {
            // Not while the database is opened again with the vectors of another model.
            let _files = engine.catalog.lock_files_of(&id);
            let database = engine.database(&id)?;
            database.configure(Settings::parse(&settings)?)?;
            Ok(describe(&database))
        });
    }

    /// Describes every database, as a JSON array.
    pub fn list_databases(self: &Arc<Self>, done: Done<Vec<u8>>) {
        let engine = Arc::clone(self);
        self.run(done, move || {
            let loaded = engine.catalog.loaded();
            let mut response = vec![b'['];
            for (at, database) in loaded.iter().enumerate() {
                if at > 0 {
                    response.push(b',');
                }
                write_description(database, &mut response);
            }
            response.push(b']');
            Ok(response)
        });
    }

    /// Describes a database, as JSON.
    pub fn describe_database(self: &Arc<Self>, id: &str, done: Done<Vec<u8>>) {
        self.with(id, done, move |_, database| Ok(describe(database)));
    }

    /// One above every id that a database ever gave to a record.
    pub fn next_id(self: &Arc<Self>, id: &str, done: Done<u64>) {
        self.with(id, done, move |_, database| {
            Ok(database.reader.state()?.next_id)
        });
    }

    /// A moment in the writes of a database, as JSON: its `epoch`, the `version` of the last commit, and the number of
    /// `records` after it. A deletion of `unwritten` records takes it.
    pub fn mark(self: &Arc<Self>, id: &str, done: Done<Vec<u8>>) {
        self.with(id, done, move |_, database| {
            let State { version, tally, .. } = database.reader.state()?;
            let epoch = hexadecimal(database.epoch);
            let mark = json!({ "epoch": epoch, "version": version, "records": tally.records });
            Ok(mark.to_string().into_bytes())
        });
    }

    /// The state of a sync and the records that it owns, as JSON: its stored `state`, null before the first; the number of
    /// `records` whose keys begin with the name of the sync and `/`; the first `keys` of them after a key, in the order of
    /// their bytes. `request` holds `name`, and perhaps `after` and `limit`.
    pub fn sync_state(self: &Arc<Self>, id: &str, request: String, done: Done<Vec<u8>>) {
        self.with(id, done, move |engine, database| {
            sync_state(database, &request, &engine.limits)
        });
    }

    /// Drops a database with all its files, also one that could not be opened. When the files cannot be removed the
    /// database is listed as failed, and can be dropped again.
    pub fn drop_database(self: &Arc<Self>, id: String, done: Done<()>) {
        let engine = Arc::clone(self);
        self.threads.admin.run(done, move || {
            engine.check_writable()?;
            engine.catalog.drop(id)
        });
    }
}
