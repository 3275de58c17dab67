//! An entry of the catalog: a database and its state. The entries of a data directory are read when it is opened.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::database::Database;
use crate::api::describe::sizes;
use crate::disk::{DROPPED, Disk, NEW, create_directories};
use crate::error::Error;
use crate::runtime::{EventCode, EventQueue};
use crate::store;
use crate::store::{StoreError, store_path};

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

/// The databases in `root`, by id. `root` is created when it is missing.
pub(crate) fn scan(
    disk: &dyn Disk,
    root: &Path,
    events: &EventQueue,
) -> io::Result<BTreeMap<String, Slot>> {
    create_directories(disk, root)?;
    // An earlier process may have failed to make the names survive a power cut.
    disk.sync_directory(root)?;
    let mut databases = BTreeMap::new();
    for path in disk.list(root)? {
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        if is_database_id(&name) {
            let store = store_path(&path);
            // When it is unknown whether the file exists, opening it reports why.
            if disk.exists(&store).unwrap_or(true) {
                databases.insert(name, Slot::Loading { records: 0 });
            } else if store::has_traces(disk, &store) {
                let error = StoreError::FileMissing { path: store }.into();
                let slot = Slot::open_failed(events, &name, &error);
                databases.insert(name, slot);
            }
        } else if is_leftover(&name) {
            remove_leftover(disk, &path, events);
        }
    }
    Ok(databases)
}

/// The databases in `root`, by id, which a process that writes them may create, replace and drop.
pub(crate) fn followed(disk: &dyn Disk, root: &Path) -> io::Result<BTreeMap<String, Slot>> {
    let paths = disk.list(root)?;
    let names = paths.iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?;
        let main = store_path(path);
        let is_store = disk.exists(&main).unwrap_or(true) || store::has_traces(disk, &main);
        is_store.then(|| name.to_owned())
    });
    let ids = names.filter(|id| is_database_id(id));
    Ok(ids.map(|id| (id, Slot::Loading { records: 0 })).collect())
}

fn remove_leftover(disk: &dyn Disk, path: &Path, events: &EventQueue) {
    let path_text = path.display();
    let (code, text) = match disk.remove_directory(path) {
        Ok(()) => (EventCode::TemporaryFilesRemoved, path_text.to_string()),
        Err(error) => (EventCode::DropFailed, format!("{path_text}: {error}")),
    };
    events.emit(code, None, text);
}

/// Whether an entry is of a database that an earlier process was creating or dropping when it ended.
fn is_leftover(name: &str) -> bool {
    name.starts_with(DROPPED) || name.starts_with(NEW)
}

/// Whether a text is a valid database id: 1 to 64 of `a-z 0-9 _ -`.
pub(crate) fn is_database_id(id: &str) -> bool {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
    };
    (1..=64).contains(&id.len()) && id.bytes().all(allowed)
}
