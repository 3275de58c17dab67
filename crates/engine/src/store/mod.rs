//! The store: one SQLite file per database, which holds all of its records, and the files of the vectors of full blocks.
//! Everything else is rebuilt from these.

mod access;
mod acknowledged;
mod batch;
mod change;
mod check;
mod connection;
mod continuity;
mod copy;
mod create;
mod error;
mod feed;
mod generations;
mod hand_over;
mod header;
mod idle_connections;
mod inspection;
mod meta;
mod moment;
mod next_model;
mod next_reads;
mod open;
mod open_files;
mod paths;
mod places;
mod reader;
mod reclaim;
mod retention;
mod schema;
mod stamp;
mod state;
mod stored_record;
mod vector_file;
mod vector_files;
mod writer;

pub(crate) use batch::{PutKind, Write};
pub(crate) use change::{Change, ChangeKind};
pub(crate) use check::{Check, Found};
pub(crate) use continuity::StoreStatus;
pub(crate) use copy::{CopiedState, StoreCopy};
pub use error::StoreError;
pub use header::Header;
pub(crate) use inspection::{
    Continuation, Findings, Inspection, LastChanges, Problem, Repaired, Rows, remove_acknowledged,
};
pub(crate) use meta::{CREATED_AT, SETTINGS, sync_key};
pub(crate) use moment::Moment;
pub(crate) use next_model::NextRecord;
pub(crate) use next_reads::{NextModel, NextReached};
pub(crate) use paths::{has_traces, store_path};
pub(crate) use reader::Reader;
pub(crate) use stamp::Stamp;
pub(crate) use state::{State, Tally};
pub(crate) use stored_record::StoredRecord;
pub(crate) use vector_file::{CRC_BYTES, VectorFile, crc_of};
pub(crate) use writer::Store;

#[cfg(test)]
mod tests;
