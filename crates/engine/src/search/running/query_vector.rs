//! The query of a search, as vectors.

use std::cell::RefCell;
use std::cmp::Reverse;

use cosift_kernels::Query;

use crate::error::Error;
use crate::record::{Score, q30_to_f32};
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
            return self.score_of_row(block, slot);
        }
        let best = self.best_passages(block, slot, 1)?;
        Ok(best.first().map_or(Score(0), |(score, _)| *score))
    }

    /// The scores and numbers of the best passages of a record, `count` at most. Of equal ones, the first in the text is
    /// first.
    ///
    /// # Errors
    /// When a vector of the record can't be read.
    pub(crate) fn best_passages(
        &self,
        block: &Block,
        slot: usize,
        count: usize,
    ) -> Result<Vec<(Score, usize)>, Error> {
        if block.has_one_vector(slot) {
            return Ok(vec![(self.score_of_row(block, slot)?, 0)]);
        }
        let mut rows = rows_of(block, self.coded_for(block), slot);
        // Most rows are excluded by the score of the best, so their vectors need not be read.
        rows.sort_by(|(_, a), (_, b)| upper_bound(b).total_cmp(&upper_bound(a)));
        // Descending by score, and within equal scores ascending by row.
        let mut best: Vec<(Reverse<Score>, usize)> = Vec::with_capacity(count.min(rows.len()) + 1);
        for (row, candidate) in rows {
            let ScoreBounds { highest, .. } = ScoreBounds::of(&candidate);
            if best.len() == count && best.last().is_some_and(|(least, _)| highest < least.0) {
                break;
            }
            let found = (Reverse(self.score_of_row(block, row)?), row);
            best.insert(best.partition_point(|other| *other < found), found);
            best.truncate(count);
        }
        let numbered = best
            .into_iter()
            .map(|(Reverse(score), row)| (score, block.body.passage_of(row).1));
        Ok(numbered.collect())
    }

    fn score_of_row(&self, block: &Block, row: usize) -> Result<Score, Error> {
        RECORD_VECTOR.with_borrow_mut(|buffer| {
            let score = |vector: &[i32]| Score::of(&self.components, vector);
            Ok(block.exact.read_for_search(row, buffer, score)?)
        })
    }
}
