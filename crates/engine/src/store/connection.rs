//! Connections to a store's file, how they are configured, and what they may do while a writer has the file open.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::store::continuity::StoreStatus;
use crate::store::error::StoreError;
use crate::store::schema::{APPLICATION_ID, FORMAT, check_schema};

/// How long a commit waits for another program, such as a backup tool, that holds SQLite's own locks.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens the file for its one writer. Closing the connection leaves the log as it is.
///
/// # Errors
/// [`StoreError::Foreign`], [`StoreError::Format`], [`StoreError::Inconsistent`]: not a file for this engine;
/// [`StoreError::ReadOnly`].
pub(super) fn open_writer(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    check_format(&connection, path)?;
    // Until the store is known to be complete: a checkpoint would mix a log with a main file that it does not belong to.
    keep_log_on_close(&connection, true)?;
    prepare_writer(&connection, path)?;
    Ok(connection)
}

/// Opens the file for reading while a writer may have it open too.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Opens or creates the file, with the settings that every connection has.
pub(super) fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    // Each connection is used by one thread at a time, so SQLite's own mutexes guard nothing.
    configured(Connection::open_with_flags(
        path,
        flags | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?)
}

/// Sets what every connection has.
pub(super) fn configured(connection: Connection) -> Result<Connection, StoreError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // A read of mapped pages turns an I/O error into SIGBUS.
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// Sets whether closing the connection leaves the log as it is.
pub(super) fn keep_log_on_close(connection: &Connection, keep: bool) -> Result<(), StoreError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep)?;
    Ok(())
}

/// Configures the connection of a writer.
///
/// # Errors
/// [`StoreError::Unloggable`]; SQLite's.
pub(super) fn prepare_writer(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(StoreError::Unloggable {
            path: path.to_owned(),
        });
    }
    // With NORMAL, a power cut could remove acknowledged commits.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // SQLite's own checkpoints swallow their errors.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    // Deleted data is overwritten in the file, too.
    connection.pragma_update(None, "secure_delete", true)?;
    // In KiB when negative: room for the pages of one batch of 1,000 records.
    connection.pragma_update(None, "cache_size", -16 * 1024)?;
    Ok(())
}

/// The status of the main file without its log; `None` where that cannot be read.
pub(super) fn main_file_status(path: &Path) -> Option<StoreStatus> {
    let connection = open_main_file(path).ok()?;
    check_format(&connection, path).ok()?;
    StoreStatus::of(&connection).ok()
}

/// Opens the main file without its log, for reading. No process may write the file meanwhile; no file is created or
/// changed.
pub(super) fn open_main_file(path: &Path) -> Result<Connection, StoreError> {
    let text = path
        .to_str()
        .ok_or_else(|| rusqlite::Error::InvalidPath(path.to_owned()))?;
    // In a URI these three characters have a meaning.
    let escaped = text
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let uri = if cfg!(windows) {
        format!("file:///{}?immutable=1", escaped.replace('\\', "/"))
    } else {
        format!("file:{escaped}?immutable=1")
    };
    configured(Connection::open_with_flags(uri, flags)?)
}

/// Checks that the file has the format of this engine, with its schema.
///
/// # Errors
/// [`StoreError::Foreign`], [`StoreError::Format`], [`StoreError::Inconsistent`]; SQLite's.
pub(super) fn check_format(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = match pragma("application_id") {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => 0,
        other => other?,
    };
    if application != APPLICATION_ID {
        return Err(StoreError::Foreign {
            path: path.to_owned(),
        });
    }
    let found = pragma("user_version")?;
    if found != FORMAT {
        return Err(StoreError::Format {
            path: path.to_owned(),
            found,
            supported: FORMAT,
        });
    }
    check_schema(connection)
}
