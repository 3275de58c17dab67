//! The HNSW graph: which vectors are probably near a query.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::RwLock;
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use crate::approximate::graph_check::check;
use crate::disk::Disk;
use crate::snapshot::Unusable;

/// Links of a node; twice as many on the lowest level. 32 instead of 16 would take a quarter more memory.
const CONNECTIVITY: usize = 16;

/// Nodes that are compared to find the links of a new node.
const EXPANSION_ADD: usize = 128;

/// Vectors that a new graph has room for. A full graph doubles its room.
const FIRST_ROOM: usize = 65_536;

/// Searches at the same time. One more fails, and its blocks are scanned instead.
const MAX_SEARCHES: usize = 64;

/// Largest absolute component of a stored vector.
const MAX_COMPONENT: f32 = 127.0;

/// Vectors by key, as int8 of one scale, compared by squared distance. Squared distances order unit vectors as cosines
/// do, and take half the time: a cosine of int8 sums the squared lengths too.
///
/// The recall on real vectors is within 0.001 of that of 16-bit floats, in half the memory.
pub(crate) struct Graph {
    /// Read by searches, written by additions. A search does not wait for an addition.
    index: RwLock<Index>,
    /// Bytes in memory, without what is reserved and not yet used.
    bytes: AtomicUsize,
    /// Factor from a Q30 component to its int8. Products beyond [`MAX_COMPONENT`] are clamped.
    scale: f32,
}

impl Graph {
    /// A graph without vectors, for vectors with components up to `largest`, in steps of 2^-30.
    pub(crate) fn new(dimensions: usize, largest: u32) -> Result<Self, Unusable> {
        Self::of_scale(dimensions, MAX_COMPONENT / largest.max(1) as f32)
    }

    fn of_scale(dimensions: usize, scale: f32) -> Result<Self, Unusable> {
        let options = IndexOptions {
            dimensions,
            metric: MetricKind::L2sq,
            quantization: ScalarKind::I8,
            connectivity: CONNECTIVITY,
            expansion_add: EXPANSION_ADD,
            // A search is as thorough as it wants many, and never less than this.
            expansion_search: 1,
            multi: false,
        };
        let graph = Self {
            index: RwLock::new(Index::new(&options).map_err(failed)?),
            bytes: AtomicUsize::new(0),
            scale,
        };
        make_room(&graph.index.write(), FIRST_ROOM)?;
        Ok(graph)
    }

    /// Reads a graph that [`Graph::save`] wrote, after a check that it can do no harm.
    pub(crate) fn load(
        disk: &dyn Disk,
        path: &Path,
        dimensions: usize,
        scale: f32,
    ) -> Result<Self, Unusable> {
        check(&disk.open(path)?, dimensions, CONNECTIVITY)?;
        let graph = Self::of_scale(dimensions, scale)?;
        let index = graph.index.write();
        index.load(text(path)?).map_err(failed)?;
        let fits = index.dimensions() == dimensions
            && index.scalar_kind() == ScalarKind::I8
            && index.metric_kind() == MetricKind::L2sq
            && index.connectivity() == CONNECTIVITY;
        if !fits {
            return Err(Unusable::Content("the graph has other settings"));
        }
        make_room(&index, index.size().max(FIRST_ROOM))?;
        graph.bytes.store(bytes_of(&index), Relaxed);
        drop(index);
        Ok(graph)
    }

    /// Writes the graph to a file.
    pub(crate) fn save(&self, path: &Path) -> Result<(), Unusable> {
        let path = text(path)?;
        self.index.read().save(path).map_err(failed)
    }

    /// Factor from a Q30 component to its int8, which is saved together with the file.
    pub(crate) fn scale(&self) -> f32 {
        self.scale
    }

    /// Adds a vector of Q30 components under a new key. One thread adds.
    pub(crate) fn add(&self, key: u32, vector: &[i32]) -> Result<(), Unusable> {
        let bytes = self.quantize(vector);
        let index = self.index.write();
        let size = index.size();
        if size == index.capacity() {
            make_room(&index, 2 * size)?;
        }
        index.add(u64::from(key), &bytes).map_err(failed)?;
        self.bytes.store(bytes_of(&index), Relaxed);
        Ok(())
    }

    /// The keys of `count` vectors near a query of Q30 components, nearest first, among those for which `keeps` is true.
    /// Fewer keys mean that the graph found no more. `None` if a vector is being added.
    pub(crate) fn near(
        &self,
        query: &[i32],
        count: usize,
        keeps: impl Fn(u32) -> bool,
    ) -> Result<Option<Vec<u32>>, Unusable> {
        let Some(index) = self.index.try_read() else {
            return Ok(None);
        };
        let bytes = self.quantize(query);
        // A panic must not pass through the C++ between here and the caller.
        let keeps =
            |key: u64| catch_unwind(AssertUnwindSafe(|| keeps(key as u32))).unwrap_or(false);
        let found = index
            .filtered_search(&bytes, count, keeps)
            .map_err(failed)?;
        Ok(Some(found.keys.iter().map(|&key| key as u32).collect()))
    }

    /// The number of vectors.
    pub(crate) fn len(&self) -> usize {
        self.index.read().size()
    }

    /// Bytes in memory, without what is reserved and not yet used.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    fn quantize(&self, vector: &[i32]) -> Vec<i8> {
        vector
            .iter()
            .map(|&component| {
                (component as f32 * self.scale)
                    .round()
                    .clamp(-MAX_COMPONENT, MAX_COMPONENT) as i8
            })
            .collect()
    }
}

/// Bytes in memory, without what is reserved and not yet used.
fn bytes_of(index: &Index) -> usize {
    let stats = index.memory_stats();
    (stats.graph_allocated + stats.vectors_allocated)
        .saturating_sub(stats.graph_reserved + stats.vectors_reserved)
}

/// Makes room for `vectors` in all. The caller holds the write lock.
fn make_room(index: &Index, vectors: usize) -> Result<(), Unusable> {
    index
        .reserve_capacity_and_threads(vectors, MAX_SEARCHES)
        .map_err(failed)
}

fn failed(error: impl Display) -> Unusable {
    Unusable::Graph(error.to_string())
}

fn text(path: &Path) -> Result<&str, Unusable> {
    path.to_str()
        .ok_or(Unusable::Content("the path is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_does_not_wait_for_an_addition() {
        let graph = Graph::new(8, 1 << 30).expect("a graph");
        let query = [1 << 30, 0, 0, 0, 0, 0, 0, 0];
        graph.add(7, &query).expect("room");
        let addition = graph.index.write();
        assert!(graph.near(&query, 1, |_| true).expect("a result").is_none());
        drop(addition);
        let found = graph.near(&query, 1, |_| true).expect("a result");
        assert_eq!(found, Some(vec![7]));
    }

    #[test]
    fn a_panic_in_a_filter_leaves_the_graph_usable() {
        let graph = Graph::new(8, 1 << 30).expect("a graph");
        graph.add(7, &[1 << 30, 0, 0, 0, 0, 0, 0, 0]).expect("room");
        let query = [1 << 30, 0, 0, 0, 0, 0, 0, 0];
        let found = graph.near(&query, 1, |_| panic!("on purpose"));
        assert_eq!(found.expect("a result"), Some(Vec::new()));
        graph.add(8, &query).expect("room");
        assert_eq!(graph.len(), 2);
    }
}
