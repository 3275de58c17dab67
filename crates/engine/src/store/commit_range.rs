//! Reads of consecutive commits, to copy them into another store.

use std::ops::ControlFlow;

use rusqlite::{Connection, Transaction};

use crate::record::passage_count;
use crate::store::change::{Change, ChangeKind, read_changes};
use crate::store::error::StoreError;
use crate::store::generations::Generations;
use crate::store::header::Header;
use crate::store::meta::{Mark, clock_of, marks_of, removed_of, write_marks, write_removed};
use crate::store::reader::Reader;
use crate::store::state::state_of;
use crate::store::stored_record::{COLUMNS, JOINS, StoredRecord, VectorsRead, read};

/// Changes in a range before it ends with the commit they belong to: they are held in memory.
const MAX_CHANGES: u64 = 16_384;

/// Bytes of former data in the changes of a range before it ends, because they are held in memory too.
const MAX_CHANGE_BYTES: u64 = 16 << 20;

/// Bytes of the data and the vectors of the records in a range before it ends, because long records have thousands of
/// vectors.
const MAX_RECORD_BYTES: u64 = 8 << 20;

/// Bytes of a vector of many dimensions, because those of vectors in files are not known before they are read.
const VECTOR_BYTES: i64 = 4096;

/// Some consecutive commits: their entries in the change feed, without the records.
#[derive(Debug)]
pub(crate) struct CommitRange {
    /// The last of the commits.
    pub(super) version: u64,
    pub(super) next_id: u64,
    pub(super) changes: Vec<Change>,
    pub(super) feed: FeedMeta,
    pub(super) clock: i64,
    /// Whether no commit followed when the range was read.
    pub(crate) last: bool,
}

/// All that a store keeps about its feed apart from the changes, for a store that copies its commits.
#[derive(Debug)]
pub(super) struct FeedMeta {
    removed: u64,
    marks: Vec<Mark>,
    generations: Generations,
}

impl FeedMeta {
    pub(super) fn read(connection: &Connection) -> Result<Self, StoreError> {
        Ok(Self {
            removed: removed_of(connection)?,
            marks: marks_of(connection)?,
            generations: Generations::read(connection)?,
        })
    }

    pub(super) fn write(&self, connection: &Connection) -> Result<(), StoreError> {
        write_removed(connection, self.removed)?;
        write_marks(connection, &self.marks)?;
        self.generations.copy_to(connection)
    }
}

/// A record that a commit of a range wrote or touched, as another store stores it.
#[derive(Debug)]
pub(crate) struct CopiedRecord {
    pub(crate) header: Header,
    pub(crate) key: Option<String>,
    /// JSON text of an object.
    pub(crate) data: Vec<u8>,
}

impl CommitRange {
    /// Ids of the records that the commits deleted; some may have been created again.
    pub(crate) fn deleted(&self) -> impl Iterator<Item = u64> {
        let deletions = self.changes.iter();
        deletions
            .filter(|change| change.kind == ChangeKind::Deleted)
            .map(|change| change.id)
    }
}

impl Reader {
    /// Reads whole commits after commit `version`, whose last change is at `position`: about `limit` records, and at least
    /// one commit where there is one. Gives each record that no later commit wrote or touched to `each`.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] at the first record whose checksum fails.
    pub(crate) fn commit_range(
        &self,
        version: u64,
        position: u64,
        limit: u64,
        mut each: impl FnMut(StoredRecord<'_>) -> ControlFlow<()>,
    ) -> Result<CommitRange, StoreError> {
        self.read(|transaction| {
            let end = state_of(transaction)?;
            let by_records = last_by_records(transaction, version, limit, end.version)?;
            let last = by_records.min(last_by_changes(transaction, position, end.version)?);
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM records r INDEXED BY versions {JOINS}
                 WHERE r.version > ?1 AND r.version <= ?2"
            ))?;
            let mut rows = statement.query((version.cast_signed(), last.cast_signed()))?;
            let mut vectors = VectorsRead::default();
            while let Some(row) = rows.next()? {
                if each(read(row, self.vector_files(), &mut vectors)?).is_break() {
                    break;
                }
            }
            Ok(CommitRange {
                version: last,
                next_id: end.next_id,
                feed: FeedMeta::read(transaction)?,
                clock: clock_of(transaction)?,
                changes: read_changes(
                    transaction,
                    "position > ?1 AND version <= ?2 ORDER BY position",
                    (position.cast_signed(), last.cast_signed()),
                )?,
                last: last == end.version,
            })
        })
    }
}

/// The commit with which a range after `version` ends because of its records; `end` when they are few.
fn last_by_records(
    transaction: &Transaction<'_>,
    version: u64,
    limit: u64,
    end: u64,
) -> Result<u64, StoreError> {
    let mut statement = transaction.prepare_cached(
        "SELECT r.version, ifnull(length(c.data), 0), c.passages, length(v.vector)
         FROM records r INDEXED BY versions LEFT JOIN contents c ON c.id = r.id
         LEFT JOIN vectors v ON v.id = r.id WHERE r.version > ?1 ORDER BY r.version",
    )?;
    let mut rows = statement.query([version.cast_signed()])?;
    let (mut records, mut bytes) = (0, 0);
    while let Some(row) = rows.next()? {
        records += 1;
        let passages = row.get_ref(2)?.as_blob_or_null();
        let passages = passages.map_err(rusqlite::Error::from)?;
        let in_file = passages.map_or(1, passage_count) as i64 * VECTOR_BYTES;
        let vectors = row.get::<_, Option<i64>>(3)?.unwrap_or(in_file);
        bytes += (row.get::<_, i64>(1)? + vectors).cast_unsigned();
        if records >= limit || bytes >= MAX_RECORD_BYTES {
            return Ok(row.get::<_, i64>(0)?.cast_unsigned());
        }
    }
    Ok(end)
}

/// The commit with which a range after `position` ends because of its changes; `end` when they are few.
fn last_by_changes(
    transaction: &Transaction<'_>,
    position: u64,
    end: u64,
) -> Result<u64, StoreError> {
    let mut statement = transaction.prepare_cached(
        "SELECT version, ifnull(length(data), 0) FROM changes WHERE position > ?1 ORDER BY position",
    )?;
    let mut rows = statement.query([position.cast_signed()])?;
    let (mut changes, mut bytes) = (0, 0);
    while let Some(row) = rows.next()? {
        changes += 1;
        bytes += row.get::<_, i64>(1)?.cast_unsigned();
        if changes >= MAX_CHANGES || bytes >= MAX_CHANGE_BYTES {
            return Ok(row.get::<_, i64>(0)?.cast_unsigned());
        }
    }
    Ok(end)
}
