//! An entry of the catalog: a database and its state.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::database::Database;
use crate::api::describe::sizes;
use crate::error::Error;
use crate::runtime::{EventCode, EventQueue};

/// The state of a database.
#[derive(Clone)]
pub(crate) enum Slot {
    /// The database waits to be loaded, or is being loaded and has this many records in memory.
    Loading { records: usize },
    /// The database is being created or dropped, and its id is taken.
    Reserved,
    /// The database is in memory.
    Ready(Arc<Database>),
    /// The database could not be opened or dropped.
    Failed {
        code: &'static str,
        detail: String,
        /// Whether it is opened later; see [`Error::may_pass`].
        may_pass: bool,
    },
}

impl Slot {
    /// A database that could not be opened because of `error`, which is reported as an event.
    pub(crate) fn open_failed(events: &EventQueue, id: &str, error: &Error) -> Self {
        Self::failed(events, EventCode::OpenFailed, error.code(), id, error)
    }

    /// Whether the database waits to be opened, or to be opened again.
    pub(crate) fn waits(&self) -> bool {
        match self {
            Self::Failed { may_pass, .. } => *may_pass,
            Self::Ready(database) => database.not_reopened().is_some(),
            Self::Loading { .. } | Self::Reserved => false,
        }
    }

    /// A database whose files could not be removed because of `error`, which is reported as an event.
    pub(crate) fn drop_failed(events: &EventQueue, id: &str, error: &Error) -> Self {
        let event = EventCode::DropFailed;
        Self::failed(events, event, event.name(), id, error)
    }

    fn failed(
        events: &EventQueue,
        event: EventCode,
        code: &'static str,
        id: &str,
        error: &Error,
    ) -> Self {
        let detail = error.to_string();
        events.emit(event, Some(&id.into()), detail.as_str());
        let may_pass = event == EventCode::OpenFailed && error.may_pass();
        Self::Failed {
            code,
            detail,
            may_pass,
        }
    }

    /// The database, if calls for it can be served.
    ///
    /// # Errors
    /// [`Error::NotReady`], [`Error::NotOpened`].
    pub(crate) fn database(&self, id: &str) -> Result<&Arc<Database>, Error> {
        let not_opened = |reason| Error::NotOpened {
            id: id.to_owned(),
            reason,
        };
        match self {
            Self::Ready(database) if database.damage().is_some() => Err(not_opened("damaged")),
            Self::Ready(database) => Ok(database),
            Self::Loading { .. } | Self::Reserved => Err(Error::NotReady { id: id.to_owned() }),
            Self::Failed { code, .. } => Err(not_opened(code)),
        }
    }

    /// The state as JSON; `None` for a reserved id.
    pub(crate) fn progress(&self, id: &str) -> Option<Value> {
        match self {
            Self::Loading { records } => Some(json!({
                "id": id, "loaded": false, "writable": false, "records": records,
                "memory_bytes": 0, "disk_bytes": 0,
            })),
            Self::Reserved => None,
            Self::Failed { code, detail, .. } => Some(json!({
                "id": id, "loaded": false, "writable": false, "records": 0,
                "memory_bytes": 0, "disk_bytes": 0,
                "problem": { "code": code, "detail": detail },
            })),
            Self::Ready(database) => {
                let mut progress = sizes(database);
                if let Some((code, detail)) = database.not_reopened() {
                    progress["writable"] = false.into();
                    progress["problem"] = json!({ "code": code, "detail": detail });
                }
                Some(progress)
            }
        }
    }
}
