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
        let database = match self.catalog.database(&id) {
            Ok(database) => Some(database),
            Err(Error::NotOpened { .. }) => None,
            Err(error) => return done(Err(error)),
        };
        let open = database.clone().map(|database| OpenDatabase {
            reader: database.reader.clone(),
            newest: Box::new(move || database.snapshot()),
        });
        let done = self.unless_dropped(id.clone(), database, done);
        let patient = Patient {
            directory: self.catalog.path(&id),
            disk: self.catalog.shared_disk(),
            open,
            unfinished: false,
            repair: false,
            id,
            stop,
            progress,
        };
        run_examination(patient, done, |_, report| Ok(report));
    }

    /// `done` for the report on a database, `None` for one that could not be opened. Files that a drop removes look damaged.
    pub(super) fn unless_dropped(
        self: &Arc<Self>,
        id: String,
        examined: Option<Arc<Database>>,
        done: Done<Vec<u8>>,
    ) -> Done<Vec<u8>> {
        let engine = Arc::clone(self);
        Box::new(move |report| {
            let is_dropped = match examined {
                Some(database) => database.reader.has_ended(),
                None => !matches!(engine.database(&id), Err(Error::NotOpened { .. })),
            };
            if is_dropped && !engine.is_closed() {
                done(Err(Error::DatabaseNotFound { id }));
            } else {
                done(report);
            }
        })
    }
}
