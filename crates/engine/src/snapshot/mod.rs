//! The records of a database in memory: immutable snapshots of blocks, and the index files that they are saved in.

mod axes;
mod basis;
mod block;
mod coding;
mod cost;
mod exact_vectors;
mod file_id;
mod filter_cache;
mod published;
mod saved;
mod selection;
mod view;

pub(crate) use basis::Basis;
pub(crate) use block::{Block, BlockMemory, Body, Coded, NewRow, Times, recode};
pub(crate) use coding::Coding;
pub(crate) use exact_vectors::{ColdBuffer, ColdRows};
pub(crate) use file_id::Serial;
pub(crate) use filter_cache::{KnownMasks, Masks};
pub(crate) use published::{Published, PublishedCell};
pub(crate) use saved::{Derived, GRAPH, GRAPH_LIST, SavedSnapshot, Unusable};
pub(crate) use selection::{HEAVY, Selection};
pub(crate) use view::IdentityIndex;
pub use view::Snapshot;
