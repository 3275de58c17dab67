//! The truth: one SQLite file per database. Everything else is derived from it.

mod acknowledged;
mod carry;
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

pub(crate) use carry::{CarriedRecord, Stretch};
pub(crate) use change::{Change, ChangeKind};
pub(crate) use check::Check;
pub use error::StoreError;
pub(crate) use reader::{Identity, Reader};
pub(crate) use row::StoredRecord;
pub(crate) use stamp::Stamp;
pub(crate) use state::{RecordRow, State, Tally};
pub(crate) use write::{PutKind, Write};
pub(crate) use writer::Store;

/// The version of the SQLite inside.
#[must_use]
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

#[cfg(test)]
mod tests;
