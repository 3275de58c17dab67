//! Putting a directory in the place of another, so that after a crash at any moment it is one or the other.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::sync_directory;

/// Begins the name of a database's directory while it is removed.
pub(crate) const DROPPED: &str = ".dropped-";

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
pub(crate) fn exchange(root: &Path, id: &str) -> io::Result<()> {
    let (next, ready) = (next_path(root, id), root.join(format!("{READY}{id}")));
    fs::rename(&next, &ready)?;
    sync_directory(root)
        .and_then(|()| take_place(root, id))
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
pub(crate) fn finish_exchanges(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(id) = name.strip_prefix(READY) {
            take_place(root, id)?;
        }
    }
    Ok(())
}

fn take_place(root: &Path, id: &str) -> io::Result<()> {
    let place = root.join(id);
    if place.exists() {
        remove_dropped(root, id)?;
        fs::rename(&place, dropped_path(root, id))?;
    }
    fs::rename(root.join(format!("{READY}{id}")), place)?;
    sync_directory(root)
}

/// Takes a database's directory out of sight and removes it; a crash in between leaves no half of it to be opened.
///
/// # Errors
/// The system's.
pub(crate) fn drop_directory(root: &Path, id: &str) -> io::Result<()> {
    remove_dropped(root, id)?;
    fs::rename(root.join(id), dropped_path(root, id))?;
    remove_dropped(root, id)
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
