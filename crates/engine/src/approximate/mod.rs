//! Approximate search, for databases that ask for it: an HNSW graph over the records of full blocks.
//!
//! A [`Graph`](graph::Graph) finds records that are probably near a query. An [`Index`](index::Index) knows which
//! blocks' records it holds, an [`Approximation`] which index a database has, and a [`Walk`](walk::Walk) answers a
//! search from it: every candidate gets its true score, and blocks that the index does not hold are scanned.
//!
//! The graph is that of the `usearch` crate. Searches of it may run beside each other, but not beside an addition:
//! its search takes no locks. So a [`Gate`](gate::Gate) lets additions in between searches, one at a time.

mod approximation;
mod file;
mod gate;
mod graph;
mod index;

pub(crate) use approximation::{Approximation, Upkeep};
pub(crate) use index::{Coverage, Index};
