//! The selected records of a snapshot in the order of their ids.

use std::sync::atomic::Ordering::Relaxed;

use crate::columns::Mask;
use crate::error::Error;
use crate::record::{RecordRow, TopK};
use crate::runtime::{StopCheck, StopFlag};
use crate::snapshot::{Selection, Snapshot};

/// The number of records whose order is known at a time. They take 4 MiB.
const WINDOW: usize = 1 << 18;

/// Yields rows in the order of the ids of their records.
///
/// The rows of a snapshot are in the order of their commits. To sort all ids would take memory in proportion to the
/// database, so one pass over the ids finds the next [`WINDOW`] records. A block whose ids are all outside the window is
/// skipped: in a database that was filled in the order of its ids, all passes together read each block about once.
pub(super) struct InOrder {
    /// The selected records of each block, and the smallest and the largest of their ids.
    blocks: Vec<(Mask, u64, u64)>,
    /// The records that come next, the last of them first.
    window: Vec<(u64, RecordRow)>,
    /// Every id up to this one was yielded.
    last: u64,
    /// [`WINDOW`], except in tests.
    window_records: usize,
}

impl InOrder {
    /// Finds the selected records.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn new(
        snapshot: &Snapshot,
        selection: &Selection,
        stop: &StopFlag,
    ) -> Result<Self, Error> {
        let stop_check = &StopCheck::new(stop);
        let mut blocks = Vec::with_capacity(snapshot.blocks.len());
        for block in &snapshot.blocks {
            if stop.load(Relaxed) {
                return Err(Error::Stopped);
            }
            let mask = selection.mask(block, stop_check)?;
            let (mut smallest, mut largest) = (u64::MAX, 0);
            block.body.ids.each(&mask, |id| {
                smallest = smallest.min(id as u64);
                largest = largest.max(id as u64);
            });
            blocks.push((mask, smallest, largest));
        }
        Ok(Self {
            blocks,
            window: Vec::new(),
            last: 0,
            window_records: WINDOW,
        })
    }

    /// The next row; `None` after the last.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn next(
        &mut self,
        snapshot: &Snapshot,
        stop: &StopFlag,
    ) -> Result<Option<RecordRow>, Error> {
        if self.window.is_empty() {
            self.fill(snapshot, stop)?;
        }
        let Some((id, row)) = self.window.pop() else {
            return Ok(None);
        };
        self.last = id;
        Ok(Some(row))
    }

    /// Finds the next records.
    fn fill(&mut self, snapshot: &Snapshot, stop: &StopFlag) -> Result<(), Error> {
        let mut first = TopK::new(self.window_records);
        for (block, (mask, smallest, largest)) in snapshot.blocks.iter().zip(&self.blocks) {
            if stop.load(Relaxed) {
                return Err(Error::Stopped);
            }
            let is_after_window = first.last().is_some_and(|&(id, _)| *smallest > id);
            if *largest <= self.last || is_after_window {
                continue;
            }
            for slot in mask.iter() {
                let id = block.id(slot).0;
                if id > self.last {
                    first.push((id, block.row(slot)));
                }
            }
        }
        self.window = first.into_sorted();
        self.window.reverse();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::{RecordId, RecordUuid, TimeRange, Vectors};
    use crate::snapshot::{Basis, Block, NewRow, Times};

    fn row(id: u64) -> NewRow {
        NewRow {
            id: RecordId(id),
            uuid: RecordUuid([0; 16]),
            key: None,
            times: Times {
                created: 0,
                changed: 0,
                synced: 0,
            },
            cells: Vec::new(),
            vectors: Vectors::one(vec![1 << 30]),
        }
    }

    #[test]
    fn rows_come_in_the_order_of_ids_whatever_the_window() {
        let basis = Arc::new(Basis::untrained(1));
        let mut snapshot = Snapshot::empty();
        // Blocks in falling, rising and mixed order of ids.
        let ids: Vec<Vec<u64>> = vec![
            (900..1000).rev().collect(),
            (1..200).collect(),
            (200..700).map(|n| 200 + (n * 7) % 500).collect(),
            vec![5000, 1500],
        ];
        for ids in &ids {
            let rows: Vec<NewRow> = ids.iter().map(|&id| row(id)).collect();
            let first = snapshot.next_row();
            snapshot.blocks.push(Block::build(first, 1, &rows, &basis));
        }
        snapshot.blocks[1].mark_deleted(7);
        let mut expected: Vec<u64> = ids.concat();
        expected.retain(|&id| id != 8);
        expected.sort_unstable();
        for window in [1, 3, 100, WINDOW] {
            let stop = StopFlag::default();
            let selection = Selection::bind(&snapshot, None, TimeRange::ALWAYS);
            let mut order = InOrder::new(&snapshot, &selection, &stop).expect("not stopped");
            order.window_records = window;
            let mut found = Vec::new();
            while let Some(row) = order.next(&snapshot, &stop).expect("not stopped") {
                found.push(snapshot.id_of(row).0);
            }
            assert_eq!(found, expected, "window of {window}");
        }
    }
}
