//! The file: its tables, its format, and how a connection to it is set up.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::disk::sync_directory;
use crate::store::StoreError;
use crate::store::acknowledged::{Acknowledged, Standing};
use crate::store::state::{EPOCH, STATE, STORE_ID, State};
use crate::store::upgrade::upgrade;

/// "cosf": tells `file` and other tools whose file it is.
const APPLICATION_ID: i64 = 0x636f_7366;
/// Raised with every change of the tables or of what their values mean.
///
/// Format 2 has `store_id`, `epoch` and `state` in `meta`, which format 1 had not; see [`upgrade`].
pub(super) const FORMAT: i64 = 2;
/// How long a commit waits for another program, such as a backup tool, that holds SQLite's own locks.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
pub(super) const PAGE_BYTES: u64 = 16 * 1024;
/// `auto_vacuum`: free pages can be given back to the file system, a few at a time.
pub(super) const INCREMENTAL: i64 = 2;

// `records` is apart from `contents` so that touching a record rewrites about 80 bytes, not its vector.
// Every row of `records` carries the version of the commit that last wrote it: a snapshot catches up by that index,
// and by `deletions` for what is gone.
const TABLES: &str = "
    CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        uuid BLOB NOT NULL UNIQUE,
        hash BLOB NOT NULL,
        created INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        synced INTEGER NOT NULL,
        version INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX versions ON records (version);
    CREATE TABLE contents (
        id INTEGER PRIMARY KEY,
        data BLOB NOT NULL,
        vector BLOB NOT NULL,
        crc INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE changes (
        position INTEGER PRIMARY KEY,
        version INTEGER NOT NULL,
        id INTEGER NOT NULL,
        uuid BLOB NOT NULL,
        kind INTEGER NOT NULL,
        at INTEGER NOT NULL,
        data BLOB
    ) STRICT;
    CREATE INDEX deletions ON changes (version) WHERE kind = 3;
    CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
";

/// Makes the file with `settings` in it, complete or not at all.
///
/// # Errors
/// [`StoreError::Exists`] when there is a file at `path`.
pub(super) fn create(path: &Path, settings: &[u8]) -> Result<(), StoreError> {
    if path.exists() {
        return Err(StoreError::Exists {
            path: path.to_owned(),
        });
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(|source| StoreError::io(directory, source))?;
    let unfinished = beside(path, ".new");
    for leftover in [
        unfinished.clone(),
        beside(&unfinished, "-wal"),
        beside(&unfinished, "-shm"),
        // The log of a file that was deleted would be read as that of the new one.
        beside(path, "-wal"),
        beside(path, "-shm"),
    ] {
        if leftover.exists() {
            fs::remove_file(&leftover).map_err(|source| StoreError::io(&leftover, source))?;
        }
    }
    let connection = connect(
        &unfinished,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    )?;
    connection.pragma_update(None, "page_size", PAGE_BYTES.cast_signed())?;
    connection.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
    prepare_writer(&connection, &unfinished)?;
    connection.execute_batch(&format!(
        "BEGIN; {TABLES} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};"
    ))?;
    connection.execute(
        "INSERT INTO meta VALUES ('settings', ?1), (?2, ?3), (?4, ?5), (?6, ?7)",
        (
            settings,
            STORE_ID,
            new_identity(),
            EPOCH,
            new_identity(),
            STATE,
            State::initial().to_bytes(),
        ),
    )?;
    connection.execute_batch("COMMIT")?;
    // Before the file is in place, so that there is never one without evidence.
    drop(Acknowledged::start(path, Standing::of(&connection)?, 0)?);
    // Closing moves the log into the file and deletes it, so that one rename carries everything.
    connection.close().map_err(|(_, error)| error)?;
    fs::rename(&unfinished, path).map_err(|source| StoreError::io(path, source))?;
    for parent in path
        .ancestors()
        .skip(1)
        .take(3)
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        sync_directory(parent).map_err(|source| StoreError::io(parent, source))?;
    }
    Ok(())
}

/// Random bytes that identify a store or an epoch.
pub(super) fn new_identity() -> [u8; 16] {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("every supported system has a random source");
    bytes
}

/// Opens the file for its one writer and tells whether it was of format 1, which is upgraded in place. Closing the
/// connection leaves the log as it is.
///
/// # Errors
/// [`StoreError::Foreign`], [`StoreError::Format`]: not a file for this engine; [`StoreError::ReadOnly`].
pub(super) fn open_writer(path: &Path) -> Result<(Connection, bool), StoreError> {
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let format = format_of(&connection, path)?;
    // Until the store is known to be complete: a checkpoint would mix a log with a main file that it does not belong to.
    keep_log_on_close(&connection, true)?;
    prepare_writer(&connection, path)?;
    if format < FORMAT {
        upgrade(&mut connection)?;
        make_reclaimable(&connection);
    }
    Ok((connection, format < FORMAT))
}

/// Whether closing the connection leaves the log as it is.
pub(super) fn keep_log_on_close(connection: &Connection, keep: bool) -> Result<(), StoreError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep)?;
    Ok(())
}

/// What the main file holds without its log; `None` where that cannot be read.
pub(super) fn at_rest(path: &Path) -> Option<Standing> {
    // In a URI these three have a meaning of their own.
    let escaped = path
        .to_str()?
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
    let connection = Connection::open_with_flags(uri, flags).ok()?;
    Standing::of(&connection).ok()
}

/// Rewrites the file of an earlier format, once, so that free pages can be given back. It takes about 14 s for a million
/// records. A failure, such as a full disk, changes nothing: that file only keeps its size when records are deleted.
fn make_reclaimable(connection: &Connection) {
    let _ = connection
        .pragma_update(None, "auto_vacuum", INCREMENTAL)
        .and_then(|()| connection.execute_batch("VACUUM"));
}

/// Opens the file for reading, beside a writer.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    // Each connection is used by one thread at a time, so SQLite's own mutexes guard nothing.
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // A read of mapped pages turns an I/O error into SIGBUS.
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

fn prepare_writer(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(StoreError::Unloggable {
            path: path.to_owned(),
        });
    }
    // NORMAL would acknowledge commits that a power cut takes back.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // SQLite's own checkpoints swallow their errors.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    // What is deleted is overwritten in the file, too.
    connection.pragma_update(None, "secure_delete", true)?;
    // In KiB when negative: room for the pages of one batch of 1,000 records.
    connection.pragma_update(None, "cache_size", -16 * 1024)?;
    Ok(())
}

/// The format of the file, one that this engine opens.
fn format_of(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
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
    if !(1..=FORMAT).contains(&found) {
        return Err(StoreError::Format {
            path: path.to_owned(),
            found,
            supported: FORMAT,
        });
    }
    Ok(found)
}

/// `path` with `ending` after its last name.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
