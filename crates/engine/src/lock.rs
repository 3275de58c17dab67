//! The lock that keeps a data directory to one process.

use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::files::create_directories;
use crate::store::StoreError;

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
    /// [`StoreError::Locked`] with the holder's process id while another handle has it;
    /// [`StoreError::Io`] when the directory or the file cannot be made or written.
    pub(crate) fn acquire(directory: &Path) -> Result<DataLock, StoreError> {
        create_directories(directory).map_err(|source| StoreError::io(directory, source))?;
        let path = directory.join("lock");
        let io = |source| StoreError::io(&path, source);
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
                return Err(StoreError::Locked {
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
