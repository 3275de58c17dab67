//! Applies the commits that a snapshot lacks, as they are in the store.

use std::ops::ControlFlow;

use crate::columns::{BLOCK_RECORDS, ColumnNames};
use crate::error::Error;
use crate::record::{RecordId, RecordRow};
use crate::snapshot::{Coding, NewRow, Published, Snapshot};
use crate::store::{Moment, StoreError, StoredRecord, Tally};
use crate::write::block_maintenance::BlockMaintenance;
use crate::write::parsing::parse_data;
use crate::write::snapshot_builder::{CommitChanges, SnapshotBuilder};

/// Applies the commits after `snapshot`, up to that of `moment`. Returns the records that it read.
/// Without `blocks`, no file is written, and full blocks stay in memory.
///
/// # Errors
/// [`Error::Store`]; [`Error::Closed`] when `progress`, which gets the number of records so far, returns false.
pub(crate) fn replay(
    coding: &Coding,
    blocks: Option<&mut BlockMaintenance>,
    snapshot: Snapshot,
    moment: &Moment<'_>,
    progress: &dyn Fn(usize) -> bool,
) -> Result<(Published, Tally), Error> {
    let since = snapshot.version;
    let mut deleted = Vec::new();
    // Without a snapshot, there is nothing to delete from.
    if since > 0 {
        moment.deleted_since(since, |id| deleted.push(RecordId(id)))?;
    }

    let mut replay = Replay {
        coding,
        blocks,
        names: (*snapshot.names).clone(),
        published: Published::of(snapshot),
        rows: Vec::new(),
        version: moment.version()?,
        tally: Tally::default(),
    };
    progress(replay.records());
    replay.mark_deleted(&deleted);
    let mut failed = None;
    moment.load(since, |record| match replay.add(&record) {
        Ok(()) if progress(replay.records()) => ControlFlow::Continue(()),
        Ok(()) => {
            failed = Some(Error::Closed);
            ControlFlow::Break(())
        }
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    replay.flush();
    Ok((replay.published, replay.tally))
}

/// A record of the store as it enters memory. Its columns are added to `names`.
///
/// # Errors
/// [`StoreError::Damaged`].
pub(super) fn stored_row(
    record: &StoredRecord<'_>,
    names: &mut ColumnNames,
) -> Result<NewRow, StoreError> {
    let header = &record.header;
    let data = parse_data(record.data).map_err(|_| StoreError::Damaged { id: header.id })?;
    Ok(NewRow::stored(
        header,
        record.key,
        &data,
        names,
        record.vectors()?,
    ))
}

struct Replay<'a> {
    coding: &'a Coding,
    blocks: Option<&'a mut BlockMaintenance>,
    published: Published,
    names: ColumnNames,
    /// Rows that are not in `published` yet, fewer than a block.
    rows: Vec<NewRow>,
    version: u64,
    tally: Tally,
}

impl Replay<'_> {
    fn records(&self) -> usize {
        self.rows.len() + self.published.snapshot.records()
    }

    /// Removes records that were deleted after the snapshot. A record that was created again follows as a row.
    fn mark_deleted(&mut self, ids: &[RecordId]) {
        let Published { snapshot, index } = &self.published;
        let rows = ids.iter().filter_map(|id| index.find_id(snapshot, *id));
        let mut removed: Vec<RecordRow> = rows.collect();
        // The feed may have two deletions of one record.
        removed.sort_unstable();
        removed.dedup();
        let next = self.apply(Vec::new(), removed);
        next.publish(&mut self.published);
    }

    fn add(&mut self, record: &StoredRecord<'_>) -> Result<(), Error> {
        self.tally.add(&record.header);
        self.rows.push(stored_row(record, &mut self.names)?);
        if self.rows.len() == BLOCK_RECORDS {
            self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let Published { snapshot, index } = &self.published;
        let replaced = rows
            .iter()
            .filter_map(|row| index.find_id(snapshot, row.id));
        let replaced = replaced.collect();
        let mut next = self.apply(rows, replaced);
        if let Some(blocks) = &mut self.blocks {
            blocks.run(&mut next, self.coding);
        }
        next.publish(&mut self.published);
    }

    fn apply(&self, rows: Vec<NewRow>, removed: Vec<RecordRow>) -> SnapshotBuilder {
        let mut next = SnapshotBuilder::of(&self.published.snapshot);
        let changes = CommitChanges {
            version: self.version,
            names: self.names.clone(),
            rows,
            touched: Vec::new(),
            removed,
        };
        next.apply_commit(changes, self.coding);
        next
    }
}
