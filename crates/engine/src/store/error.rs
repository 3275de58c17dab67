//! The errors of a store.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::disk::FileError;
use crate::store::paths::{acknowledged_path, log_path};
use crate::store::vector_file::is_loss;

/// An error of the store, its lock or its files.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk or the quota is full. The commit was rolled back. Reads go on, and writes succeed again once there is
    /// space.
    #[error("the disk is full")]
    DiskFull,
    /// A record's row does not match its checksum.
    #[error("record {id} is damaged on disk")]
    Damaged {
        /// The record's integer id.
        id: u64,
    },
    /// The file with the vectors of a record is missing or damaged.
    #[error("the vectors of record {id} are lost: {source}")]
    LostVectors {
        /// The record's integer id.
        id: u64,
        /// Why they cannot be read.
        source: FileError,
    },
    /// SQLite found its own structures damaged.
    #[error("the database file is damaged: {source}")]
    Corrupt {
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// Parts of the file do not match each other: records are missing, or there are too many.
    #[error("the database file is damaged: {what}")]
    Inconsistent {
        /// What does not match.
        what: String,
    },
    /// The main file is missing, although its log or the file `acknowledged` exists.
    #[error("{} is missing. Put the file or a backup of it back, or delete the database", path.display())]
    FileMissing {
        /// The main file.
        path: PathBuf,
    },
    /// Acknowledged commits are missing: the log was damaged or deleted.
    #[error(
        "{} lost {} acknowledged commits: it ends with commit {found}, but commit {acknowledged} was acknowledged. \
         Its log {} was damaged or deleted. Put the log or a backup back, or delete {} to accept the loss",
        path.display(), acknowledged - found, log_path(path).display(), acknowledged_path(path).display()
    )]
    Lost {
        /// The main file.
        path: PathBuf,
        /// The last commit that was acknowledged.
        acknowledged: u64,
        /// The last commit that was found.
        found: u64,
    },
    /// Acknowledged changes of the settings are missing: the log was damaged or deleted.
    #[error(
        "{} lost acknowledged changes of its settings. Its log {} was damaged or deleted. Put the log or a backup back, \
         or delete {} to accept the loss",
        path.display(), log_path(path).display(), acknowledged_path(path).display()
    )]
    SettingsLost {
        /// The main file.
        path: PathBuf,
    },
    /// Another program kept the file locked for longer than the store waits.
    #[error("the database file is locked by another program")]
    Busy,
    /// The file may not be written.
    #[error("the database file is read-only")]
    ReadOnly,
    /// An earlier write failed, and its effect on disk is unknown: nothing is written until the store is opened again.
    #[error("an earlier write failed; the database takes no writes until it is reopened")]
    Poisoned,
    /// A database exists already.
    #[error("there is a database at {} already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is not one of this engine's databases.
    #[error("{} is not a cosift database", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a version of the engine that this one does not read.
    #[error("{} has format {found}, this version reads format {supported}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: i64,
        /// The format this version reads and writes.
        supported: i64,
    },
    /// The file system of the database does not let SQLite keep a write-ahead log.
    #[error("{} is on a file system without shared memory or locks, which its log needs", path.display())]
    Unloggable {
        /// The file.
        path: PathBuf,
    },
    /// A created record's id or UUID is taken.
    #[error("record {id}, or its UUID, exists already")]
    Taken {
        /// The record's integer id.
        id: u64,
    },
    /// A record to be changed, touched or deleted does not exist under this id (and UUID).
    #[error("record {id} does not exist")]
    Missing {
        /// The record's integer id.
        id: u64,
    },
    /// The database was dropped during the call.
    #[error("the database was dropped")]
    Dropped,
    /// The file system failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Any other failure of SQLite.
    #[error("SQLite failed: {source}")]
    Sqlite {
        /// The error of SQLite.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// The store is inconsistent; `what` does not match.
    pub(crate) fn inconsistent(what: impl Into<String>) -> Self {
        Self::Inconsistent { what: what.into() }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> StoreError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::DiskFull,
            _ => StoreError::Io {
                path: path.to_owned(),
                source,
            },
        }
    }

    /// The stable code of the error, as HTTP and the library publish it.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            StoreError::DiskFull => "disk_full",
            StoreError::Sqlite { source } if is_without_room_for_log_index(source) => "disk_full",
            StoreError::LostVectors { source, .. } if !is_loss(source) => "store_failed",
            StoreError::Damaged { .. }
            | StoreError::LostVectors { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Inconsistent { .. }
            | StoreError::FileMissing { .. }
            | StoreError::Lost { .. }
            | StoreError::SettingsLost { .. } => "damaged",
            StoreError::Busy => "busy",
            StoreError::Dropped => "database_not_found",
            _ => "store_failed",
        }
    }

    /// Whether the process could not open a file or had no memory: the file may be in order.
    pub(crate) fn is_for_want_of_resources(&self) -> bool {
        match self {
            StoreError::Sqlite { source } => matches!(
                source.sqlite_error_code(),
                Some(ErrorCode::CannotOpen | ErrorCode::OutOfMemory)
            ),
            StoreError::LostVectors { source, .. } => !is_loss(source),
            _ => false,
        }
    }

    /// Whether a failed write leaves unknown what reached the disk.
    ///
    /// After a failed fsync the kernel may have dropped the pages and report success the next time,
    /// so only failures that are known to have written nothing leave the store usable.
    pub(super) fn poisons(&self) -> bool {
        !matches!(
            self,
            StoreError::DiskFull
                | StoreError::Busy
                | StoreError::Taken { .. }
                | StoreError::Missing { .. }
        )
    }
}

/// Whether the disk had no space for the index of SQLite's log (the file `-shm`). SQLite has no separate error code for it.
///
/// The error still poisons, because a commit may be in the log by then.
fn is_without_room_for_log_index(error: &rusqlite::Error) -> bool {
    error.sqlite_error().map(|error| error.extended_code)
        == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

impl From<rusqlite::Error> for StoreError {
    fn from(source: rusqlite::Error) -> StoreError {
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::DiskFull,
            Some(ErrorCode::ReadOnly) => StoreError::ReadOnly,
            Some(ErrorCode::DatabaseBusy) => StoreError::Busy,
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt { source },
            _ => StoreError::Sqlite { source },
        }
    }
}
