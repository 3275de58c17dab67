//! The memory of a database as its writer changes it: from one snapshot to the next.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::background::{JobResult, Saved};
use crate::columns::{BLOCK_RECORDS, ColumnNames};
use crate::error::Error;
use crate::record::{Data, RecordRow};
use crate::runtime::{DatabaseEvents, EventCode};
use crate::settings::Settings;
use crate::snapshot::{
    Basis, Block, Coding, ExactVectors, IdentityIndex, IndexFiles, NewRow, Published,
    SavedSnapshot, Snapshot, VectorBuffer,
};
use crate::store::{Store, Tally};
use crate::write::replay::replay;

/// A full block is emptied once fewer of its records than this are alive.
const COMPACT_BELOW: usize = BLOCK_RECORDS / 2;

/// What the writer knows beside the snapshot.
pub(crate) struct Memory {
    settings: Settings,
    pub(crate) coding: Coding,
    index_files: Arc<IndexFiles>,
    events: DatabaseEvents,
    /// A full block that can't be written to its file is tried again when the next one is full.
    seal_failed: Option<RecordRow>,
}

/// The next snapshot in the making.
pub(crate) struct SnapshotBuilder {
    pub(crate) snapshot: Snapshot,
    /// Rows whose identities are to be found there.
    arrived: Vec<RecordRow>,
    /// Rows of the snapshot before whose identities are to be found elsewhere or nowhere.
    gone: Vec<RecordRow>,
    dirty: bool,
}

impl SnapshotBuilder {
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        Self {
            snapshot: snapshot.clone(),
            arrived: Vec::new(),
            gone: Vec::new(),
            dirty: false,
        }
    }

    /// Shows readers the next snapshot, if it differs.
    pub(crate) fn publish(self, published: &mut Published) {
        if !self.dirty {
            return;
        }
        let snapshot = Arc::new(self.snapshot);
        let Published {
            snapshot: current,
            index,
        } = published;
        // Replaced rows too: their block may be dropped from the next snapshot already, and the index must not
        // look for their identities there.
        for row in self.gone {
            // A row that came and went in between was never in the index.
            if current.locate(row).is_some() {
                index.remove(current, row);
            }
        }
        for row in self.arrived {
            index.insert(&snapshot, row);
        }
        *current = snapshot;
    }

    /// Adds rows at the end, in blocks that end where full blocks do.
    pub(crate) fn append(&mut self, rows: &[NewRow], dimensions: usize, basis: &Arc<Basis>) {
        let mut rest = rows;
        while !rest.is_empty() {
            let room = BLOCK_RECORDS
                - self.growing().iter().map(Block::len).sum::<usize>() % BLOCK_RECORDS;
            let (chunk, later) = rest.split_at(room.min(rest.len()));
            rest = later;
            let first = self.snapshot.next_row();
            self.snapshot
                .blocks
                .push(Block::build(first, dimensions, chunk, basis));
            self.arrived
                .extend((0..chunk.len() as u32).map(|at| RecordRow(first.0 + at)));
            self.merge_growing();
            self.dirty = true;
        }
    }

    /// The blocks at the end that are not full yet.
    fn growing(&self) -> &[Block] {
        let blocks = &self.snapshot.blocks;
        let count = blocks
            .iter()
            .rev()
            .take_while(|block| block.len() < BLOCK_RECORDS)
            .count();
        &blocks[blocks.len() - count..]
    }

    /// Joins neighbours of like size, so that a block is copied a dozen times until it is full, not thousands.
    fn merge_growing(&mut self) {
        loop {
            let growing = self.growing();
            let full = growing.iter().map(Block::len).sum::<usize>() == BLOCK_RECORDS;
            let [.., left, right] = growing else { return };
            // Neighbours that could not be joined before may be too much for one block by now.
            let fits =
                left.len() + right.len() <= BLOCK_RECORDS && left.row(left.len()) == right.first;
            if !fits || !(full || right.len() * 2 >= left.len()) {
                return;
            }
            // An unreadable vector file leaves the blocks apart: their searches will say what is wrong.
            let Ok(joined) = Block::join(left, right) else {
                return;
            };
            let blocks = &mut self.snapshot.blocks;
            blocks.truncate(blocks.len() - 2);
            blocks.push(joined);
        }
    }
}

impl Memory {
    pub(crate) fn new(
        settings: Settings,
        index_files: Arc<IndexFiles>,
        events: DatabaseEvents,
    ) -> Self {
        let dimensions = settings.dimensions;
        Self {
            settings,
            coding: Coding::untrained(dimensions),
            index_files,
            events,
            seal_failed: None,
        }
    }

    /// Brings back the saved snapshot, then reads from the store what was committed after it. Returns how far the saved
    /// snapshot reaches and what was read after it, where one was used.
    ///
    /// Files that do not belong to the history of the store, or whose records are not as many as the store counts, are
    /// removed; then everything is read from the store, which checks it completely.
    ///
    /// # Errors
    /// [`Error::Store`] when the store is damaged, [`Error::Closed`] when `progress` ends it.
    pub(crate) fn load(
        &mut self,
        store: &Store,
        progress: &dyn Fn(usize) -> bool,
    ) -> Result<(Published, Option<(Saved, Tally)>), Error> {
        if let Some(loaded) = self.load_saved(store) {
            let saved = Saved::of(&loaded.snapshot, loaded.stamp);
            if let Some(basis) = loaded.basis {
                // Without a rotation there may have been too few records, or no time, to learn one.
                self.coding.trained_at = if basis.is_rotated() {
                    loaded.snapshot.records()
                } else {
                    0
                };
                self.coding.basis = basis;
            }
            let (published, replayed) = self.replay(loaded.snapshot, store, progress)?;
            let records = published.snapshot.records();
            if records as u64 == store.records() {
                return Ok((published, Some((saved, replayed))));
            }
            let counted = store.records();
            let text = format!("they lead to {records} records, but the store counts {counted}");
            self.events.emit(EventCode::IndexFilesRebuilt, text);
            self.coding = Coding::untrained(self.coding.dimensions);
        }
        self.index_files.clear();
        let (published, _) = self.replay(Snapshot::empty(), store, progress)?;
        Ok((published, None))
    }

    fn load_saved(&self, store: &Store) -> Option<SavedSnapshot> {
        if store.restored().is_some() {
            return None;
        }
        let removed = self.index_files.remove_temporary_files();
        if !removed.is_empty() {
            self.events
                .emit(EventCode::TemporaryFilesRemoved, removed.join(", "));
        }
        match self.index_files.load(store) {
            Ok(loaded) => Some(loaded),
            Err(unusable) => {
                if !unusable.is_nothing_saved() {
                    let text = unusable.to_string();
                    self.events.emit(EventCode::IndexFilesRebuilt, text);
                }
                None
            }
        }
    }

    fn replay(
        &mut self,
        snapshot: Snapshot,
        store: &Store,
        progress: &dyn Fn(usize) -> bool,
    ) -> Result<(Published, Tally), Error> {
        let mut published = Published {
            index: IdentityIndex::of(&snapshot),
            snapshot: Arc::new(snapshot),
        };
        progress(published.snapshot.records());
        let replayed = replay(self, store, &mut published, progress)?;
        self.index_files.measure();
        Ok((published, replayed))
    }

    /// The vector of a stored record. Records without text were once stored with the vector of an empty text.
    pub(crate) fn stored_vector(&self, data: &Data, vector: &[i32]) -> Vec<i32> {
        if self.settings.has_vector(data) {
            vector.to_vec()
        } else {
            vec![0; vector.len()]
        }
    }

    /// Applies a commit.
    pub(crate) fn apply(
        &self,
        next: &mut SnapshotBuilder,
        names: ColumnNames,
        version: u64,
        rows: Vec<NewRow>,
        touches: &[(RecordRow, i64)],
        gone: Vec<RecordRow>,
    ) {
        next.dirty = true;
        next.snapshot.version = version;
        if names.len() != next.snapshot.names.len() {
            next.snapshot.names = Arc::new(names);
        }
        let mut by_block: BTreeMap<usize, Vec<(usize, i64)>> = BTreeMap::new();
        for &(row, synced) in touches {
            if let Some((at, slot)) = next.snapshot.locate(row) {
                by_block.entry(at).or_default().push((slot, synced));
            }
        }
        for (at, moved) in by_block {
            next.snapshot.blocks[at].touch(&moved);
        }
        for row in gone {
            if let Some((at, slot)) = next.snapshot.locate(row) {
                next.snapshot.blocks[at].mark_deleted(slot);
                next.gone.push(row);
            }
        }
        next.append(&rows, self.coding.dimensions, &self.coding.basis);
    }

    /// Takes over what background jobs made, where it still fits.
    pub(crate) fn take_over(&mut self, next: &mut SnapshotBuilder, handed: Vec<JobResult>) {
        for handed in handed {
            match handed {
                JobResult::Trained { basis, records } => {
                    self.coding.trained_at = records;
                    if let Some(basis) = basis {
                        self.coding.basis = basis;
                    }
                }
                JobResult::Recoded { body, coded } => {
                    let blocks = &mut next.snapshot.blocks;
                    if let Some(block) = blocks
                        .iter_mut()
                        .find(|block| Arc::ptr_eq(&block.body, &body))
                    {
                        block.coded = coded;
                        next.dirty = true;
                    }
                }
            }
        }
    }

    /// Drops empty blocks, writes full ones to their files, empties one with few living records.
    ///
    /// True when it emptied one: there may be more, which the caller sees to after the writes that wait.
    pub(crate) fn tidy(&mut self, next: &mut SnapshotBuilder) -> bool {
        let before = next.snapshot.blocks.len();
        let next_row = next.snapshot.next_row();
        // Blocks that still grow stay, so that they remain neighbours and can be joined. The last one stays, so that
        // no row is given twice: a deletion knows by its row that a record is the one it has tested.
        next.snapshot.blocks.retain(|block| {
            block.living > 0 || block.len() < BLOCK_RECORDS || block.row(block.len()) == next_row
        });
        next.dirty |= next.snapshot.blocks.len() != before;
        self.seal(next);
        self.compact(next)
    }

    fn seal(&mut self, next: &mut SnapshotBuilder) {
        let newest_full = next
            .snapshot
            .blocks
            .iter()
            .rev()
            .find(|block| block.len() == BLOCK_RECORDS);
        let newest_full = newest_full.map(|block| block.first);
        if self.seal_failed.is_some() && self.seal_failed == newest_full {
            return;
        }
        let mut written = false;
        for block in &mut next.snapshot.blocks {
            if block.len() == BLOCK_RECORDS && matches!(*block.exact, ExactVectors::Memory(_)) {
                match self.index_files.write_rows(block) {
                    Ok(rows) => {
                        block.exact = Arc::new(ExactVectors::File(rows));
                        next.dirty = true;
                        written = true;
                    }
                    Err(unusable) => {
                        let text =
                            format!("a full block could not be written to its file: {unusable}");
                        self.events.emit(EventCode::JobFailed, text);
                        self.seal_failed = newest_full;
                        return;
                    }
                }
            }
        }
        self.seal_failed = None;
        if written {
            self.index_files.measure();
        }
    }

    /// Moves the living records of one mostly dead block to the end. False when there is none.
    fn compact(&self, next: &mut SnapshotBuilder) -> bool {
        let sparse = |block: &&mut Block| {
            block.len() == BLOCK_RECORDS
                && (1..COMPACT_BELOW).contains(&block.living)
                && matches!(*block.exact, ExactVectors::File(_))
        };
        let Some(block) = next.snapshot.blocks.iter_mut().find(sparse) else {
            return false;
        };
        let mut buffer = VectorBuffer::default();
        let living: Result<Vec<NewRow>, _> = block
            .alive
            .iter()
            .map(|slot| block.take(slot, &mut buffer))
            .collect();
        // An unreadable vector file leaves the block as it is: its searches will say what is wrong.
        let Ok(rows) = living else { return false };
        next.gone
            .extend(block.alive.iter().map(|slot| block.row(slot)));
        (0..block.len()).for_each(|slot| block.mark_deleted(slot));
        next.append(&rows, self.coding.dimensions, &self.coding.basis);
        true
    }
}
