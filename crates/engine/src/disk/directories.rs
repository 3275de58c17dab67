//! Creation and removal of directories. A crash at any moment leaves the directory of a database complete or absent.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::file_error::FileError;
use crate::disk::interface::Disk;

/// Creates a directory and the missing ones above it, for their owner only. They survive a power cut.
///
/// # Errors
/// The system's.
pub(crate) fn create_directories(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = directory
        .ancestors()
        .skip(1)
        .take_while(|path| !path.as_os_str().is_empty() && !disk.exists(path).unwrap_or(false))
        .collect();
    let is_new = !disk.exists(directory).unwrap_or(false);
    for path in missing.iter().rev() {
        disk.create_directory(path)?;
    }
    disk.create_directory(directory)?;
    // The lowest first, so that no synced name leads to a directory that could be lost.
    is_new
        .then_some(directory)
        .into_iter()
        .chain(missing)
        .try_for_each(|path| sync_parent(disk, path))
}

/// Makes the name of `path` survive a power cut.
///
/// # Errors
/// The system's.
pub(crate) fn sync_parent(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    disk.sync_directory(directory.unwrap_or(Path::new(".")))
}

/// Removes a directory with everything in it, if it exists.
///
/// # Errors
/// The system's.
pub(crate) fn remove_if_exists(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.remove_directory(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Prefix of the directory of a database while it is removed.
pub(crate) const DROPPED: &str = ".dropped-";

/// Prefix of the directory of a new database until it is complete.
pub(crate) const NEW: &str = ".new-";

fn dropped_path(root: &Path, id: &str) -> PathBuf {
    root.join(format!("{DROPPED}{id}"))
}

/// Renames `ready` to the directory of a database. An existing directory of the database is renamed too, and the caller
/// removes it.
fn take_place(disk: &dyn Disk, root: &Path, id: &str, ready: &Path) -> io::Result<()> {
    let place = root.join(id);
    if disk.exists(&place)? {
        remove_dropped(disk, root, id)?;
        disk.rename(&place, &dropped_path(root, id))?;
    }
    disk.rename(ready, &place)?;
    disk.sync_directory(root)
}

/// Renames the directory of a database and removes it. Once the rename is synced the database stays dropped, and the next
/// start removes what is left. It may be called again after an error.
///
/// # Errors
/// The system's.
pub(crate) fn drop_directory(disk: &dyn Disk, root: &Path, id: &str) -> io::Result<()> {
    remove_dropped(disk, root, id)?;
    match disk.rename(&root.join(id), &dropped_path(root, id)) {
        // An earlier call renamed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        renamed => renamed?,
    }
    disk.sync_directory(root)?;
    remove_dropped(disk, root, id)
}

/// Creates the directory of a new database with `fill`, complete or not at all, and opens it with `open`.
///
/// # Errors
/// Those of `fill` and `open`, and the system's. After an error the database does not exist, also after the next
/// start.
pub(crate) fn create_directory<T, E: From<FileError>>(
    disk: &dyn Disk,
    root: &Path,
    id: &str,
    fill: impl FnOnce(&Path) -> Result<(), E>,
    open: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<T, E> {
    let (new, place) = (root.join(format!("{NEW}{id}")), root.join(id));
    let io = |source| FileError::io(&place, source);
    let filled = remove_if_exists(disk, &new)
        .map_err(|source| io(source).into())
        .and_then(|()| fill(&new));
    let opened = filled.and_then(|()| {
        // A directory without a store may exist: the index files of a database whose main file was removed.
        take_place(disk, root, id, &new)
            .map_err(|source| io(source).into())
            .and_then(|()| open(&place))
            .inspect_err(|_| {
                // A rename needs no file descriptor, so it works when there are none left.
                if !disk.exists(&new).unwrap_or(false) {
                    let _ = disk.rename(&place, &new);
                    let _ = disk.sync_directory(root);
                }
            })
    });
    // Directories that cannot be removed now are removed at the next start.
    let _ = remove_if_exists(disk, &new).and_then(|()| remove_dropped(disk, root, id));
    opened
}

/// Removes the former directory of a database, if it exists.
///
/// # Errors
/// The system's.
fn remove_dropped(disk: &dyn Disk, root: &Path, id: &str) -> io::Result<()> {
    remove_if_exists(disk, &dropped_path(root, id))
}
