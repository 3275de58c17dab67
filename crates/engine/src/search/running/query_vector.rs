//! The query of a search, as vectors.

use std::cell::RefCell;

use cosift_kernels::Query;

use crate::error::Error;
use crate::record::{Score, q30_to_f32};
use crate::snapshot::{Block, FileId, Snapshot, VectorBuffer};

/// The query's unit vector, exact and in the codes of each basis of a snapshot.
pub(crate) struct QueryVector {
    components: Vec<i32>,
    /// One for each basis that blocks of the snapshot are coded in.
    coded: Vec<(FileId, Query)>,
}

thread_local! {
    static RECORD_VECTOR: RefCell<VectorBuffer> = RefCell::default();
}

impl QueryVector {
    /// Prepares a vector of Q30 components for every basis of a snapshot.
    pub(crate) fn new(components: Vec<i32>, snapshot: &Snapshot) -> Self {
        let mut floats = Vec::new();
        q30_to_f32(&components, &mut floats);
        let mut coded: Vec<(FileId, Query)> = Vec::new();
        for block in &snapshot.blocks {
            let basis = &block.coded.basis;
            if coded.iter().all(|(file_id, _)| *file_id != basis.file_id) {
                coded.push((basis.file_id, basis.query(&floats)));
            }
        }
        Self { components, coded }
    }

    /// The Q30 components that scores are computed from.
    pub(crate) fn components(&self) -> &[i32] {
        &self.components
    }

    /// The query in the basis of a block.
    pub(crate) fn coded_for(&self, block: &Block) -> &Query {
        let basis = block.coded.basis.file_id;
        let coded = self.coded.iter().find(|(file_id, _)| *file_id == basis);
        &coded
            .expect("the query was prepared for every basis of the snapshot")
            .1
    }

    /// The canonical score of a record.
    ///
    /// # Errors
    /// When the record's vector can't be read.
    pub(crate) fn score(&self, block: &Block, slot: usize) -> Result<Score, Error> {
        RECORD_VECTOR.with_borrow_mut(|buffer| {
            let vector = block.exact.vector(slot, buffer)?;
            Ok(Score::of(&self.components, vector))
        })
    }
}
