//! Approximate search, for databases that ask for it: an HNSW graph over the records of full blocks.
//!
//! A [`Graph`](graph::Graph) finds records that are probably near a query. An [`Index`] knows which blocks' records are
//! in its graph, and an [`Approximation`] knows which index a database has. A search takes its candidates from the
//! index: every candidate gets its exact score, and blocks that the index does not cover are scanned.
//!
//! The graph is that of the `usearch` crate. Its searches may run at the same time, but not during an addition, because
//! they take no locks. So a read-write lock keeps additions apart from searches.

mod approximation;
mod file;
mod graph;
mod graph_check;
mod index;

pub(crate) use approximation::{Approximation, Upkeep};
pub(crate) use file::load as load_index;
pub(crate) use index::{Coverage, Index};
