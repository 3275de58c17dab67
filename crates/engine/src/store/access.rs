//! How the files of a store are opened for reading.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::store::connection::{configured, keep_log_on_close, open_main_file, open_reader};
use crate::store::error::StoreError;
use crate::store::paths::log_path;

/// The part of SQLite that reads files without locks and without shared memory.
const WITHOUT_LOCKS: &str = if cfg!(windows) {
    "win32-none"
} else {
    "unix-none"
};

/// Whether another connection may write the store meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// A writer may have the store open.
    Shared,
    /// Nobody writes the store. Reading it creates and changes no file, also when the log was left by a process that
    /// was killed.
    Frozen,
}

impl Access {
    /// Opens the store at `path` for reading.
    ///
    /// # Errors
    /// SQLite's.
    pub(super) fn open(self, path: &Path) -> Result<Connection, StoreError> {
        if self == Self::Shared {
            return open_reader(path);
        }
        if fs::metadata(log_path(path)).map_or(true, |log| log.len() == 0) {
            // With an empty log, SQLite would create its index.
            return open_main_file(path);
        }
        let connection = Connection::open_with_flags_and_vfs(
            path,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            WITHOUT_LOCKS,
        )?;
        // In this mode the index of the log is in the memory of the connection. It must be set before the first read.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        keep_log_on_close(&connection, true)?;
        configured(connection)
    }
}
