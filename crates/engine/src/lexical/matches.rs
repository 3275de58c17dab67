//! What the index of a block tells about the lexical scores of its records.

use std::cell::Cell;
use std::sync::Arc;

use crate::columns::{BLOCK_RECORDS, Mask};
use crate::lexical::group_index::{BlockIndex, GroupMatches};
use crate::lexical::postings::each_slot;
use crate::lexical::query::LexicalQuery;
use crate::lexical::score::{Evidence, PLACES, SAME_WORDS, frequency};
use crate::lexical::term::FULL;
use crate::record::Score;

/// The records of a block that have a word of a query, and bounds of their lexical scores.
#[derive(Debug)]
pub(crate) struct BlockMatches {
    /// The records with a lexical score above 0.
    rows: Mask,
    of_rows: Vec<RowMatches>,
    /// A score that no record of the block exceeds.
    highest: Score,
    /// The index of the block; `None` without matches.
    index: Option<Arc<BlockIndex>>,
}

/// What a record has of a query, or at most what the records of a block have.
#[derive(Clone, Debug, Default)]
struct RowMatches {
    /// The words of the query, a bit each.
    found: u64,
    /// The sum over the words of the query: weight, times the best grade.
    words: u32,
    /// The grade of the best column as a whole. [`FULL`] stands for equal words.
    whole: u32,
    /// [`BlockMatches::highest`] once it was computed, 0 before: candidates are compared several times.
    highest: Cell<Score>,
}

impl Default for BlockMatches {
    fn default() -> Self {
        Self {
            rows: Mask::empty(),
            of_rows: vec![RowMatches::default(); BLOCK_RECORDS],
            highest: Score(0),
            index: None,
        }
    }
}

impl BlockMatches {
    /// Finds the records of a block that match. `found` is what the index of its group has of the query. The buffers of
    /// earlier matches are used again.
    pub(crate) fn find(
        &mut self,
        index: &Arc<BlockIndex>,
        found: &GroupMatches,
        query: &LexicalQuery,
    ) {
        self.clear();
        let (group, lists) = (index.group(), found.of_block(index.at()));
        let mut best = RowMatches::default();
        for found in &lists.words {
            let bit = 1 << found.term;
            let weight = query.terms[usize::from(found.term)].weight * u32::from(found.grade);
            best.found |= bit;
            each_slot(group.words.slots(&found.list), |slot| {
                let row = &mut self.of_rows[slot];
                if row.found & bit == 0 {
                    row.found |= bit;
                    row.words += weight;
                    best.words = best.words.max(row.words);
                    self.rows.set(slot);
                }
            });
        }
        for found in &lists.names {
            let grade = u32::from(found.grade);
            best.whole = best.whole.max(grade);
            each_slot(group.names.slots(&found.list), |slot| {
                let row = &mut self.of_rows[slot];
                row.whole = row.whole.max(grade);
                self.rows.set(slot);
            });
        }
        self.index = Some(Arc::clone(index));
        // No record has these matches if none has any: then the score is 0.
        self.highest = query.combine(&upper(query, &best, 0));
    }

    /// Forgets all records.
    pub(crate) fn clear(&mut self) {
        let rows = std::mem::replace(&mut self.rows, Mask::empty());
        rows.each_slot(|slot| self.of_rows[slot] = RowMatches::default());
        self.highest = Score(0);
        self.index = None;
    }

    /// The records with a lexical score above 0.
    pub(crate) fn rows(&self) -> &Mask {
        &self.rows
    }

    /// The words of the query that a record has, a bit each.
    pub(crate) fn found(&self, slot: usize) -> u64 {
        self.of_rows[slot].found
    }

    /// A score that no record of the block exceeds.
    pub(crate) fn highest_score(&self) -> Score {
        self.highest
    }

    /// A score that a record certainly does not exceed.
    pub(crate) fn highest(&self, query: &LexicalQuery, slot: usize) -> Score {
        let row = &self.of_rows[slot];
        if row.highest.get() == Score(0) {
            let upper = upper(query, row, self.length(slot));
            row.highest.set(query.combine(&upper));
        }
        row.highest.get()
    }

    /// A score that a record certainly reaches. `least_part` is that of the columns.
    pub(crate) fn lowest(
        &self,
        query: &LexicalQuery,
        slot: usize,
        least_part: Option<u32>,
    ) -> Score {
        let &RowMatches { words, whole, .. } = &self.of_rows[slot];
        let words = match least_part {
            None => words.into(),
            // Parts of grades are rounded down, and there is one for each word.
            Some(part) => {
                (u64::from(words) * u64::from(part) / u64::from(FULL)).saturating_sub(query.weight)
            }
        };
        let part = least_part.unwrap_or(PLACES[PLACES.len() - 1]);
        query.combine(&Evidence {
            words: words * frequency(1),
            pairs: 0,
            whole: whole.min(SAME_WORDS) * part / FULL,
            length: self.length(slot).into(),
        })
    }

    /// The number of words of a record, or fewer.
    fn length(&self, slot: usize) -> u8 {
        self.index.as_ref().map_or(0, |index| index.lengths[slot])
    }
}

/// The most that a record with these matches, and at least `length` words, may have.
fn upper(query: &LexicalQuery, row: &RowMatches, length: u8) -> Evidence {
    let &RowMatches {
        found,
        words,
        whole,
        ..
    } = row;
    let pairs = query.pairs.iter();
    let pairs = pairs.filter(|pair| found & pair.terms == pair.terms);
    // Without a name in the index, every record that has all words exactly may have a column that equals the query.
    let is_equal = query.name.is_none() && u64::from(words) == query.weight * u64::from(FULL);
    Evidence {
        words: u64::from(words) * frequency(usize::MAX),
        pairs: pairs.map(|pair| pair.weight * u64::from(FULL)).sum(),
        whole: if is_equal { FULL } else { whole },
        length: length.into(),
    }
}
