//! Keeps the blocks of a snapshot compact: drops empty blocks, writes full blocks to files, moves records out of
//! sparse blocks.

use std::sync::Arc;

use crate::columns::BLOCK_RECORDS;
use crate::record::RecordRow;
use crate::runtime::{DatabaseEvents, EventCode};
use crate::snapshot::{Block, Coding, ExactVectors, IndexFiles, NewRow, Unusable, VectorBuffer};
use crate::write::snapshot_builder::SnapshotBuilder;

/// A full block with fewer living records is sparse.
const SPARSE_BELOW: usize = BLOCK_RECORDS / 2;

/// Maintains the blocks of one database.
pub(crate) struct BlockMaintenance {
    index_files: Arc<IndexFiles>,
    events: DatabaseEvents,
    /// The newest full block when one could not be written to its file. Writing is tried again when another block is
    /// full.
    failed_at: Option<RecordRow>,
}

impl BlockMaintenance {
    pub(crate) fn new(index_files: Arc<IndexFiles>, events: DatabaseEvents) -> Self {
        Self {
            index_files,
            events,
            failed_at: None,
        }
    }

    /// Drops empty blocks, writes full blocks to their files, and moves the records of one sparse block.
    ///
    /// Returns whether it moved records. Then other blocks may be sparse too, and the caller runs the maintenance again
    /// after the writes that wait.
    pub(crate) fn run(&mut self, next: &mut SnapshotBuilder, coding: &Coding) -> bool {
        drop_empty(next);
        self.write_full(next);
        move_sparse(next, coding)
    }

    /// Writes the exact vectors of full blocks to files, which frees their memory.
    fn write_full(&mut self, next: &mut SnapshotBuilder) {
        let newest_full = next
            .snapshot
            .blocks
            .iter()
            .rev()
            .find(|block| block.len() == BLOCK_RECORDS);
        let newest_full = newest_full.map(|block| block.first);
        if self.failed_at.is_some() && self.failed_at == newest_full {
            return;
        }
        match self.write_blocks(next) {
            Ok(written) => {
                self.failed_at = None;
                if written {
                    self.index_files.measure();
                }
            }
            Err(unusable) => {
                let text = format!("a full block could not be written to its file: {unusable}");
                self.events.emit(EventCode::JobFailed, text);
                self.failed_at = newest_full;
            }
        }
    }

    /// Writes the full blocks that are in memory; returns whether there was one.
    fn write_blocks(&self, next: &mut SnapshotBuilder) -> Result<bool, Unusable> {
        let mut written = false;
        for block in &mut next.snapshot.blocks {
            if block.len() == BLOCK_RECORDS && matches!(*block.exact, ExactVectors::Memory(_)) {
                let file = self.index_files.write_rows(block)?;
                block.exact = Arc::new(ExactVectors::File(file));
                next.changed = true;
                written = true;
            }
        }
        Ok(written)
    }
}

/// As [`BlockMaintenance::run`], of a database whose blocks stay in memory.
pub(super) fn compact(next: &mut SnapshotBuilder, coding: &Coding) -> bool {
    drop_empty(next);
    move_sparse(next, coding)
}

/// Drops full blocks without living records.
fn drop_empty(next: &mut SnapshotBuilder) {
    let before = next.snapshot.blocks.len();
    let next_row = next.snapshot.next_row();
    // Blocks that still grow stay, so that they remain neighbours and can be joined. The last block stays, so that no
    // row number is used twice: a deletion identifies the records that it has tested by their row numbers.
    next.snapshot.blocks.retain(|block| {
        block.living > 0 || block.len() < BLOCK_RECORDS || block.row(block.len()) == next_row
    });
    next.changed |= next.snapshot.blocks.len() != before;
}

/// Appends the living records of one sparse block at the end. Returns false when no block is sparse.
fn move_sparse(next: &mut SnapshotBuilder, coding: &Coding) -> bool {
    let is_sparse =
        |block: &Block| block.len() == BLOCK_RECORDS && (1..SPARSE_BELOW).contains(&block.living);
    let Some(at) = next.snapshot.blocks.iter().position(is_sparse) else {
        return false;
    };
    let block = &next.snapshot.blocks[at];
    let mut buffer = VectorBuffer::default();
    let living: Result<Vec<NewRow>, _> = block
        .alive
        .iter()
        .map(|slot| block.take(slot, &mut buffer))
        .collect();
    // When the vector file cannot be read, the block stays as it is. Its searches report the error.
    let Ok(rows) = living else { return false };
    next.mark_moved(at);
    next.append(&rows, coding);
    true
}
