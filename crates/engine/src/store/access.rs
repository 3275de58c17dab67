//! How a store is opened for reading.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::disk::HeldDirectory;
use crate::store::connection::{
    BUSY_TIMEOUT, configured, keep_log_on_close, open_main_file, open_reader,
};
use crate::store::error::StoreError;
use crate::store::paths::log_path;

/// The part of SQLite that reads files without locks and without shared memory.
const WITHOUT_LOCKS: &str = if cfg!(windows) {
    "win32-none"
} else {
    "unix-none"
};

/// Locked while a store of another process is opened. When its directory is replaced meanwhile, SQLite opens the log of the
/// next store. Closing that log releases all locks that this process has on it, so no other connection may have it by then.
static OPENING: Mutex<()> = Mutex::new(());

/// Who may write the store meanwhile.
#[derive(Debug, Clone)]
pub(crate) enum Access {
    /// This process may have the store open for writing.
    Shared,
    /// Nobody. Reading the store creates and changes no file, also when the log was left by a process that was killed.
    Frozen,
    /// Another process, which may also replace the directory of the store.
    Foreign(Arc<HeldDirectory>),
    /// As [`Access::Foreign`], where this process cannot create the files that SQLite shares between processes: the store is
    /// read as long as nobody writes it.
    Unshared(Arc<HeldDirectory>, FileTimes),
}

/// When the main file and the log of a store were written, and their lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileTimes([Option<(u64, SystemTime)>; 2]);

impl FileTimes {
    fn of(path: &Path) -> Self {
        let time = |path: &Path| {
            let metadata = fs::metadata(path).ok()?;
            Some((metadata.len(), metadata.modified().ok()?))
        };
        Self([time(path), time(&log_path(path))])
    }
}

impl Access {
    /// The access to the store at `path` in `directory`, which another process may have open.
    pub(super) fn beside_a_writer(path: &Path, directory: HeldDirectory) -> Self {
        let directory = Arc::new(directory);
        let times = FileTimes::of(path);
        let _alone = OPENING.lock();
        match opened_and_read(path) {
            Err(rusqlite::Error::SqliteFailure(error, _))
                if matches!(error.code, ErrorCode::CannotOpen | ErrorCode::ReadOnly) =>
            {
                Self::Unshared(directory, times)
            }
            _ => Self::Foreign(directory),
        }
    }

    /// Whether a connection may be used for several reads.
    pub(super) fn keeps_connections(&self) -> bool {
        !matches!(self, Self::Unshared(..))
    }

    /// Whether what is read at `path` is what this access was made for.
    pub(super) fn is_valid(&self, path: &Path) -> bool {
        match self {
            Self::Shared | Self::Frozen => true,
            Self::Foreign(directory) => directory.is_in_place(),
            Self::Unshared(directory, times) => {
                directory.is_in_place() && FileTimes::of(path) == *times
            }
        }
    }

    /// Opens the store at `path` for reading.
    ///
    /// # Errors
    /// [`StoreError::Dropped`] when another store is at `path` by now; SQLite's.
    pub(super) fn open(&self, path: &Path) -> Result<Connection, StoreError> {
        match self {
            Self::Shared => open_reader(path),
            Self::Frozen | Self::Unshared(..) => open_frozen(path),
            Self::Foreign(_) => {
                let _alone = OPENING.lock();
                let connection = opened_and_read(path);
                // SQLite opens the main file and its log one after the other: by now both are of one directory, or the
                // directory was replaced.
                if !self.is_valid(path) {
                    return Err(StoreError::Dropped);
                }
                configured(connection?)
            }
        }
    }
}

/// Opens the store at `path` for reading, with its log.
fn opened_and_read(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_query(None, "schema_version", |_| Ok(()))?;
    Ok(connection)
}

/// Opens the store at `path`, which nobody writes.
fn open_frozen(path: &Path) -> Result<Connection, StoreError> {
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
