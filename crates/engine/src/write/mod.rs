//! Writes: records are parsed and prepared, committed by the writer of the database, and published as the next snapshot.

mod command;
mod commit;
mod delete;
mod parsing;
mod prepare;
mod replay;
mod response;
mod shared;
mod snapshot_builder;
mod stage;
mod writer;

pub(crate) use command::Command;
pub(crate) use commit::Commit;
pub use commit::{Committed, Embedded};
pub(crate) use delete::{Deleted, Deletion, Found, RecordRef};
pub(crate) use parsing::parse_data;
pub use prepare::{Format, LineError, Prepared};
pub(crate) use prepare::{Target, VectorSource, prepare};
pub(crate) use response::Answer;
pub(crate) use shared::Shared;
pub use stage::{Status, Upserted};
pub(crate) use writer::Writer;
