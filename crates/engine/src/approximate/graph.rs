//! The HNSW graph: which vectors are probably near a query.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use crate::approximate::gate::Gate;
use crate::snapshot::Unusable;

/// Links of a node, twice as many on the lowest level. 32 instead of 16 would cost a quarter more memory.
const CONNECTIVITY: usize = 16;

/// Nodes looked at for the links of a new one.
const EXPANSION_ADD: usize = 128;

/// Vectors that a new graph has room for. Room is doubled, and searches wait meanwhile.
const FIRST_ROOM: usize = 65_536;

/// Searches at a time; one more fails, and is answered otherwise. A place costs little.
const PLACES: usize = 64;

/// Largest absolute component of a stored vector.
const LARGEST: f32 = 127.0;

/// Vectors by key, as int8 of one scale, compared by squared distance, which orders unit vectors as cosines do.
///
/// Recall is that of 16-bit floats within 0.001 on real vectors, in half the memory; a cosine of int8 takes twice
/// the time, since it sums the lengths each time too.
pub(crate) struct Graph {
    index: Index,
    gate: Gate,
    /// What a Q30 component is multiplied with; larger ones than [`LARGEST`] are cut off.
    scale: f32,
}

impl Graph {
    /// A graph without vectors, for vectors with components up to `largest`, in steps of 2^-30.
    pub(crate) fn new(dimensions: usize, largest: u32) -> Result<Self, Unusable> {
        Self::of_scale(dimensions, LARGEST / largest.max(1) as f32)
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
            index: Index::new(&options).map_err(failed)?,
            gate: Gate::default(),
            scale,
        };
        graph.make_room(FIRST_ROOM)?;
        Ok(graph)
    }

    /// Reads a graph that [`Graph::save`] wrote.
    pub(crate) fn load(path: &Path, dimensions: usize, scale: f32) -> Result<Self, Unusable> {
        let graph = Self::of_scale(dimensions, scale)?;
        graph.index.load(text(path)?).map_err(failed)?;
        let fits = graph.index.dimensions() == dimensions
            && graph.index.scalar_kind() == ScalarKind::I8
            && graph.index.metric_kind() == MetricKind::L2sq
            && graph.index.connectivity() == CONNECTIVITY;
        if !fits {
            return Err(Unusable::Content("the graph has other settings"));
        }
        graph.make_room(graph.index.size().max(FIRST_ROOM))?;
        Ok(graph)
    }

    /// Writes the graph to a file.
    pub(crate) fn save(&self, path: &Path) -> Result<(), Unusable> {
        let path = text(path)?;
        self.gate.read(|| self.index.save(path)).map_err(failed)
    }

    /// What makes int8 of the components: to be kept beside the file.
    pub(crate) fn scale(&self) -> f32 {
        self.scale
    }

    /// Adds a vector of Q30 components under a new key. One thread adds.
    pub(crate) fn add(&self, key: u32, vector: &[i32]) -> Result<(), Unusable> {
        let bytes = self.quantize(vector);
        self.gate.change(|| {
            let size = self.index.size();
            if size == self.index.capacity() {
                self.make_room(2 * size)?;
            }
            self.index.add(u64::from(key), &bytes).map_err(failed)
        })
    }

    /// The keys of `count` vectors near a query of Q30 components, nearest first, among those that `keeps` lets
    /// through; fewer only when it finds no more.
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
            .gate
            .read(|| self.index.filtered_search(&bytes, count, keeps))
            .map_err(failed)?;
        Ok(found.keys.iter().map(|&key| key as u32).collect())
    }

    /// Vectors it holds.
    pub(crate) fn len(&self) -> usize {
        self.gate.read(|| self.index.size())
    }

    /// Bytes in memory, but for what is reserved and not yet used.
    pub(crate) fn memory_bytes(&self) -> usize {
        let stats = self.gate.read(|| self.index.memory_stats());
        (stats.graph_allocated + stats.vectors_allocated)
            .saturating_sub(stats.graph_reserved + stats.vectors_reserved)
    }

    /// Makes room for `vectors` in all. Nothing may be read or added meanwhile.
    fn make_room(&self, vectors: usize) -> Result<(), Unusable> {
        self.index
            .reserve_capacity_and_threads(vectors, PLACES)
            .map_err(failed)
    }

    fn quantize(&self, vector: &[i32]) -> Vec<i8> {
        vector
            .iter()
            .map(|&component| {
                (component as f32 * self.scale)
                    .round()
                    .clamp(-LARGEST, LARGEST) as i8
            })
            .collect()
    }
}

fn failed(error: impl Display) -> Unusable {
    Unusable::Graph(error.to_string())
}

fn text(path: &Path) -> Result<&str, Unusable> {
    path.to_str()
        .ok_or(Unusable::Content("the path is not UTF-8"))
}
