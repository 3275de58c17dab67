//! The re-embedding stores of an engine, by database.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::api::database::Database;
use crate::disk::{Disk, next_path, remove_if_exists};
use crate::error::Error;
use crate::reembedding::ReembeddingStore;
use crate::settings::Settings;
use crate::store::{FeedData, store_path};

/// The open re-embedding stores. A call removes a store from the map while it works on the store, so that no other call uses
/// it.
pub(crate) struct Reembeddings {
    disk: Arc<dyn Disk>,
    /// The directory that has a directory for each database.
    root: PathBuf,
    open: Mutex<BTreeMap<String, ReembeddingStore>>,
}

impl Reembeddings {
    pub(crate) fn new(disk: Arc<dyn Disk>, root: PathBuf) -> Self {
        Self {
            disk,
            root,
            open: Mutex::default(),
        }
    }

    /// The directory of the re-embedding store of a database.
    pub(crate) fn path(&self, id: &str) -> PathBuf {
        next_path(&self.root, id)
    }

    /// Takes the store that continues with `settings`, or creates an empty store.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::File`].
    pub(crate) fn take_or_create(
        &self,
        database: &Database,
        settings: Settings,
    ) -> Result<ReembeddingStore, Error> {
        let found = self.take_or_open(database)?;
        // The switch to the store takes over the other settings.
        let continues = |store: &ReembeddingStore| store.settings.makes_vectors_of(&settings);
        if let Some(store) = found.filter(continues) {
            return Ok(store);
        }
        let path = self.path(&database.id);
        remove_if_exists(&*self.disk, &path).map_err(Error::file(&path))?;
        ReembeddingStore::create(&self.disk, &path, settings, &database.source()).inspect_err(
            |_| {
                // The creation has failed already. What stays is removed when a store is created again.
                let _ = remove_if_exists(&*self.disk, &path);
            },
        )
    }

    /// Takes the store of a database, opening it if needed. `None` when there is no store, or none that can continue.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn take_or_open(
        &self,
        database: &Database,
    ) -> Result<Option<ReembeddingStore>, Error> {
        let open = self.open.lock().remove(&database.id);
        let path = self.path(&database.id);
        let store = match open {
            None if self.disk.exists(&store_path(&path)).unwrap_or(false) => {
                ReembeddingStore::open(&self.disk, &path, database.epoch)?
            }
            open => open,
        };
        // A store that is behind the oldest change of the feed would miss deletions.
        let removed = database
            .reader
            .feed(u64::MAX >> 1, 0, FeedData::None)?
            .removed;
        Ok(store.filter(|store| store.is_current(database.epoch, removed)))
    }

    /// Opens the store of a database again after [`Reembeddings::take`], and puts it back if it can continue.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn reopen(&self, id: &str, epoch: [u8; 16]) -> Result<(), Error> {
        if let Some(store) = ReembeddingStore::open(&self.disk, &self.path(id), epoch)? {
            self.put_back(id, store);
        }
        Ok(())
    }

    /// Takes the open store of a database.
    ///
    /// # Errors
    /// [`Error::ReembeddingNotFound`].
    pub(crate) fn take(&self, id: &str) -> Result<ReembeddingStore, Error> {
        let taken = self.open.lock().remove(id);
        taken.ok_or_else(|| Error::ReembeddingNotFound { id: id.to_owned() })
    }

    /// Puts a store back.
    pub(crate) fn put_back(&self, id: &str, store: ReembeddingStore) {
        self.open.lock().insert(id.to_owned(), store);
    }

    /// Runs `work` with the open store of a database. A store that is broken afterwards is closed; the next call that
    /// begins a re-embedding opens it again.
    pub(crate) fn with<T>(
        &self,
        id: &str,
        work: impl FnOnce(&mut ReembeddingStore) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut store = self.take(id)?;
        let result = work(&mut store);
        if !store.is_broken() {
            self.put_back(id, store);
        }
        result
    }

    /// Removes the store of a database, if there is one.
    pub(crate) fn remove(&self, id: &str) -> io::Result<()> {
        self.open.lock().remove(id);
        remove_if_exists(&*self.disk, &self.path(id))
    }

    /// Removes the store of a database durably.
    ///
    /// # Errors
    /// [`Error::ReembeddingNotFound`] when there is none; [`Error::File`].
    pub(crate) fn cancel(&self, id: &str) -> Result<(), Error> {
        let path = self.path(id);
        let open = self.open.lock().remove(id);
        if open.is_none() && !self.disk.exists(&path).unwrap_or(false) {
            return Err(Error::ReembeddingNotFound { id: id.to_owned() });
        }
        drop(open);
        remove_if_exists(&*self.disk, &path)
            .and_then(|()| self.disk.sync_directory(&self.root))
            .map_err(Error::file(&path))
    }

    /// Closes every open store.
    pub(crate) fn clear(&self) {
        self.open.lock().clear();
    }
}
