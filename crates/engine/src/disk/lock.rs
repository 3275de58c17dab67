//! The lock that keeps a data directory to one process.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::disk::parts_file::create_directories;

/// Why the lock of a data directory could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process works in the data directory.
    #[error("data directory {} is in use by {}", path.display(), holder(*pid))]
    Held {
        /// The data directory.
        path: PathBuf,
        /// The process that holds the lock, where known.
        pid: Option<u32>,
    },
    /// The directory or the lock file cannot be made or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(
        || "another process".to_owned(),
        |pid| format!("process {pid}"),
    )
}

impl LockError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// Holds `<data>/lock` for as long as it lives; the system lets go of it when the process ends, however it ends.
///
/// SQLite alone would let two processes in, and neither would see the other's writes in its columns and codes.
#[derive(Debug)]
pub(crate) struct DataLock {
    file: File,
}

impl DataLock {
    /// Takes the lock of `directory`, which is made (for its owner only) where it is missing.
    ///
    /// # Errors
    /// [`LockError::Held`] with the holder's process id while another handle has it;
    /// [`LockError::Io`] when the directory or the file cannot be made or written.
    pub(crate) fn acquire(directory: &Path) -> Result<DataLock, LockError> {
        create_directories(directory).map_err(|source| LockError::io(directory, source))?;
        let path = directory.join("lock");
        let io = |source| LockError::io(&path, source);
        // Not truncated before the lock is ours: it tells who holds it.
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Where locks are mandatory the holder's id cannot be read: then it stays unknown.
                let pid = file
                    .read_to_string(&mut text)
                    .ok()
                    .and_then(|_| text.trim().parse().ok());
                return Err(LockError::Held {
                    path: directory.to_owned(),
                    pid,
                });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        file.set_len(0).map_err(io)?;
        writeln!(file, "{}", std::process::id()).map_err(io)?;
        Ok(DataLock { file })
    }
}

impl Drop for DataLock {
    fn drop(&mut self) {
        // A process that is being started may still have a copy of the file, and with it the lock. Closing the file
        // lets go of the lock in any case.
        let _ = self.file.unlock();
    }
}
