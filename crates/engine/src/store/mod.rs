//! The truth: one SQLite file per database. Everything else can be rebuilt from it.

use std::path::{Path, PathBuf};

mod acknowledged;
mod change;
mod check;
mod error;
mod reader;
mod reclaim;
mod retention;
mod row;
mod schema;
mod stamp;
mod state;
mod upgrade;
mod write;
mod writer;

pub(crate) use change::{Change, ChangeKind};
pub(crate) use check::Check;
pub(crate) use commit_copy::{CommitRange, CopiedRecord};
pub use error::StoreError;
pub(crate) use reader::{FeedData, Identity, Reader};
pub(crate) use row::StoredRecord;
pub(crate) use stamp::Stamp;
pub(crate) use state::{RecordRow, State, Tally};
pub(crate) use write::{PutKind, Write};
pub(crate) use writer::Store;

/// When the database was created, in the table `meta`: milliseconds since 1970 as 8 bytes, little-endian.
pub(crate) const CREATED_AT: &str = "created_at";

/// The store in the directory of a database.
pub(crate) fn store_path(directory: &Path) -> PathBuf {
    directory.join("records.sqlite")
}

/// Whether there was a database file at `path`: its log or what it had acknowledged is there.
pub(crate) fn has_traces(path: &Path) -> bool {
    let traces = [
        acknowledged::Acknowledged::path(path),
        schema::beside(path, "-wal"),
    ];
    // What cannot be looked at may be there.
    traces
        .iter()
        .any(|trace| trace.try_exists().unwrap_or(true))
}

/// The version of the SQLite inside.
#[must_use]
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

mod commit_copy;
#[cfg(test)]
mod tests;
