//! The call that examines a database of a running engine.

use std::sync::Arc;

use crate::api::database::Database;
use crate::api::engine::Engine;
use crate::doctor::{DoctorProgress, OpenDatabase, Patient, run_examination};
use crate::error::{Done, Error};
use crate::runtime::StopFlag;

impl Engine {
    /// Examines a database while it is served, and changes nothing. A database that could not be opened is examined,
    /// too. `done` gets JSON.
    pub fn examine(
        self: &Arc<Self>,
        id: String,
        stop: StopFlag,
        progress: DoctorProgress,
        done: Done<Vec<u8>>,
    ) {
        let (engine, catalog, name) = (Arc::clone(self), Arc::clone(self), id.clone());
        // A database that is being created or dropped is waited for.
        let found: Done<Option<Arc<Database>>> = Box::new(move |found| match found {
            Ok(database) => engine.examine_found(id, database, stop, progress, done),
            Err(error) => done(Err(error)),
        });
        self.threads
            .admin
            .run(found, move || match catalog.database(&name) {
                Ok(database) => Ok(Some(database)),
                Err(Error::NotOpened { .. }) => Ok(None),
                Err(error) => Err(error),
            });
    }

    /// Examines a database, `None` for one that could not be opened.
    fn examine_found(
        self: &Arc<Self>,
        id: String,
        database: Option<Arc<Database>>,
        stop: StopFlag,
        progress: DoctorProgress,
        done: Done<Vec<u8>>,
    ) {
        let open = database.clone().map(|database| OpenDatabase {
            reader: database.reader.clone(),
            newest: Box::new(move || database.snapshot()),
        });
        let done = self.unless_dropped(id.clone(), database, done);
        let patient = Patient {
            directory: self.catalog.path(&id),
            disk: Arc::clone(&self.catalog.dependencies.disk),
            open,
            repair: false,
            id,
            stop,
            progress,
        };
        run_examination(patient, done, Ok);
    }

    /// `done` for the report on a database, `None` for one that could not be opened. Files that a drop removes look
    /// damaged. After a switch to another model, the files do not fit the snapshot that was read before.
    pub(super) fn unless_dropped(
        self: &Arc<Self>,
        id: String,
        examined: Option<Arc<Database>>,
        done: Done<Vec<u8>>,
    ) -> Done<Vec<u8>> {
        let engine = Arc::clone(self);
        Box::new(move |report| {
            let (is_dropped, was_switched) = match examined {
                Some(database) => {
                    let was_switched = database.reader.was_switched().unwrap_or(false);
                    // The next refresh opens a database that another process switched.
                    let is_past = engine.catalog.is_read_only && was_switched;
                    let is_dropped = database.is_dropped() || !database.reader.is_valid();
                    (is_dropped || is_past, was_switched)
                }
                None => (
                    !matches!(engine.database(&id), Err(Error::NotOpened { .. })),
                    false,
                ),
            };
            done(if engine.is_closed() {
                report
            } else if is_dropped {
                Err(Error::DatabaseNotFound { id })
            } else if was_switched {
                Err(Error::NotReady { id })
            } else {
                report
            });
        })
    }
}
