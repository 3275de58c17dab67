//! The store: one SQLite file per database, which holds all of its records. Everything else is rebuilt from it.

mod access;
mod acknowledged;
mod batch;
mod change;
mod check;
mod checkpoint;
mod clock;
mod commit_copy;
mod commit_range;
mod connection;
mod continuity;
mod copy;
mod create;
mod error;
mod feed;
mod feed_marks;
mod generations;
mod header;
mod idle_connections;
mod inspection;
mod meta;
mod open;
mod open_files;
mod paths;
mod reader;
mod reclaim;
mod retention;
mod schema;
mod schema_check;
mod stamp;
mod state;
mod stored_record;
mod tally;
mod write;
mod writer;

pub(crate) use access::Access;
pub(crate) use change::{Change, ChangeKind};
pub(crate) use check::{Check, Found};
pub(crate) use commit_range::{CommitRange, CopiedRecord};
pub(crate) use copy::{CopiedState, StoreCopy};
pub use error::StoreError;
pub(crate) use feed::FeedData;
pub use header::Header;
pub(crate) use inspection::{
    Continuation, Findings, Inspection, LastChanges, Problem, Repaired, Rows, remove_acknowledged,
};
pub(crate) use meta::{CREATED_AT, SETTINGS};
pub(crate) use paths::{has_traces, store_path};
pub(crate) use reader::Reader;
pub(crate) use stamp::Stamp;
pub(crate) use state::State;
pub(crate) use stored_record::StoredRecord;
pub(crate) use tally::Tally;
pub(crate) use write::{PutKind, Write};
pub(crate) use writer::Store;

#[cfg(test)]
mod tests;
