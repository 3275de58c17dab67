//! An index: the graph, and the blocks whose records are in it.

use std::collections::HashMap;

use parking_lot::RwLock;

use crate::approximate::graph::Graph;
use crate::columns::BLOCK_RECORDS;
use crate::snapshot::{Block, ExactVectors, FileId, Snapshot, Unusable, VectorBuffer};

/// A graph over the records of full blocks.
///
/// A record's key is made of the place of its block among the blocks of the index, and its slot in the block. Places stay
/// the same after a restart, row numbers do not. The records of a block that has left the database stay in the graph.
pub(crate) struct Index {
    pub(crate) graph: Graph,
    members: RwLock<Members>,
}

#[derive(Debug, Default)]
pub(crate) struct Members {
    blocks: Vec<Member>,
    places: HashMap<FileId, u32>,
}

/// A block of the index. Its first `held` records were added, except those without a vector and those that were dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) body: FileId,
    pub(crate) held: usize,
    /// Records in the graph.
    pub(crate) vectors: usize,
}

/// The part of a snapshot that an index covers: the blocks whose records are all in the graph.
pub(crate) struct Coverage {
    /// By place in the index: the place of the block in the snapshot; `None` for a block that is not covered.
    blocks: Vec<Option<u32>>,
    /// By place in the snapshot: whether the block is covered.
    covered: Vec<bool>,
    /// Living records in covered blocks.
    pub(crate) living: usize,
}

impl Index {
    /// An index without records, for vectors like those of `sample`.
    ///
    /// # Errors
    /// When the sample can't be read, or there is not enough memory.
    pub(crate) fn new(sample: &Block) -> Result<Self, Unusable> {
        let mut buffer = VectorBuffer::default();
        let mut largest = 0;
        for slot in 0..sample.len() {
            if !sample.has_vector(slot) {
                continue;
            }
            let vector = sample.exact.vector(slot, &mut buffer)?;
            largest = vector
                .iter()
                .map(|x| x.unsigned_abs())
                .fold(largest, u32::max);
        }
        let graph = Graph::new(sample.exact.dimensions(), largest)?;
        Ok(Self::of(graph, Vec::new()))
    }

    /// An index of a graph that holds these blocks, in the order of their places.
    pub(crate) fn of(graph: Graph, blocks: Vec<Member>) -> Self {
        let places = (0_u32..)
            .zip(&blocks)
            .map(|(place, member)| (member.body, place))
            .collect();
        Self {
            graph,
            members: RwLock::new(Members { blocks, places }),
        }
    }

    /// The blocks by place.
    pub(crate) fn members(&self) -> Vec<Member> {
        self.read().blocks.clone()
    }

    /// Records in the graph, including those that have died since.
    pub(crate) fn vectors(&self) -> usize {
        self.read().blocks.iter().map(|member| member.vectors).sum()
    }

    /// Whether less than three quarters of the records in the graph are alive in `snapshot`. A search visits dead records
    /// and drops them.
    pub(crate) fn has_many_dead(&self, snapshot: &Snapshot) -> bool {
        let members = self.read();
        let living: usize = snapshot
            .blocks
            .iter()
            .filter(|block| members.places.contains_key(&block.body.file_id))
            .map(|block| block.living - block.without_vector())
            .sum();
        let vectors: usize = members.blocks.iter().map(|member| member.vectors).sum();
        4 * living < 3 * vectors
    }

    /// The first block of `snapshot` that belongs into an index.
    pub(crate) fn first_block(snapshot: &Snapshot) -> Option<&Block> {
        // The graph's scale is that of the block's vectors.
        let has_vectors = |block: &Block| (0..block.len()).any(|slot| block.has_vector(slot));
        snapshot
            .blocks
            .iter()
            .find(|block| belongs(block) && is_sealed(block) && has_vectors(block))
    }

    /// The first block of `snapshot` that belongs into the index and is not completely in it.
    pub(crate) fn next_block<'a>(&self, snapshot: &'a Snapshot) -> Option<&'a Block> {
        let members = self.read();
        snapshot
            .blocks
            .iter()
            .find(|block| belongs(block) && is_sealed(block) && !members.is_complete(block))
    }

    /// Living records of blocks that belong into an index and are not completely in `index`.
    pub(crate) fn missing_records(index: Option<&Self>, snapshot: &Snapshot) -> usize {
        let members = index.map(Self::read);
        let is_complete = |block: &Block| {
            members
                .as_ref()
                .is_some_and(|members| members.is_complete(block))
        };
        let blocks = snapshot.blocks.iter();
        let missing = blocks.filter(|block| belongs(block) && !is_complete(block));
        missing.map(|block| block.living).sum()
    }

    /// Adds the records of a block while `go_on` returns true. Only one thread adds. Returns whether all are added.
    ///
    /// # Errors
    /// When a vector can't be read, or the graph can't grow.
    pub(crate) fn add(&self, block: &Block, go_on: impl Fn() -> bool) -> Result<bool, Unusable> {
        let (place, held) = self.write().enter(block.body.file_id);
        let mut buffer = VectorBuffer::default();
        for slot in held..block.len() {
            if !go_on() {
                return Ok(false);
            }
            let is_added = block.has_vector(slot) && block.alive.get(slot);
            if is_added {
                let vector = block.exact.vector(slot, &mut buffer)?;
                self.graph.add(key(place, slot), vector)?;
            }
            let member = &mut self.write().blocks[place as usize];
            member.held = slot + 1;
            member.vectors += usize::from(is_added);
        }
        Ok(true)
    }

    /// The part of `snapshot` that the index covers.
    pub(crate) fn coverage(&self, snapshot: &Snapshot) -> Coverage {
        let members = self.read();
        let mut found = Coverage {
            blocks: vec![None; members.blocks.len()],
            covered: vec![false; snapshot.blocks.len()],
            living: 0,
        };
        for (at, block) in snapshot.blocks.iter().enumerate() {
            if belongs(block) && members.is_complete(block) {
                let place = members.places[&block.body.file_id];
                found.blocks[place as usize] = Some(at as u32);
                found.covered[at] = true;
                found.living += block.living;
            }
        }
        found
    }

    fn read(&self) -> parking_lot::RwLockReadGuard<'_, Members> {
        self.members.read()
    }

    fn write(&self) -> parking_lot::RwLockWriteGuard<'_, Members> {
        self.members.write()
    }
}

impl Members {
    fn is_complete(&self, block: &Block) -> bool {
        let place = self.places.get(&block.body.file_id);
        place.is_some_and(|&place| self.blocks[place as usize].held == block.len())
    }

    /// The place of a block, and how many of its records are in the index. A block that is not in the index gets a new place.
    fn enter(&mut self, body: FileId) -> (u32, usize) {
        let next = self.blocks.len() as u32;
        let place = *self.places.entry(body).or_insert(next);
        if place == next {
            self.blocks.push(Member {
                body,
                held: 0,
                vectors: 0,
            });
        }
        (place, self.blocks[place as usize].held)
    }
}

impl Coverage {
    /// The place of the block in the snapshot and the slot of a key; `None` for a block that is not covered.
    pub(crate) fn locate(&self, key: u32) -> Option<(usize, usize)> {
        let place = key as usize / BLOCK_RECORDS;
        let at = self.blocks.get(place).copied().flatten()?;
        Some((at as usize, key as usize % BLOCK_RECORDS))
    }

    /// Whether all records of a block of the snapshot, by its place, are in the graph.
    pub(crate) fn covers(&self, at: usize) -> bool {
        self.covered[at]
    }
}

fn key(place: u32, slot: usize) -> u32 {
    place * BLOCK_RECORDS as u32 + slot as u32
}

/// Whether a block belongs into an index: a full block in which every record has one vector at most. Other blocks are
/// scanned, because they still grow, or because the candidates must not depend on one of several vectors of a record.
fn belongs(block: &Block) -> bool {
    block.len() == BLOCK_RECORDS && block.body.passages.is_none()
}

/// Whether the vectors of a full block are in a file. Then only its set of living records can change.
fn is_sealed(block: &Block) -> bool {
    matches!(*block.exact, ExactVectors::File(_))
}
