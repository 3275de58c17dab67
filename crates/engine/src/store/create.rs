//! The creation of a store's files.

use std::path::Path;
use std::sync::Arc;

use rusqlite::OpenFlags;

use crate::disk::{Disk, create_directories};
use crate::store::acknowledged::AcknowledgedFile;
use crate::store::connection::{connect, prepare_writer};
use crate::store::continuity::{Reached, StoreStatus};
use crate::store::error::StoreError;
use crate::store::meta::{EPOCH, SETTINGS, STORE_ID, new_identity};
use crate::store::paths::{log_index_path, log_path, unfinished_path};
use crate::store::schema::{APPLICATION_ID, FORMAT, INCREMENTAL, PAGE_BYTES, STATEMENTS};
use crate::store::state::{STATE, State};

/// Creates the file at `path` with `settings` in it, complete or not at all.
///
/// # Errors
/// [`StoreError::Exists`] when there is a file at `path`.
pub(super) fn create(disk: &Arc<dyn Disk>, path: &Path, settings: &[u8]) -> Result<(), StoreError> {
    let exists = |path: &Path| {
        disk.exists(path)
            .map_err(|source| StoreError::io(path, source))
    };
    if exists(path)? {
        return Err(StoreError::Exists {
            path: path.to_owned(),
        });
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    create_directories(&**disk, directory).map_err(|source| StoreError::io(directory, source))?;
    let unfinished = unfinished_path(path);
    for leftover in [
        unfinished.clone(),
        log_path(&unfinished),
        log_index_path(&unfinished),
        // The log of a file that was deleted would be read as that of the new one.
        log_path(path),
        log_index_path(path),
    ] {
        if exists(&leftover)? {
            disk.remove_file(&leftover)
                .map_err(|source| StoreError::io(&leftover, source))?;
        }
    }
    let connection = connect(
        &unfinished,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    )?;
    connection.pragma_update(None, "page_size", PAGE_BYTES.cast_signed())?;
    connection.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
    prepare_writer(&connection, &unfinished)?;
    let tables = STATEMENTS.map(|(_, sql)| sql).join(";");
    connection.execute_batch(&format!(
        "BEGIN; {tables}; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};"
    ))?;
    connection.execute(
        "INSERT INTO meta VALUES (?1, ?2), (?3, ?4), (?5, ?6), (?7, ?8)",
        (
            SETTINGS,
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
    // Before the file is in place, so that no store is without its file `acknowledged`.
    drop(AcknowledgedFile::start(
        disk,
        path,
        StoreStatus::of(&connection)?,
        Reached::default(),
    )?);
    // Closing moves the log into the file and deletes it, so that one rename carries everything.
    connection.close().map_err(|(_, error)| error)?;
    disk.rename(&unfinished, path)
        .map_err(|source| StoreError::io(path, source))?;
    disk.sync_directory(directory)
        .map_err(|source| StoreError::io(directory, source))
}
