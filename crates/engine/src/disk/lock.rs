//! The lock that allows a data directory to one process only.

use std::fs::{TryLockError, canonicalize};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::disk::directories::create_directories;
use crate::disk::interface::Disk;
use crate::disk::open_file::OpenFile;

/// Why the lock of a data directory could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// This process has the data directory open already.
    #[error(
        "data directory {} is already open in this process, in another thread or by another copy of the library",
        path.display()
    )]
    Own {
        /// The data directory.
        path: PathBuf,
    },
    /// Another process uses the data directory.
    #[error("data directory {} is in use by {}", path.display(), holder(*pid))]
    Held {
        /// The data directory.
        path: PathBuf,
        /// The process that holds the lock, if it is known.
        pid: Option<u32>,
    },
    /// The directory or the lock file cannot be created or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

fn holder(pid: Option<u32>) -> String {
    match pid {
        None => "another process".to_owned(),
        Some(pid) if pid == std::process::id() => {
            format!(
                "process {pid}: another copy of cosift in this process, or a process of another container"
            )
        }
        Some(pid) => format!("process {pid}"),
    }
}

impl LockError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// Holds the lock `<data>/lock` while it exists. The system releases the lock when the process ends, however it ends.
///
/// SQLite alone would let two processes write, and neither would see the writes of the other in its columns and codes.
#[derive(Debug)]
pub(crate) struct DataLock {
    file: OpenFile,
    directory: PathBuf,
}

/// The directories that this process has locked. The id in a lock file does not tell, because processes of different
/// containers may have the same one.
static OWN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

impl DataLock {
    /// Takes the lock of `directory` without writing the lock file. `None` when there is no lock file: then no process has
    /// opened the directory yet.
    ///
    /// # Errors
    /// As [`DataLock::acquire`].
    pub(crate) fn acquire_unchanged(
        disk: &dyn Disk,
        directory: &Path,
    ) -> Result<Option<DataLock>, LockError> {
        let path = directory.join("lock");
        match disk.open(&path) {
            Ok(file) => Ok(Some(take(disk, file, directory)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(LockError::io(&path, source)),
        }
    }

    /// Checks that `directory`, which had no lock file, has none now: a process that opens the directory creates one.
    ///
    /// # Errors
    /// [`LockError::Held`] when there is a lock file; [`LockError::Io`] when it cannot be read.
    pub(crate) fn check_unused(disk: &dyn Disk, directory: &Path) -> Result<(), LockError> {
        let path = directory.join("lock");
        match disk.open(&path) {
            Ok(file) => Err(held(&file, directory)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(LockError::io(&path, source)),
        }
    }

    /// Takes the lock of `directory`, which is created, for its owner only, when it is missing.
    ///
    /// # Errors
    /// [`LockError::Held`] with the holder's process id, or [`LockError::Own`], while another handle has it;
    /// [`LockError::Io`] when the directory or the file cannot be created or written.
    pub(crate) fn acquire(disk: &dyn Disk, directory: &Path) -> Result<DataLock, LockError> {
        create_directories(disk, directory).map_err(|source| LockError::io(directory, source))?;
        let path = directory.join("lock");
        let io = |source| LockError::io(&path, source);
        let file = disk.open_for_writing(&path).map_err(io)?;
        let lock = take(disk, file, directory)?;
        // The content names the holder, so it is replaced only once the lock is held.
        disk.set_length(&lock.file, 0).map_err(io)?;
        let holder = format!("{}\n", std::process::id());
        disk.write_at(&lock.file, holder.as_bytes(), 0)
            .map_err(io)?;
        Ok(lock)
    }
}

fn take(disk: &dyn Disk, file: OpenFile, directory: &Path) -> Result<DataLock, LockError> {
    match disk.lock(&file) {
        Ok(()) => {
            // The lock file is in the directory, so the directory has a canonical path.
            let directory = canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
            own().push(directory.clone());
            Ok(DataLock { file, directory })
        }
        Err(TryLockError::WouldBlock) => Err(held(&file, directory)),
        Err(TryLockError::Error(source)) => Err(LockError::io(file.path(), source)),
    }
}

fn own() -> MutexGuard<'static, Vec<PathBuf>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn held(file: &OpenFile, directory: &Path) -> LockError {
    if canonicalize(directory).is_ok_and(|directory| own().contains(&directory)) {
        return LockError::Own {
            path: directory.to_owned(),
        };
    }
    // Where locks are mandatory, the id of the holder cannot be read and stays unknown.
    let content = file.read_to_end().unwrap_or_default();
    LockError::Held {
        path: directory.to_owned(),
        pid: String::from_utf8_lossy(&content).trim().parse().ok(),
    }
}

impl Drop for DataLock {
    fn drop(&mut self) {
        own().retain(|directory| *directory != self.directory);
        // A process that is being started may still have a copy of the open file, and closing the file would not release
        // the lock then.
        self.file.unlock();
    }
}
