//! The databases of a data directory that another process writes.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::api::catalog::Catalog;
use crate::api::database::Database;
use crate::api::engine::Engine;
use crate::api::slot::{Slot, followed, is_database_id};
use crate::disk::HeldDirectory;
use crate::error::{Done, Error};
use crate::reply::{Reply, guarded, outcome_of};
use crate::store::{StoreError, has_traces, store_path};
use crate::write::{Command, Refreshed};

/// How often a database whose files are replaced while they are opened is opened again.
const ATTEMPTS: usize = 8;

impl Engine {
    /// Brings a database of a directory that is open for reading only up to date: later calls see every commit that was
    /// acknowledged before this call. `None`: all databases. Databases that were created since appear, dropped ones are gone.
    /// A database that cannot be opened is listed as failed.
    ///
    /// `done` gets [`Error::Store`] while another program locks the files of the database.
    pub fn refresh(self: &Arc<Self>, id: Option<String>, done: Done<()>) {
        let engine = Arc::clone(self);
        let Some(id) = id else {
            return self
                .threads
                .switches
                .run(done, move || engine.catalog.follow_all());
        };
        let Ok(database) = self.database(&id) else {
            return engine.follow(id, None, done);
        };
        let seen = Arc::clone(&database);
        let refreshed: Done<Refreshed> = Box::new(move |refreshed| match refreshed {
            Ok(Refreshed::Current) => done(Ok(())),
            Ok(Refreshed::Replaced) | Err(Error::Closed) => engine.follow(id, Some(seen), done),
            Err(error) => done(Err(error)),
        });
        database.send(Command::Refresh(Reply::new(refreshed)));
    }

    /// Opens a database again, or brings it up to date if another call has replaced `seen`.
    fn follow(self: &Arc<Self>, id: String, seen: Option<Arc<Database>>, done: Done<()>) {
        let (engine, name) = (Arc::clone(self), id.clone());
        let followed: Done<bool> = Box::new(move |followed| match followed {
            Ok(true) => done(Ok(())),
            Ok(false) => engine.refresh(Some(name), done),
            Err(error) => done(Err(error)),
        });
        let engine = Arc::clone(self);
        self.threads
            .admin
            .run(followed, move || engine.catalog.follow(&id, seen.as_ref()));
    }
}

impl Catalog {
    /// Opens a database, which a process that writes it may replace at any time.
    ///
    /// # Errors
    /// [`Error::DatabaseNotFound`]; as [`Database::follow`].
    pub(super) fn open_followed(
        &self,
        id: &str,
        progress: &dyn Fn(usize) -> bool,
    ) -> Result<Database, Error> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let not_found = || Error::DatabaseNotFound { id: id.to_owned() };
            let directory = self.directory_of(id)?.ok_or_else(not_found)?;
            match Database::follow(&self.dependencies, id, directory, progress) {
                Err(Error::Stale | Error::Store(StoreError::Dropped | StoreError::Busy))
                    if attempts < ATTEMPTS => {}
                opened => return opened,
            }
        }
    }

    /// The directory of a database.
    fn directory_of(&self, id: &str) -> Result<Option<HeldDirectory>, Error> {
        let place = self.path(id);
        let store = store_path(&place);
        if let Some(directory) = held(&place, &store)? {
            return Ok(Some(directory));
        }
        let Some(directory) = held(&place, &place)? else {
            return Ok(None);
        };
        let is_missing = !self.disk().exists(&store).map_err(Error::file(&store))?;
        // A database may be dropped, and created again, between two looks.
        if is_missing && has_traces(self.disk(), &store) && directory.is_in_place() {
            return Err(StoreError::FileMissing { path: store }.into());
        }
        Ok(None)
    }

    /// Opens a database at its last commit, or forgets it if there is none any more. Returns false if another call has
    /// replaced `seen`: what that call opened may be of an earlier commit.
    ///
    /// # Errors
    /// [`Error::Closed`] when the catalog is closed meanwhile.
    fn follow(&self, id: &str, seen: Option<&Arc<Database>>) -> Result<bool, Error> {
        let _files = self.lock_files();
        let listed = self.slots.read().get(id).cloned();
        let is_seen = match (&listed, seen) {
            (Some(Slot::Ready(listed)), Some(seen)) => Arc::ptr_eq(listed, seen),
            (Some(Slot::Ready(listed)), None) => listed.damage().is_some(),
            (Some(Slot::Loading { .. }), _) => false,
            _ => true,
        };
        if !is_seen {
            return Ok(!matches!(listed, Some(Slot::Ready(_))));
        }
        if !is_database_id(id) {
            return Ok(true);
        }
        let events = &self.dependencies.events;
        let open = || self.open_followed(id, &|_| !self.is_closed());
        let slot = match guarded(events, "while a database was opened", open) {
            Ok(database) => Some(Slot::Ready(Arc::new(database))),
            Err(Error::Closed) => return Err(Error::Closed),
            Err(Error::DatabaseNotFound { .. }) => None,
            Err(error) => Some(Slot::open_failed(events, id, &error)),
        };
        let mut slots = self.slots.write();
        match slot {
            Some(slot) => slots.insert(id.to_owned(), slot),
            None => slots.remove(id),
        };
        drop(slots);
        if let Some(seen) = seen {
            seen.close_for_drop();
        }
        Ok(true)
    }

    /// Brings all databases up to date.
    ///
    /// # Errors
    /// As [`Engine::refresh`].
    fn follow_all(&self) -> Result<(), Error> {
        let found = followed(self.disk(), self.root()).map_err(Error::file(self.root()))?;
        let ids: BTreeSet<String> = found.into_keys().chain(self.ids()).collect();
        for id in ids {
            while !self.catch_up(&id)? {}
        }
        Ok(())
    }

    /// Brings a database up to date; returns false where that is to be repeated.
    fn catch_up(&self, id: &str) -> Result<bool, Error> {
        let Ok(database) = self.database(id) else {
            return self.follow(id, None);
        };
        match outcome_of(|reply| database.send(Command::Refresh(reply))) {
            Ok(Refreshed::Current) => Ok(true),
            Ok(Refreshed::Replaced) | Err(Error::Closed) => self.follow(id, Some(&database)),
            Err(error) => Err(error),
        }
    }
}

/// Holds a directory with its `file`; `None` where one of them does not exist.
fn held(directory: &Path, file: &Path) -> Result<Option<HeldDirectory>, Error> {
    match HeldDirectory::hold(directory, file) {
        Ok(held) => Ok(Some(held)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file(directory)(error)),
    }
}
