//! Repairs of what a store derives from its rows.

use std::io;
use std::path::Path;

use rusqlite::OpenFlags;

use crate::disk::Disk;
use crate::store::connection::{connect, keep_log_on_close};
use crate::store::error::StoreError;
use crate::store::meta::write_meta;
use crate::store::paths::acknowledged_path;
use crate::store::places::remove_next;
use crate::store::state::{STATE, State};

/// What of a store is repaired.
pub(crate) enum Repaired {
    /// The indexes are made again from the tables.
    Indexes,
    /// The state is replaced by that of the rows.
    State(State),
    /// What the next model made is removed.
    NextModel,
}

impl Repaired {
    /// Repairs the store at `path`, which nobody has open, in one transaction.
    ///
    /// # Errors
    /// SQLite's; the store is then unchanged.
    pub(crate) fn apply(self, path: &Path) -> Result<(), StoreError> {
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // The log stays as it is for the next start, which compares it with the file `acknowledged`.
        keep_log_on_close(&connection, true)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        let transaction = connection.transaction()?;
        match self {
            Self::Indexes => transaction.execute_batch("REINDEX")?,
            Self::State(state) => write_meta(&transaction, STATE, &state.to_bytes())?,
            Self::NextModel => {
                remove_next(&transaction)?;
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

/// Removes the file `acknowledged` of the store at `path`.
///
/// # Errors
/// [`StoreError::Io`].
pub(crate) fn remove_acknowledged(disk: &dyn Disk, path: &Path) -> Result<(), StoreError> {
    let path = acknowledged_path(path);
    match disk.remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(&path, error)),
        _ => Ok(()),
    }
}
