//! The groups of a listing, whose records have a place in its order.

use std::sync::Arc;

use crate::columns::Mask;
use crate::error::Error;
use crate::facets::TallyMemory;
use crate::record::RecordRow;
use crate::search::distinct::column_groups::{ColumnGroups, too_many_values};
use crate::snapshot::{Block, Snapshot};

/// The groups of the matches of a listing. `R` is a rank, which decides the order of most records.
pub(crate) struct DistinctRecords<'a, R> {
    snapshot: &'a Snapshot,
    of_records: Arc<ColumnGroups>,
    /// By the number of the group: the matches, and the first of them.
    groups: Vec<(u32, Option<(R, RecordRow)>)>,
    /// Matches in groups.
    matches: u64,
    _memory: TallyMemory,
}

impl<'a, R: Copy + Ord> DistinctRecords<'a, R> {
    /// # Errors
    /// [`Error::Invalid`], [`Error::Busy`]: the groups take too much memory.
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        of_records: Arc<ColumnGroups>,
    ) -> Result<Self, Error> {
        let memory = TallyMemory::default();
        memory.set(of_records.len * size_of::<(u32, Option<(R, RecordRow)>)>());
        memory.check(too_many_values)?;
        Ok(Self {
            snapshot,
            groups: vec![(0, None); of_records.len],
            of_records,
            matches: 0,
            _memory: memory,
        })
    }

    /// Adds records of a block to their groups, and returns those without a value. `precedes` orders two records of the same
    /// rank.
    pub(crate) fn add(
        &mut self,
        (at, block): (usize, &Block),
        matches: &Mask,
        rank: impl Fn(usize) -> R,
        precedes: impl Fn(RecordRow, RecordRow) -> bool,
    ) -> Mask {
        let mut alone = Mask::empty();
        for slot in matches.iter() {
            let Some(group) = self.of_records.at(at, slot) else {
                alone.set(slot);
                continue;
            };
            let (count, first) = &mut self.groups[group];
            *count += 1;
            self.matches += 1;
            let (rank, row) = (rank(slot), block.row(slot));
            let is_first = first.is_none_or(|(first, first_row)| {
                rank < first || rank == first && precedes(row, first_row)
            });
            if is_first {
                *first = Some((rank, row));
            }
        }
        alone
    }

    /// The first record of each group.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = (R, RecordRow)> {
        self.groups.iter().filter_map(|(_, first)| *first)
    }

    /// How many results `matches` matches are: one for each group, and each match without a value.
    pub(crate) fn results(&self, matches: u64) -> u64 {
        matches - self.matches + self.firsts().count() as u64
    }

    /// How many matches have the value of a match, 1 without a value.
    pub(crate) fn matches_with(&self, row: RecordRow) -> u32 {
        let group = self.of_records.of_row(self.snapshot, row);
        group.map_or(1, |group| self.groups[group].0)
    }
}
