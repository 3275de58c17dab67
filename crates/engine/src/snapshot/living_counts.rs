//! How many living records of a block hold each type in each column.

use crate::columns::{ColumnId, Columns, Mask, TypeCounts};

/// The most records whose values are read one by one when they are deleted. After more deletes, all columns are counted
/// again, which takes as long.
const MAX_READ: usize = 32;

/// The counts of a block after some deletes. The counts after later deletes follow from them quickly.
#[derive(Debug)]
pub(crate) struct LivingCounts {
    alive: Mask,
    /// By ascending id of the column. A column stays when its last record is deleted.
    columns: Box<[(ColumnId, TypeCounts)]>,
}

impl LivingCounts {
    /// Adds the counts of the records of `alive` in `block` to `totals`, which has an entry for each column. `kept` are the
    /// counts of the last call for the block.
    pub(crate) fn add_to(
        totals: &mut [TypeCounts],
        kept: &mut Option<Self>,
        block: &Columns,
        alive: &Mask,
    ) {
        // A reader of an older snapshot may come later. It knows records that were deleted since.
        let kept_is_newer = |kept: &Self| !alive.without(&kept.alive).is_empty();
        if kept.as_ref().is_none_or(kept_is_newer) {
            *kept = Some(Self::of_all(block));
        }
        if !kept.as_mut().is_some_and(|kept| kept.update(block, alive)) {
            *kept = Some(Self::new(block, alive));
        }
        for &(id, types) in kept.iter().flat_map(|kept| &kept.columns) {
            totals[id.0 as usize] += types;
        }
    }

    /// The counts before the first delete, which the columns know.
    fn of_all(block: &Columns) -> Self {
        Self {
            alive: Mask::full(block.len()),
            columns: block.counts().collect(),
        }
    }

    fn new(block: &Columns, alive: &Mask) -> Self {
        Self {
            alive: alive.clone(),
            columns: block.counts_within(alive).collect(),
        }
    }

    /// Subtracts the records that are no longer alive; `alive` has no others. Returns `false`, and changes nothing, if that
    /// takes longer than to count all records.
    fn update(&mut self, block: &Columns, alive: &Mask) -> bool {
        let deleted = self.alive.without(alive);
        if deleted.count() > MAX_READ {
            return false;
        }
        for slot in deleted.iter() {
            for (id, value) in block.cells(slot) {
                let at = self.columns.binary_search_by_key(&id, |(id, _)| *id);
                let at = at.expect("a block has every column of its records");
                *self.columns[at].1.of_mut(value) -= 1;
            }
        }
        self.alive = alive.clone();
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::{OwnedValue, RecordId, RecordRow, RecordUuid, Vectors};
    use crate::snapshot::basis::Basis;
    use crate::snapshot::block::Block;
    use crate::snapshot::new_row::{NewRow, Times};

    const COLUMNS: u32 = 9;

    /// The value of a record in a column. Half of the records lack an even column, and most lack the last one.
    fn cell(record: u32, column: u32) -> Option<OwnedValue> {
        let lacks = column.is_multiple_of(2) && record.is_multiple_of(2);
        if lacks || column == COLUMNS - 1 && !record.is_multiple_of(31) {
            return None;
        }
        Some(match (record + column) % 4 {
            0 => OwnedValue::Null,
            1 => OwnedValue::Boolean(record.is_multiple_of(3)),
            2 => OwnedValue::Number(record.into()),
            _ => OwnedValue::Text("text".into()),
        })
    }

    fn block_of(records: u32) -> Block {
        let cells = |record| {
            (0..COLUMNS)
                .filter_map(|column| Some((ColumnId(column), cell(record, column)?)))
                .collect()
        };
        let rows: Vec<NewRow> = (0..records)
            .map(|record| NewRow {
                id: RecordId(record.into()),
                uuid: RecordUuid([0; 16]),
                key: None,
                times: Times::default(),
                cells: cells(record),
                vectors: Vectors::one(vec![1 << 30, 0, 0, 0, 0, 0, 0, 0]),
            })
            .collect();
        Block::build(RecordRow(0), 8, &rows, &Arc::new(Basis::untrained(8)))
    }

    fn plainly_counted(block: &Block) -> Vec<TypeCounts> {
        let mut totals = vec![TypeCounts::default(); COLUMNS as usize];
        for slot in block.alive.iter() {
            for (column, total) in (0..COLUMNS).zip(&mut totals) {
                if let Some(value) = cell(slot as u32, column) {
                    *total.of_mut(value.borrow()) += 1;
                }
            }
        }
        totals
    }

    #[test]
    fn counts_follow_few_and_many_deletes_and_older_snapshots() {
        let mut block = block_of(1000);
        let mut versions = vec![block.clone()];
        for deleted in [0..1, 5..5, 100..133, 700..708, 200..690, 0..1000] {
            deleted.for_each(|slot| block.mark_deleted(slot));
            versions.push(block.clone());
        }
        let newest_first = versions.iter().rev();
        for block in versions.iter().chain(newest_first) {
            let mut totals = vec![TypeCounts::default(); COLUMNS as usize];
            block.add_type_counts(&mut totals);
            assert_eq!(totals, plainly_counted(block), "{} left", block.living);
        }
    }
}
