//! Writes: records are parsed and prepared, committed by the writer of the database, and published as the next snapshot.
//!
//! - `parsing`, [`prepare()`], [`Prepared`]: the records of an upsert, before the writer has them.
//! - [`Patch`], [`prepare_patch()`]: a patch, before the writer has it.
//! - [`Deletion`], [`DeletionMatches`]: the records of a deletion.
//! - [`WriterQueue`]: the commands of a database and the threads of all writers.
//! - [`Writer`]: runs commands. Its parts are the `committer` (stage, transaction, publication), the
//!   `maintenance` (blocks, job results, disk space, retention) and the `load` of a database.
//! - [`Follower`]: takes the place of the writer of a database that another process writes.

mod block_maintenance;
mod checks;
mod commit;
mod committer;
mod condition;
mod deletion;
mod deletion_matches;
mod embedded;
mod follower;
mod load;
mod maintenance;
mod next_index;
mod parsing;
mod patch;
mod prepare;
mod prepared;
mod replay;
mod shared;
mod snapshot_builder;
mod stage;
mod stage_patch;
mod staged;
mod writer;
mod writer_queue;

pub use commit::Committed;
pub(crate) use commit::{Commit, stage_commit};
pub(crate) use deletion::{Deletion, RecordRef};
pub(crate) use deletion_matches::{Deleted, DeletionMatches};
pub use embedded::Embedded;
pub(crate) use embedded::TextVectors;
pub(crate) use follower::Follower;
pub(crate) use next_index::NextIndex;
pub(crate) use parsing::parse_data;
pub(crate) use patch::Patch;
pub(crate) use prepare::{
    Target, add_patched_text, add_texts, find_known, parse, prepare, prepare_patch, unapplied_patch,
};
pub use prepared::{Format, LineError, Prepared};
pub(crate) use prepared::{PreparedPatch, VectorSource};
pub(crate) use replay::replay;
pub(crate) use shared::Shared;
pub(crate) use stage::Stage;
pub(crate) use staged::Context;
pub use staged::{Status, Upserted};
pub(crate) use writer::Writer;
pub(crate) use writer_queue::{Command, Paused, Refreshed, WriterQueue, WriterThreads};
