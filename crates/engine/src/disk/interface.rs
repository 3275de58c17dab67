//! The operations on files and directories that the engine performs outside SQLite.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::open_file::OpenFile;

/// The files of a data directory, except those that SQLite writes.
///
/// Everything that changes a file or a directory goes through this trait, so that tests can let each operation fail or
/// cut the power after it. Reads of an open file do not: see [`OpenFile`].
pub(crate) trait Disk: std::fmt::Debug + Send + Sync {
    /// Creates a directory for its owner only, unless it exists. Its parent must exist.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// The paths of all entries of a directory.
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>>;

    /// Makes the names in a directory survive a power cut.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Whether there is a file or directory at `path`.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// The length of a file in bytes.
    fn length(&self, path: &Path) -> io::Result<u64>;

    /// Opens a file for reading.
    fn open(&self, path: &Path) -> io::Result<OpenFile>;

    /// Opens a file for reading and writing, and creates it when it is missing.
    fn open_for_writing(&self, path: &Path) -> io::Result<OpenFile>;

    /// Creates or replaces a file with `content`, its slices one after the other, and syncs it. An error may leave a
    /// part of the content.
    fn write_file(&self, path: &Path, content: &[&[u8]]) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`.
    fn write_at(&self, file: &OpenFile, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Truncates or extends a file.
    fn set_length(&self, file: &OpenFile, length: u64) -> io::Result<()>;

    /// Makes the content of a file survive a power cut.
    fn sync(&self, file: &OpenFile) -> io::Result<()>;

    /// Renames a file or directory; a file at `to` is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory with everything in it.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;

    /// Locks a file for this process, until the file is closed or unlocked.
    fn lock(&self, file: &OpenFile) -> Result<(), TryLockError> {
        File::try_lock(file.as_file())
    }
}
