//! Reads which databases a data directory has, and removes what an earlier process left behind.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::api::slot::Slot;
use crate::disk::{DROPPED, Disk, NEW, NEXT, create_directories, finish_swaps};
use crate::runtime::{EventCode, EventQueue};
use crate::store::{self, StoreError, store_path};

/// The databases in `root`, by id. `root` is created when it is missing, and interrupted directory swaps are finished.
pub(crate) fn scan(
    disk: &dyn Disk,
    root: &Path,
    events: &EventQueue,
) -> io::Result<BTreeMap<String, Slot>> {
    create_directories(disk, root)?;
    finish_swaps(disk, root)?;
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
        } else if is_leftover(disk, root, &name) {
            remove_leftover(disk, &path, events);
        }
    }
    Ok(databases)
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
fn is_leftover(disk: &dyn Disk, root: &Path, name: &str) -> bool {
    let is_orphan = |id| {
        let store = store_path(&root.join(id));
        !disk.exists(&store).unwrap_or(true) && !store::has_traces(disk, &store)
    };
    name.starts_with(DROPPED)
        || name.starts_with(NEW)
        // A re-embedding store whose database does not exist.
        || name.strip_prefix(NEXT).is_some_and(is_orphan)
}

/// Whether a text is a valid database id: 1 to 64 of `a-z 0-9 _ -`.
pub(crate) fn is_database_id(id: &str) -> bool {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
    };
    (1..=64).contains(&id.len()) && id.bytes().all(allowed)
}
