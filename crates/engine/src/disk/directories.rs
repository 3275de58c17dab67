//! Creation, syncing and removal of directories.

use std::io;
use std::path::Path;

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
