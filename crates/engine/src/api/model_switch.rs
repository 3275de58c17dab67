//! Giving a database the vectors of another model while it is read, searched and written.
//!
//! A shadow beside the database follows its commits, batch by batch, with texts that the caller embeds. Once it is
//! up to the last commit and nothing is written for a moment, it takes the database's place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::MutexGuard;

use serde_json::{Value, json};

use crate::api::database::Database;
use crate::api::describe::time;
use crate::api::engine::{Engine, Slot};
use crate::disk::{next_path, remove_dropped, remove_if_exists, swap_directories};
use crate::error::{Done, Error};
use crate::reembedding::{ReembeddingBatch, ReembeddingStore};
use crate::settings::Settings;
use crate::store::{FeedData, store_path};
use crate::write::Embedded;

impl Engine {
    /// Begins to embed a database with another model, or goes on where that was left; one that was begun with other
    /// settings begins anew. `settings` hold `model`, `fingerprint` and `dimensions`. The answer is that of
    /// [`Engine::reembedding`].
    pub fn begin_reembedding(self: &Arc<Self>, id: &str, settings: String, done: Done<Vec<u8>>) {
        self.with(id, done, move |engine, database| {
            let settings = Settings {
                embed: database.settings.embed.clone(),
                approximate: database.settings.approximate,
                ..Settings::parse(&settings)?
            };
            if settings.model.is_none() {
                let detail = "there must be a model: records have vectors of their own from the start or never";
                return Err(Error::invalid("invalid_request", "/model", detail));
            }
            let kept = engine.find_shadow(database)?;
            let shadow = match kept.filter(|shadow| shadow.settings == settings) {
                Some(shadow) => shadow,
                None => {
                    let path = engine.shadow_path(&database.id);
                    remove_if_exists(&*engine.disk, &path).map_err(|source| Error::File {
                        path: path.clone(),
                        source,
                    })?;
                    ReembeddingStore::create(&engine.disk, &path, settings, &database.followed())
                        .inspect_err(|_| {
                            // The error tells why; what stays is removed by the next beginning.
                            let _ = remove_if_exists(&*engine.disk, &path);
                        })?
                }
            };
            let told = tell(&shadow).to_string().into_bytes();
            engine.keep_shadow(&database.id, shadow);
            Ok(told)
        });
    }

    /// How far the embedding of a database with another model has come, as JSON: `model`, `fingerprint`, `done`,
    /// `started_at`; `null` when there is none.
    pub fn reembedding(self: &Arc<Self>, id: &str, done: Done<Vec<u8>>) {
        self.with(id, done, move |engine, database| {
            let shadow = engine.find_shadow(database)?;
            let told = shadow.as_ref().map_or(Value::Null, tell);
            if let Some(shadow) = shadow {
                engine.keep_shadow(&database.id, shadow);
            }
            Ok(told.to_string().into_bytes())
        });
    }

    /// Reads what comes next; the batch may be empty.
    pub fn prepare_reembedding(self: &Arc<Self>, id: &str, done: Done<ReembeddingBatch>) {
        self.with(id, done, move |engine, database| {
            engine.with_shadow(&database.id, |shadow| shadow.prepare(&database.reader))
        });
    }

    /// Stores a batch with the vectors of its texts, one after the other. `done` gets how many records there are now.
    pub fn commit_reembedding(
        self: &Arc<Self>,
        id: &str,
        batch: Arc<ReembeddingBatch>,
        embedded: Embedded,
        done: Done<u64>,
    ) {
        self.with(id, done, move |engine, database| {
            engine.with_shadow(&database.id, |shadow| {
                shadow.commit(&batch, &embedded)?;
                Ok(shadow.done)
            })
        });
    }

    /// Makes the index files of the records so far, so that [`Engine::switch_reembedding`] is quick.
    pub fn warm_reembedding(self: &Arc<Self>, id: String, done: Done<()>) {
        self.in_background(done, move |engine| {
            let _busy = engine.begin_background()?;
            let epoch = engine.database(&id)?.epoch;
            drop(engine.take_shadow(&id)?);
            let path = engine.shadow_path(&id);
            let warmed = engine.open_database(&id, &path).map(|next| next.close());
            if let Some(shadow) = ReembeddingStore::open(&engine.disk, &path, epoch)? {
                engine.keep_shadow(&id, shadow);
            }
            warmed
        });
    }

    /// Puts the shadow in the database's place. Searches and reads are answered from the one or the other throughout;
    /// nothing may be written from the last batch on.
    ///
    /// `done` gets [`Error::Stale`] when something was: the database then goes on as it was.
    pub fn switch_reembedding(self: &Arc<Self>, id: String, done: Done<()>) {
        self.in_background(done, move |engine| {
            let _busy = engine.begin_background()?;
            engine.switch(&id)
        });
    }

    fn switch(&self, id: &str) -> Result<(), Error> {
        // A database that is dropped meanwhile must not be put back.
        let _files = self.lock_files();
        let source = self.database(id)?;
        let shadow = self.take_shadow(id)?;
        if source.reader.version()? != shadow.version() {
            self.keep_shadow(id, shadow);
            return Err(Error::Stale);
        }
        // Ends its writer; what is published can be read and searched on.
        source.close();
        let exchanged = self.replace(&source, shadow);
        // Whichever of the two is there now.
        let opened = self.open_database(id, &self.path(id));
        let mut slots = self.slots_mut();
        let mine =
            |slot: &&mut Slot| matches!(slot, Slot::Ready(there) if Arc::ptr_eq(there, &source));
        match (slots.get_mut(id).filter(mine), opened) {
            (Some(slot), Ok(database)) => *slot = Slot::Ready(Arc::new(database)),
            // It is about to be closed: the next start opens it.
            (Some(_), Err(Error::Closed)) => return Err(Error::Closed),
            (Some(slot), Err(error)) => {
                *slot = self.failed(id, &error);
                return Err(error);
            }
            // Dropped meanwhile.
            (None, opened) => {
                drop(slots);
                if let Ok(database) = opened {
                    database.close();
                }
                return Err(Error::DatabaseNotFound { id: id.to_owned() });
            }
        }
        drop(slots);
        if exchanged.is_ok() {
            // What stays is removed at the next start.
            let _ = remove_dropped(&*self.disk, &self.root(), id);
        }
        exchanged
    }

    /// Has the directories change places, if the shadow is up to all that was written.
    fn replace(&self, source: &Database, shadow: ReembeddingStore) -> Result<(), Error> {
        let version = shadow.version();
        // Its connections must be closed by the name that they were opened by.
        drop(shadow);
        if source.reader.version()? != version {
            return Err(Error::Stale);
        }
        source.reader.retire();
        swap_directories(&*self.disk, &self.root(), &source.id).map_err(|source| Error::File {
            path: self.root(),
            source,
        })
    }

    /// Ends the embedding of a database with another model; what was made of it is removed.
    pub fn cancel_reembedding(self: &Arc<Self>, id: &str, done: Done<()>) {
        self.with(id, done, |engine, database| {
            let path = engine.shadow_path(&database.id);
            let kept = engine.shadows().remove(&database.id);
            if kept.is_none() && !engine.disk.exists(&path).unwrap_or(false) {
                let id = database.id.clone();
                return Err(Error::ReembeddingNotFound { id });
            }
            drop(kept);
            remove_if_exists(&*engine.disk, &path)
                .and_then(|()| engine.disk.sync_directory(&engine.root()))
                .map_err(|source| Error::File { path, source })
        });
    }

    fn open_database(&self, id: &str, path: &Path) -> Result<Database, Error> {
        Database::open(&self.dependencies(), id, path, &|_| !self.is_closed())
    }

    fn begin_background(&self) -> Result<MutexGuard<'_, ()>, Error> {
        let guard = self.background.lock();
        if self.is_closed() {
            return Err(Error::Closed);
        }
        Ok(guard)
    }

    fn shadow_path(&self, id: &str) -> PathBuf {
        next_path(&self.root(), id)
    }

    fn find_shadow(&self, database: &Database) -> Result<Option<ReembeddingStore>, Error> {
        let kept = self.shadows().remove(&database.id);
        let path = self.shadow_path(&database.id);
        let shadow = match kept {
            None if self.disk.exists(&store_path(&path)).unwrap_or(false) => {
                ReembeddingStore::open(&self.disk, &path, database.epoch)?
            }
            kept => kept,
        };
        // One that is behind what the feed keeps would miss deletions.
        let removed = database
            .reader
            .feed(u64::MAX >> 1, 0, FeedData::None)?
            .removed;
        Ok(shadow.filter(|shadow| shadow.is_current(database.epoch, removed)))
    }

    fn take_shadow(&self, id: &str) -> Result<ReembeddingStore, Error> {
        let taken = self.shadows().remove(id);
        taken.ok_or_else(|| Error::ReembeddingNotFound { id: id.to_owned() })
    }

    fn keep_shadow(&self, id: &str, shadow: ReembeddingStore) {
        self.shadows().insert(id.to_owned(), shadow);
    }

    /// Runs a step with the shadow of a database, which no other step has meanwhile. One that breaks is opened again
    /// by the next beginning.
    fn with_shadow<T>(
        &self,
        id: &str,
        step: impl FnOnce(&mut ReembeddingStore) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut shadow = self.take_shadow(id)?;
        let result = step(&mut shadow);
        if !shadow.is_broken() {
            self.keep_shadow(id, shadow);
        }
        result
    }
}

fn tell(shadow: &ReembeddingStore) -> Value {
    json!({
        "model": shadow.settings.model,
        "fingerprint": shadow.settings.fingerprint,
        "done": shadow.done,
        "started_at": time(shadow.started_at),
    })
}
