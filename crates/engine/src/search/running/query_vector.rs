//! The query of a search, as vectors.

use std::cell::RefCell;
use std::cmp::Reverse;

use cosift_kernels::Query;

use crate::error::Error;
use crate::record::{Passage, Score, q30_to_f32};
use crate::search::bounds::{ScoreBounds, upper_bound};
use crate::search::passage_rows::rows_of;
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

    /// The query in the basis of a block.
    pub(crate) fn coded_for(&self, block: &Block) -> &Query {
        let basis = block.coded.basis.file_id;
        let coded = self.coded.iter().find(|(file_id, _)| *file_id == basis);
        &coded
            .expect("the query was prepared for every basis of the snapshot")
            .1
    }

    /// The canonical score of a record: that of its best passage.
    ///
    /// # Errors
    /// When the record's vector can't be read.
    pub(crate) fn score(&self, block: &Block, slot: usize) -> Result<Score, Error> {
        if block.has_one_vector(slot) {
            self.score_of_row(block, slot)
        } else {
            Ok(self.best_passage(block, slot)?.0)
        }
    }

    /// The score of a record with several passages, and the number of the first passage that has it.
    ///
    /// # Errors
    /// When a vector of the record can't be read.
    pub(crate) fn best_passage(&self, block: &Block, slot: usize) -> Result<(Score, usize), Error> {
        let mut rows = rows_of(block, self.coded_for(block), slot);
        // Most rows are excluded by the score of the best, so their vectors need not be read.
        rows.sort_by(|(_, a), (_, b)| upper_bound(b).total_cmp(&upper_bound(a)));
        let mut best: Option<(Score, Reverse<usize>)> = None;
        for (row, candidate) in rows {
            let ScoreBounds { highest, .. } = ScoreBounds::of(&candidate);
            if best.is_some_and(|(score, _)| highest < score) {
                break;
            }
            best = best.max(Some((self.score_of_row(block, row)?, Reverse(row))));
        }
        let (score, Reverse(row)) = best.unwrap_or((Score(0), Reverse(slot)));
        Ok((score, block.body.passage_of(row).1))
    }

    /// The place of the best passage of a record; `None` for a record with one vector.
    ///
    /// # Errors
    /// When a vector of the record can't be read.
    pub(crate) fn passage(&self, block: &Block, slot: usize) -> Result<Option<Passage>, Error> {
        let Some(passages) = &block.body.passages else {
            return Ok(None);
        };
        if block.has_one_vector(slot) {
            return Ok(None);
        }
        let (_, passage) = self.best_passage(block, slot)?;
        Ok(passages.place_of(slot, passage))
    }

    fn score_of_row(&self, block: &Block, row: usize) -> Result<Score, Error> {
        RECORD_VECTOR.with_borrow_mut(|buffer| {
            let score = |vector: &[i32]| Score::of(&self.components, vector);
            Ok(block.exact.read_for_search(row, buffer, score)?)
        })
    }
}
