//! The records of a database in memory: immutable snapshots of blocks, and the index files that they are saved in.

mod axes;
mod basis;
mod block;
mod block_memory;
mod body;
mod coded;
mod coding;
mod cost;
mod exact_vectors;
mod file_id;
mod filter_cache;
mod index_files;
mod new_row;
mod published;
mod selection;
mod view;

pub(crate) use basis::Basis;
pub(crate) use block::Block;
pub(crate) use block_memory::BlockMemory;
pub(crate) use body::Body;
pub(crate) use coded::{Coded, recode};
pub(crate) use coding::Coding;
pub(crate) use exact_vectors::{ExactVectors, VectorBuffer};
pub(crate) use file_id::FileId;
pub(crate) use filter_cache::{FilterCache, Masks};
pub(crate) use index_files::{GRAPH, GRAPH_LIST, IndexFiles, SavedSnapshot, Unusable};
pub(crate) use new_row::{NewRow, Times};
pub(crate) use published::{Published, PublishedCell};
pub(crate) use selection::{HEAVY, Selection};
pub(crate) use view::{IdentityIndex, Snapshot};
