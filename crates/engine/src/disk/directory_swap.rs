//! Putting a directory in the place of another, so that after a crash at any moment it is one or the other.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::disk::parts_file::{FileError, sync_directory};

/// Begins the name of a database's directory while it is removed.
pub(crate) const DROPPED: &str = ".dropped-";

/// Begins the name of a database's directory until it is complete.
pub(crate) const NEW: &str = ".new-";

/// Begins the name of what is being made to take the place of a database.
pub(crate) const NEXT: &str = ".next-";

/// Begins the name of what is complete and takes the place of a database, now or at the next start.
const READY: &str = ".ready-";

pub(crate) fn next_path(root: &Path, id: &str) -> PathBuf {
    root.join(format!("{NEXT}{id}"))
}

fn dropped_path(root: &Path, id: &str) -> PathBuf {
    root.join(format!("{DROPPED}{id}"))
}

/// Puts what was made for database `id` in its place. What was there is to be removed: see [`remove_dropped`].
///
/// # Errors
/// The system's. Everything is where it was, unless taking it back failed too; then the next start finishes it.
pub(crate) fn swap_directories(root: &Path, id: &str) -> io::Result<()> {
    let (next, ready) = (next_path(root, id), root.join(format!("{READY}{id}")));
    fs::rename(&next, &ready)?;
    sync_directory(root)
        .and_then(|()| take_place(root, id, &ready))
        .inspect_err(|_| {
            // The error tells what is wrong; this only has to leave one of the two in place.
            if !root.join(id).exists() {
                let _ = fs::rename(dropped_path(root, id), root.join(id));
            }
            let _ = fs::rename(&ready, &next);
            let _ = sync_directory(root);
        })
}

/// Finishes the exchanges that a crash interrupted.
///
/// # Errors
/// The system's.
pub(crate) fn finish_swaps(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(id) = name.strip_prefix(READY) {
            take_place(root, id, &root.join(&name))?;
        }
    }
    Ok(())
}

/// Renames `ready` to the directory of a database. What was there is renamed too; the caller removes it.
fn take_place(root: &Path, id: &str, ready: &Path) -> io::Result<()> {
    let place = root.join(id);
    if place.exists() {
        remove_dropped(root, id)?;
        fs::rename(&place, dropped_path(root, id))?;
    }
    fs::rename(ready, place)?;
    sync_directory(root)
}

/// Renames a database's directory and removes it. Once it is renamed and the rename synced, the database stays
/// dropped: the next start removes what is left. It may be called again after an error.
///
/// # Errors
/// The system's.
pub(crate) fn drop_directory(root: &Path, id: &str) -> io::Result<()> {
    remove_dropped(root, id)?;
    match fs::rename(root.join(id), dropped_path(root, id)) {
        // An earlier call renamed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        renamed => renamed?,
    }
    sync_directory(root)?;
    remove_dropped(root, id)
}

/// Makes the directory of a new database with `fill`, complete or not at all, and opens it with `open`.
///
/// # Errors
/// Those of `fill` and `open`, and the system's. After an error the database is not there, also after the next start.
pub(crate) fn create_directory<T, E: From<FileError>>(
    root: &Path,
    id: &str,
    fill: impl FnOnce(&Path) -> Result<(), E>,
    open: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<T, E> {
    let (new, place) = (root.join(format!("{NEW}{id}")), root.join(id));
    let io = |source| FileError::Io {
        path: place.clone(),
        source,
    };
    let filled = remove_if_there(&new)
        .map_err(|source| io(source).into())
        .and_then(|()| fill(&new));
    let opened = filled.and_then(|()| {
        // A directory without a database may be there: index files of one whose file was removed.
        take_place(root, id, &new)
            .map_err(|source| io(source).into())
            .and_then(|()| open(&place))
            .inspect_err(|_| {
                // A rename needs no file descriptor, so it works when there are none left.
                if !new.exists() {
                    let _ = fs::rename(&place, &new);
                    let _ = sync_directory(root);
                }
            })
    });
    // What cannot be removed now is removed at the next start.
    let _ = remove_if_there(&new).and_then(|()| remove_dropped(root, id));
    opened
}

/// Removes what was in the place of a database, if there is something left of it.
///
/// # Errors
/// The system's.
pub(crate) fn remove_dropped(root: &Path, id: &str) -> io::Result<()> {
    remove_if_there(&dropped_path(root, id))
}

/// Removes a directory with all in it, if it is there.
///
/// # Errors
/// The system's.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
