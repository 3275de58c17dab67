//! Keeps the blocks of a snapshot compact: drops empty blocks, writes full blocks to files, moves records out of
//! sparse blocks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::columns::BLOCK_RECORDS;
use crate::disk::FileError;
use crate::record::RecordRow;
use crate::runtime::{DatabaseEvents, EventCode};
use crate::snapshot::{Block, Coding, FileId, IndexFiles, NewRow, Snapshot, VectorBuffer};
use crate::store::{Reader, Store, StoreError};
use crate::write::snapshot_builder::SnapshotBuilder;

/// How long the vectors of blocks are handed over when a database is closed: those of about 200 blocks.
const HAND_OVER_AT_CLOSE: Duration = Duration::from_secs(10);

/// A full block with fewer living records is sparse.
const SPARSE_BELOW: usize = BLOCK_RECORDS / 2;

/// Maintains the blocks of one database.
pub(crate) struct BlockMaintenance {
    index_files: Arc<IndexFiles>,
    events: DatabaseEvents,
    /// The newest full block when one could not be written to its file. Writing is tried again when another block is
    /// full.
    failed_at: Option<RecordRow>,
    /// The blocks that were written to their files, while the store has their vectors, too.
    pending: Vec<FileId>,
    /// Whether the last block could not be handed over.
    failed: bool,
}

impl BlockMaintenance {
    pub(crate) fn new(index_files: Arc<IndexFiles>, events: DatabaseEvents) -> Self {
        Self {
            index_files,
            events,
            failed_at: None,
            pending: Vec::new(),
            failed: false,
        }
    }

    /// Notes the blocks of a snapshot that was loaded that have records whose vectors are in the store or in another file.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn loaded(&mut self, snapshot: &Snapshot, store: &Reader) -> Result<(), StoreError> {
        let named = store.named_files()?;
        let blocks = snapshot.blocks.iter();
        self.pending = blocks
            .filter(|block| !block.exact.is_without_file())
            // Records only ever leave a file, so equal numbers are the same records.
            .filter(|block| named.get(&block.body.file_id.0) != Some(&(block.living as u64)))
            .map(|block| block.body.file_id)
            .collect();
        Ok(())
    }

    /// The blocks that were written to their files, while the store has their vectors, too.
    pub(crate) fn pending(&self) -> &[FileId] {
        &self.pending
    }

    /// Removes the files that were written for a database that could not be opened.
    pub(crate) fn abandon(&self, store: &Reader) {
        if let Ok(named) = store.named_files() {
            let pending = self.pending.iter().map(|file_id| file_id.0);
            let unnamed = pending.filter(|file| !named.contains_key(file));
            store.vector_files().remove(unnamed);
        }
    }

    /// Hands the vectors of one block over to its file, if one is pending, and removes files that nothing needs any more.
    /// Returns whether another block is pending.
    pub(crate) fn hand_over(&mut self, snapshot: &Snapshot, store: &mut Store) -> bool {
        // A hand-over may leave names in the log, and then no file can be removed.
        let removed = store.remove_unnamed_files();
        let handed_over = removed.and_then(|()| self.hand_over_first(snapshot, store));
        if let Err(error) = &handed_over
            && !self.failed
        {
            let text = format!("the vectors of a block could not leave the store: {error}");
            self.events.emit(EventCode::JobFailed, text);
        }
        self.failed = handed_over.is_err();
        !self.failed && !self.pending.is_empty()
    }

    /// Hands the vectors of all blocks over to files, also of those that still grow, before the database is closed: so the
    /// next start reads no vector before it is needed.
    pub(crate) fn finish(&mut self, snapshot: &Snapshot, store: &mut Store) {
        let mut frees_pages = false;
        for block in &snapshot.blocks {
            if block.exact.is_without_file() && block.living > 0 {
                frees_pages = true;
                // When the file cannot be written, the next start reads the vectors from the store.
                match self.index_files.write_vectors(&mut block.clone()) {
                    Ok(()) => self.pending.push(block.body.file_id),
                    Err(error) => self.report_unwritten(&error),
                }
            }
        }
        // The next start hands over the rest, which is much only after all records were read from the store.
        let end = Instant::now() + HAND_OVER_AT_CLOSE;
        while self.hand_over(snapshot, store) && Instant::now() < end {}
        if frees_pages
            && !store.is_poisoned()
            && let Err(error) = store.reclaim().and_then(|_| store.reclaim())
        {
            let text = format!("disk space of vectors could not be freed: {error}");
            self.events.emit(EventCode::JobFailed, text);
        }
    }

    fn report_unwritten(&self, error: &FileError) {
        let text = format!("the vectors of a block could not be written to their file: {error}");
        self.events.emit(EventCode::JobFailed, text);
    }

    fn hand_over_first(
        &mut self,
        snapshot: &Snapshot,
        store: &mut Store,
    ) -> Result<(), StoreError> {
        let Some(&file_id) = self.pending.first() else {
            return Ok(());
        };
        let mut blocks = snapshot.blocks.iter();
        match blocks.find(|block| block.body.file_id == file_id && block.living > 0) {
            Some(block) => {
                let slots = block.alive.iter();
                store.hand_over(file_id.0, slots.map(|slot| (block.id(slot).0, slot)))?;
            }
            None => store.note_unnamed_file(file_id.0),
        }
        self.pending.remove(0);
        Ok(())
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
            Err(error) => {
                self.report_unwritten(&error);
                self.failed_at = newest_full;
            }
        }
    }

    /// Writes the full blocks that are in memory; returns whether there was one.
    fn write_blocks(&mut self, next: &mut SnapshotBuilder) -> Result<bool, FileError> {
        let mut written = false;
        for block in &mut next.snapshot.blocks {
            if block.len() == BLOCK_RECORDS && block.exact.is_without_file() {
                self.index_files.write_vectors(block)?;
                self.pending.push(block.body.file_id);
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
