//! The catalog: the databases of a data directory by id. Creates, loads and drops them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};

use serde_json::{Value, json};

use crate::api::database::{Database, Dependencies};
use crate::api::slot::{Slot, followed, scan};
use crate::disk::{Disk, drop_directory, remove_if_exists};
use crate::error::Error;
use crate::reply::guarded;
use crate::settings::Settings;
use crate::snapshot::next_index_path;

/// The databases of an engine.
pub(crate) struct Catalog {
    /// The directory that has a directory for each database.
    root: PathBuf,
    pub(crate) dependencies: Dependencies,
    pub(super) is_read_only: bool,
    /// Searches lock the map on the caller's thread, so it is never locked while files are read or written.
    pub(super) slots: RwLock<BTreeMap<String, Slot>>,
    /// Held while a database is created, dropped or replaced. Names the database of [`ReservedFiles`].
    files: Mutex<Option<String>>,
    /// Notified when no files are reserved.
    released: Condvar,
    closed: AtomicBool,
}

impl Catalog {
    /// Lists the databases in `root` without loading them. `is_read_only`: nothing is written, because another process may
    /// write the databases.
    pub(crate) fn open(
        root: PathBuf,
        dependencies: Dependencies,
        is_read_only: bool,
    ) -> io::Result<Self> {
        let disk = &*dependencies.disk;
        let slots = if is_read_only {
            followed(disk, &root)?
        } else {
            scan(disk, &root, &dependencies.events)?
        };
        Ok(Self {
            slots: RwLock::new(slots),
            is_read_only,
            root,
            dependencies,
            files: Mutex::default(),
            released: Condvar::new(),
            closed: AtomicBool::new(false),
        })
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.dependencies.disk
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of a database.
    pub(crate) fn path(&self, id: &str) -> PathBuf {
        self.root.join(id)
    }

    /// The directory of the index files of the next model of a database.
    pub(crate) fn next_index_path(&self, id: &str) -> PathBuf {
        next_index_path(&self.path(id))
    }

    /// Removes the index files of the next model of a database.
    ///
    /// # Errors
    /// [`Error::File`].
    pub(crate) fn remove_next_index(&self, id: &str) -> Result<(), Error> {
        let path = self.next_index_path(id);
        remove_if_exists(self.disk(), &path).map_err(Error::file(&path))
    }

    /// Locks creating, dropping and replacing databases, when no files are reserved.
    pub(crate) fn lock_files(&self) -> MutexGuard<'_, Option<String>> {
        let mut files = self.files.lock();
        self.released
            .wait_while(&mut files, |reserved| reserved.is_some());
        files
    }

    /// Locks creating, dropping and replacing databases, when the files of `id` are not reserved.
    pub(crate) fn lock_files_of(&self, id: &str) -> MutexGuard<'_, Option<String>> {
        let mut files = self.files.lock();
        self.released
            .wait_while(&mut files, |reserved| reserved.as_deref() == Some(id));
        files
    }

    /// Reserves the files of a database, which is not created, dropped or replaced by others until this is dropped. Other
    /// databases are.
    pub(crate) fn reserve_files_of(&self, id: &str) -> ReservedFiles<'_> {
        *self.lock_files() = Some(id.to_owned());
        ReservedFiles(self)
    }

    /// A database that can be served.
    ///
    /// # Errors
    /// [`Error::NotReady`], [`Error::NotOpened`], [`Error::DatabaseNotFound`], [`Error::Closed`].
    pub(crate) fn database(&self, id: &str) -> Result<Arc<Database>, Error> {
        match self.slots.read().get(id) {
            Some(slot) => slot.database(id).cloned(),
            None if self.is_closed() => Err(Error::Closed),
            None => Err(Error::DatabaseNotFound { id: id.to_owned() }),
        }
    }

    /// The ids of all databases, also of those that cannot be served.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.ids_of(|_| true)
    }

    /// The databases in memory, by id.
    pub(crate) fn loaded(&self) -> Vec<Arc<Database>> {
        let slots = self.slots.read();
        let databases = slots.values().filter_map(|slot| match slot {
            Slot::Ready(database) => Some(Arc::clone(database)),
            Slot::Loading { .. } | Slot::Reserved | Slot::Failed { .. } => None,
        });
        databases.collect()
    }

    /// The state of every database, as JSON.
    pub(crate) fn progress(&self) -> Value {
        let slots = self.slots.read();
        let databases: Vec<Value> = slots
            .iter()
            .filter_map(|(id, slot)| slot.progress(id))
            .collect();
        json!({ "databases": databases })
    }

    /// Loads every database that is not loaded yet. A database that cannot be opened is listed as failed.
    ///
    /// # Errors
    /// [`Error::Closed`] when the catalog is closed meanwhile.
    pub(crate) fn load_all(&self) -> Result<(), Error> {
        for id in self.ids_of(|slot| matches!(slot, Slot::Loading { .. })) {
            let progress = |records: usize| {
                if let Some(slot) = self.slots.write().get_mut(&id) {
                    *slot = Slot::Loading { records };
                }
                !self.is_closed()
            };
            let open = || self.open_listed(&id, &progress);
            let slot = match guarded(
                &self.dependencies.events,
                "while a database was opened",
                open,
            ) {
                Ok(database) => Slot::Ready(Arc::new(database)),
                Err(Error::Closed) => return Err(Error::Closed),
                Err(error) => Slot::open_failed(&self.dependencies.events, &id, &error),
            };
            self.slots.write().insert(id, slot);
        }
        Ok(())
    }

    fn open_listed(&self, id: &str, progress: &dyn Fn(usize) -> bool) -> Result<Database, Error> {
        if self.is_read_only {
            return self.open_followed(id, progress);
        }
        Database::open(&self.dependencies, id, &self.path(id), progress)
    }

    /// Opens the database in `path`, without listing it.
    ///
    /// # Errors
    /// [`Error::Closed`] when the catalog is closed meanwhile; [`Error::Store`].
    pub(crate) fn open_database(&self, id: &str, path: &Path) -> Result<Database, Error> {
        Database::open(&self.dependencies, id, path, &|_| !self.is_closed())
    }

    /// Creates a database. Returns whether it was created, or `false` with the database of the same id.
    ///
    /// # Errors
    /// [`Error::NotReady`], [`Error::NotOpened`], [`Error::File`], [`Error::Store`].
    pub(crate) fn create(
        &self,
        id: &str,
        settings: &Settings,
    ) -> Result<(bool, Arc<Database>), Error> {
        // Of two concurrent calls, the second finds the database created.
        let _files = self.lock_files_of(id);
        let Some(slot) = self.reserve(id) else {
            return Ok((true, self.create_reserved(id, settings)?));
        };
        Ok((false, Arc::clone(slot.database(id)?)))
    }

    /// Reserves an id, unless it is taken: then returns its slot.
    fn reserve(&self, id: &str) -> Option<Slot> {
        let mut slots = self.slots.write();
        let taken = slots.get(id).cloned();
        if taken.is_none() {
            slots.insert(id.to_owned(), Slot::Reserved);
        }
        taken
    }

    /// Creates the database of a reserved id. After an error the id is free, and no files are left.
    fn create_reserved(&self, id: &str, settings: &Settings) -> Result<Arc<Database>, Error> {
        let create = || Database::create(&self.dependencies, id, &self.root, settings);
        let events = &self.dependencies.events;
        let created = guarded(events, "while a database was created", create).map(Arc::new);
        let mut slots = self.slots.write();
        match &created {
            Ok(database) => slots.insert(id.to_owned(), Slot::Ready(Arc::clone(database))),
            Err(_) => slots.remove(id),
        };
        created
    }

    /// Drops a database with all its files, also one that could not be opened. When files cannot be removed the database is
    /// listed as failed, and can be dropped again.
    ///
    /// # Errors
    /// [`Error::NotReady`], [`Error::DatabaseNotFound`], [`Error::File`].
    pub(crate) fn drop(&self, id: String) -> Result<(), Error> {
        let _files = self.lock_files_of(&id);
        let taken = match self.slots.write().get_mut(&id) {
            Some(Slot::Loading { .. } | Slot::Reserved) => return Err(Error::NotReady { id }),
            Some(slot) => std::mem::replace(slot, Slot::Reserved),
            None => return Err(Error::DatabaseNotFound { id }),
        };
        if let Slot::Ready(database) = taken {
            database.close_for_drop();
        }
        let dropped = drop_directory(self.disk(), &self.root, &id);
        let mut slots = self.slots.write();
        let Err(source) = dropped else {
            slots.remove(&id);
            return Ok(());
        };
        let error = Error::file(self.path(&id))(source);
        let slot = Slot::drop_failed(&self.dependencies.events, &id, &error);
        slots.insert(id, slot);
        Err(error)
    }

    /// Replaces `source`, which is closed, by what was opened from its directory. When that may open later, `source` is
    /// still read and searched.
    ///
    /// # Errors
    /// The error of `opened`. [`Error::DatabaseNotFound`] when `source` is no longer listed.
    pub(crate) fn replace(
        &self,
        source: &Arc<Database>,
        opened: Result<Database, Error>,
    ) -> Result<(), Error> {
        let id = &source.id;
        let mut slots = self.slots.write();
        let is_source =
            |slot: &&mut Slot| matches!(slot, Slot::Ready(listed) if Arc::ptr_eq(listed, source));
        match (slots.get_mut(id).filter(is_source), opened) {
            (Some(slot), Ok(database)) => *slot = Slot::Ready(Arc::new(database)),
            // The engine is closing, and the next start opens the database.
            (Some(_), Err(Error::Closed)) => return Err(Error::Closed),
            (Some(slot), Err(error)) => {
                let failed = Slot::open_failed(&self.dependencies.events, id, &error);
                if failed.waits() {
                    source.note_not_reopened(&error);
                } else {
                    *slot = failed;
                }
                return Err(error);
            }
            // The database was dropped meanwhile.
            (None, opened) => {
                drop(slots);
                if let Ok(database) = opened {
                    database.close();
                }
                return Err(Error::DatabaseNotFound { id: id.clone() });
            }
        }
        Ok(())
    }

    /// Opens the databases that wait for it. Others are created, dropped and replaced meanwhile.
    pub(crate) fn open_waiting(&self) {
        for id in self.ids_of(Slot::waits) {
            let _files = self.reserve_files_of(&id);
            // A database that was dropped meanwhile is not opened.
            let waits = self.slots.read().get(&id).is_some_and(Slot::waits);
            if !waits || self.is_closed() {
                continue;
            }
            let events = &self.dependencies.events;
            let open = || self.open_database(&id, &self.path(&id));
            let slot = match guarded(events, "while a database was opened", open) {
                Ok(database) => Some(Slot::Ready(Arc::new(database))),
                Err(error) if error.may_pass() || matches!(error, Error::Closed) => None,
                Err(error) => Some(Slot::open_failed(events, &id, &error)),
            };
            if let Some(slot) = slot {
                self.slots.write().insert(id, slot);
            }
        }
    }

    fn ids_of(&self, wanted: impl Fn(&Slot) -> bool) -> Vec<String> {
        let slots = self.slots.read();
        let found = slots.iter().filter(|(_, slot)| wanted(slot));
        found.map(|(id, _)| id.clone()).collect()
    }

    /// Whether a database waits to be opened.
    pub(crate) fn has_waiting(&self) -> bool {
        self.slots.read().values().any(Slot::waits)
    }

    /// Whether the catalog is closed or closing.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    /// Makes databases that are being loaded end soon.
    pub(crate) fn begin_close(&self) {
        self.closed.store(true, Relaxed);
    }

    /// Closes every database, and empties the catalog.
    pub(crate) fn close_databases(&self) {
        let slots = std::mem::take(&mut *self.slots.write());
        for slot in slots.into_values() {
            if let Slot::Ready(database) = slot {
                // A backup that is being read does not hold up the close.
                database.resume();
                database.close();
            }
        }
    }
}

/// The reserved files of a database; see [`Catalog::reserve_files_of`].
pub(crate) struct ReservedFiles<'a>(&'a Catalog);

impl Drop for ReservedFiles<'_> {
    fn drop(&mut self) {
        *self.0.files.lock() = None;
        self.0.released.notify_all();
    }
}
