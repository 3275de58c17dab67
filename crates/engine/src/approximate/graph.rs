//! The HNSW graph: which vectors are probably near a query.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parking_lot::{RwLock, RwLockWriteGuard};
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use crate::snapshot::Unusable;

/// Links of a node; twice as many on the lowest level. 32 instead of 16 would take a quarter more memory.
const CONNECTIVITY: usize = 16;

/// Nodes that are compared to find the links of a new node.
const EXPANSION_ADD: usize = 128;

/// Vectors that a new graph has room for. A full graph doubles its room, and searches wait while it does.
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
    /// Read by searches, written by additions. A thread that waits for the write lock goes before readers that come
    /// later.
    index: RwLock<Index>,
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
            scale,
        };
        make_room(&graph.index.write(), FIRST_ROOM)?;
        Ok(graph)
    }

    /// Reads a graph that [`Graph::save`] wrote.
    pub(crate) fn load(path: &Path, dimensions: usize, scale: f32) -> Result<Self, Unusable> {
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
        let added = index.add(u64::from(key), &bytes).map_err(failed);
        // Searches that wait go before the next addition: otherwise a thread that adds all the time could lock again
        // before they wake.
        RwLockWriteGuard::unlock_fair(index);
        added
    }

    /// The keys of `count` vectors near a query of Q30 components, nearest first, among those for which `keeps` is true.
    /// Fewer keys mean that the graph found no more.
    pub(crate) fn near(
        &self,
        query: &[i32],
        count: usize,
        keeps: impl Fn(u32) -> bool,
    ) -> Result<Vec<u32>, Unusable> {
        let bytes = self.quantize(query);
        // A panic must not pass through the C++ between here and the caller.
        let keeps =
            |key: u64| catch_unwind(AssertUnwindSafe(|| keeps(key as u32))).unwrap_or(false);
        let found = self
            .index
            .read()
            .filtered_search(&bytes, count, keeps)
            .map_err(failed)?;
        Ok(found.keys.iter().map(|&key| key as u32).collect())
    }

    /// The number of vectors.
    pub(crate) fn len(&self) -> usize {
        self.index.read().size()
    }

    /// Bytes in memory, without what is reserved and not yet used.
    pub(crate) fn memory_bytes(&self) -> usize {
        let stats = self.index.read().memory_stats();
        (stats.graph_allocated + stats.vectors_allocated)
            .saturating_sub(stats.graph_reserved + stats.vectors_reserved)
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
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn searches_are_not_blocked_by_continuous_additions() {
        let graph = Graph::new(8, 1 << 30).expect("a graph");
        let vector = |key: u32| -> Vec<i32> {
            let component = |at| (key.wrapping_mul(2_654_435_761).rotate_left(at) >> 3) as i32;
            (0..8).map(component).collect()
        };
        graph.add(0, &vector(0)).expect("room");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let adding = scope.spawn(|| {
                let mut key = 1;
                while !done.load(Relaxed) && key < FIRST_ROOM as u32 {
                    graph.add(key, &vector(key)).expect("room");
                    key += 1;
                }
                key
            });
            for at in 0..100 {
                let near = graph.near(&vector(at), 1, |_| true).expect("a result");
                assert_eq!(near.len(), 1);
            }
            done.store(true, Relaxed);
            let added = adding.join().expect("no panic");
            assert_eq!(graph.len(), added as usize);
            assert!(added < FIRST_ROOM as u32, "every addition blocked searches");
        });
    }

    #[test]
    fn a_panic_in_a_filter_leaves_the_graph_usable() {
        let graph = Graph::new(8, 1 << 30).expect("a graph");
        graph.add(7, &[1 << 30, 0, 0, 0, 0, 0, 0, 0]).expect("room");
        let query = [1 << 30, 0, 0, 0, 0, 0, 0, 0];
        let found = graph.near(&query, 1, |_| panic!("on purpose"));
        assert!(found.expect("a result").is_empty());
        graph.add(8, &query).expect("room");
        assert_eq!(graph.len(), 2);
    }
}
