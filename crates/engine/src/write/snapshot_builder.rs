//! The next snapshot while the writer builds it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::background::JobResult;
use crate::columns::{BLOCK_RECORDS, ColumnNames};
use crate::lexical::WordColumns;
use crate::record::RecordRow;
use crate::snapshot::{Block, Coding, NewRow, Published, Snapshot};

/// A changed copy of a snapshot. Its blocks are shared with the original until they change.
pub(crate) struct SnapshotBuilder {
    pub(super) snapshot: Snapshot,
    /// Rows to add to the identity index.
    added: Vec<RecordRow>,
    /// Rows of the original snapshot that were moved or deleted.
    removed: Vec<RecordRow>,
    /// Whether the copy differs from the original.
    pub(super) changed: bool,
}

/// What a commit changes in memory.
pub(crate) struct CommitChanges {
    pub(crate) version: u64,
    pub(crate) names: ColumnNames,
    pub(crate) rows: Vec<NewRow>,
    /// Rows whose records were only synced, with the time.
    pub(crate) touched: Vec<(RecordRow, i64)>,
    /// Rows that are deleted, or replaced by a row of `rows`.
    pub(crate) removed: Vec<RecordRow>,
}

impl SnapshotBuilder {
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        Self {
            snapshot: snapshot.clone(),
            added: Vec::new(),
            removed: Vec::new(),
            changed: false,
        }
    }

    /// Whether the snapshot differs from the original.
    pub(crate) fn is_changed(&self) -> bool {
        self.changed
    }

    /// Sets the columns whose words are indexed, and begins new indexes. Earlier snapshots keep theirs.
    pub(crate) fn set_word_columns(&mut self, words: WordColumns) {
        self.snapshot.words = Arc::new(words);
        for block in &mut self.snapshot.blocks {
            block.words = Arc::default();
        }
        self.changed = true;
    }

    /// Publishes the snapshot to readers.
    pub(crate) fn publish(self, published: &mut Published) {
        let snapshot = Arc::new(self.snapshot);
        let Published {
            snapshot: current,
            index,
        } = published;
        // Replaced rows too: the next snapshot may no longer have their block, in which the index would look up their
        // identities.
        for row in self.removed {
            // A row that was added and removed since the original was never in the index.
            if current.locate(row).is_some() {
                index.remove(current, row);
            }
        }
        for row in self.added {
            index.insert(&snapshot, row);
        }
        *current = snapshot;
    }

    /// Applies a commit; new blocks get codes by `coding`.
    pub(crate) fn apply_commit(&mut self, changes: CommitChanges, coding: &Coding) {
        let CommitChanges {
            version,
            names,
            rows,
            touched,
            removed,
        } = changes;
        self.changed = true;
        self.snapshot.version = version;
        if names.len() != self.snapshot.names.len() {
            self.snapshot.names = Arc::new(names);
        }
        let mut by_block: BTreeMap<usize, Vec<(usize, i64)>> = BTreeMap::new();
        for (row, synced) in touched {
            if let Some((at, slot)) = self.snapshot.locate(row) {
                by_block.entry(at).or_default().push((slot, synced));
            }
        }
        for (at, times) in by_block {
            self.snapshot.blocks[at].touch(&times);
        }
        for row in removed {
            if let Some((at, slot)) = self.snapshot.locate(row) {
                self.snapshot.blocks[at].mark_deleted(slot);
                self.removed.push(row);
            }
        }
        self.append(&rows, coding);
    }

    /// Applies what background jobs made: a trained basis to `coding`, codes to the block that they belong to, if it
    /// is still there.
    pub(crate) fn apply_job_results(&mut self, results: Vec<JobResult>, coding: &mut Coding) {
        for result in results {
            match result {
                JobResult::Trained { basis, records } => {
                    coding.trained_at = records;
                    if let Some(basis) = basis {
                        coding.basis = basis;
                    }
                }
                JobResult::Recoded { body, coded } => {
                    let blocks = &mut self.snapshot.blocks;
                    if let Some(block) = blocks
                        .iter_mut()
                        .find(|block| Arc::ptr_eq(&block.body, &body))
                    {
                        block.coded = coded;
                        self.changed = true;
                    }
                }
            }
        }
    }

    /// Appends rows in blocks that do not cross a multiple of the block size.
    pub(crate) fn append(&mut self, rows: &[NewRow], coding: &Coding) {
        let mut rest = rows;
        while !rest.is_empty() {
            let room = BLOCK_RECORDS
                - self.growing().iter().map(Block::len).sum::<usize>() % BLOCK_RECORDS;
            let (chunk, later) = rest.split_at(room.min(rest.len()));
            rest = later;
            let first = self.snapshot.next_row();
            self.snapshot
                .blocks
                .push(Block::build(first, coding.dimensions, chunk, &coding.basis));
            self.added
                .extend((0..chunk.len() as u32).map(|at| RecordRow(first.0 + at)));
            self.merge_growing();
            self.changed = true;
        }
    }

    /// Marks all records of the block at `at` as deleted, because they were appended again.
    pub(super) fn mark_moved(&mut self, at: usize) {
        let block = &mut self.snapshot.blocks[at];
        self.removed
            .extend(block.alive.iter().map(|slot| block.row(slot)));
        (0..block.len()).for_each(|slot| block.mark_deleted(slot));
        self.changed = true;
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

    /// Joins neighbours of similar size, so that a record is copied about a dozen times until its block is full, and
    /// not thousands of times.
    fn merge_growing(&mut self) {
        loop {
            let growing = self.growing();
            let full = growing.iter().map(Block::len).sum::<usize>() == BLOCK_RECORDS;
            let [.., left, right] = growing else { return };
            // Neighbours that could not be joined earlier may have grown too large for one block.
            let fits =
                left.len() + right.len() <= BLOCK_RECORDS && left.row(left.len()) == right.first;
            if !fits || !(full || right.len() * 2 >= left.len()) {
                return;
            }
            // When the vector file cannot be read, the blocks stay apart. Their searches report the error.
            let Ok(joined) = Block::join(left, right) else {
                return;
            };
            let blocks = &mut self.snapshot.blocks;
            blocks.truncate(blocks.len() - 2);
            blocks.push(joined);
        }
    }
}
