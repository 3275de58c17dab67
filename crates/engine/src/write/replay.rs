//! Bringing a database to memory: what the store has beyond the saved snapshot.

use std::ops::ControlFlow;

use crate::columns::{BLOCK_RECORDS, ColumnNames};
use crate::error::Error;
use crate::record::{RecordId, RecordRow, RecordUuid};
use crate::snapshot::{NewRow, Published, Times};
use crate::store::{Store, StoreError, StoredRecord, Tally};
use crate::write::parsing::parse_data;
use crate::write::snapshot_builder::{Memory, SnapshotBuilder};

/// Applies the commits after the published snapshot, up to the last one of `store`. Returns the records that it read.
pub(crate) fn replay(
    memory: &mut Memory,
    store: &Store,
    published: &mut Published,
    progress: &dyn Fn(usize) -> bool,
) -> Result<Tally, Error> {
    let reader = store.reader();
    let since = published.snapshot.version;
    let mut deleted = Vec::new();
    reader.deleted_since(since, |id| deleted.push(RecordId(id)))?;
    let names = (*published.snapshot.names).clone();

    let mut replay = Replay {
        memory,
        published,
        names,
        rows: Vec::new(),
        version: store.version(),
        tally: Tally::default(),
    };
    replay.mark_deleted(&deleted);
    let mut failed = None;
    reader.load(since, |record| match replay.take(&record) {
        Ok(()) if progress(replay.loaded()) => ControlFlow::Continue(()),
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
    let tally = replay.tally;
    Ok(tally)
}

struct Replay<'a> {
    memory: &'a mut Memory,
    published: &'a mut Published,
    names: ColumnNames,
    rows: Vec<NewRow>,
    version: u64,
    tally: Tally,
}

impl Replay<'_> {
    fn loaded(&self) -> usize {
        self.rows.len() + self.published.snapshot.records()
    }

    /// Forgets records that were deleted after the snapshot; one that came back follows as a row.
    fn mark_deleted(&mut self, ids: &[RecordId]) {
        let gone: Vec<RecordRow> = {
            let published = &*self.published;
            let row = |id: &RecordId| published.index.find_id(&published.snapshot, *id);
            let mut gone: Vec<RecordRow> = ids.iter().filter_map(row).collect();
            // The feed may tell of one record's deletion twice.
            gone.sort_unstable();
            gone.dedup();
            gone
        };
        let mut next = SnapshotBuilder::of(&self.published.snapshot);
        self.memory.apply(
            &mut next,
            self.names.clone(),
            self.version,
            Vec::new(),
            &[],
            gone,
        );
        next.publish(self.published);
    }

    fn take(&mut self, record: &StoredRecord<'_>) -> Result<(), Error> {
        let data = parse_data(record.data).map_err(|_| StoreError::Damaged { id: record.id })?;
        let cells = data
            .cells()
            .iter()
            .map(|(name, value)| (self.names.insert(name), value.clone()))
            .collect();
        self.tally.add(&record.into());
        self.rows.push(NewRow {
            id: RecordId(record.id),
            uuid: RecordUuid(record.uuid),
            times: Times {
                created: record.created,
                changed: record.changed,
                synced: record.synced,
            },
            cells,
            vector: self.memory.stored_vector(&data, record.vector),
        });
        if self.rows.len() == BLOCK_RECORDS {
            self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let gone = {
            let published = &*self.published;
            let row = |row: &NewRow| published.index.find_id(&published.snapshot, row.id);
            rows.iter().filter_map(row).collect()
        };
        let mut next = SnapshotBuilder::of(&self.published.snapshot);
        self.memory
            .apply(&mut next, self.names.clone(), self.version, rows, &[], gone);
        self.memory.tidy(&mut next);
        next.publish(self.published);
    }
}
