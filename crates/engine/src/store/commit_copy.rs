//! Commits of one store written again into another that follows it, such as one with other vectors.

use std::ops::ControlFlow;

use rusqlite::{OptionalExtension, Transaction};

use crate::store::reader::read_changes;
use crate::store::retention::RetentionMeta;
use crate::store::row::{self, COLUMNS, Checked, encode_vector};
use crate::store::state::{RecordRow, STATE, Tally, state_of};
use crate::store::write::one;
use crate::store::writer::write_meta;
use crate::store::{Change, ChangeKind, Reader, State, Store, StoreError, StoredRecord};

/// Changes of a stretch before it ends with the commit they belong to: they are held in memory.
const MAX_CHANGES: u64 = 16_384;

/// Bytes of former data of these changes, likewise.
const MAX_CHANGE_BYTES: u64 = 16 << 20;

/// What some consecutive commits left behind, as it is now: records, and their entries in the feed.
#[derive(Debug)]
pub(crate) struct CommitRange {
    /// The last of the commits: a store that takes the stretch is up to it.
    version: u64,
    next_id: u64,
    changes: Vec<Change>,
    retention: RetentionMeta,
    /// Whether no commit came after, when it was read.
    pub(crate) last: bool,
}

/// A record of a stretch, as it is to be stored.
#[derive(Debug)]
pub(crate) struct CopiedRecord {
    pub(crate) id: u64,
    pub(crate) uuid: [u8; 16],
    pub(crate) hash: [u8; 16],
    pub(crate) created: i64,
    pub(crate) changed: i64,
    pub(crate) synced: i64,
    pub(crate) version: u64,
    /// JSON text of an object.
    pub(crate) data: Vec<u8>,
}

impl CommitRange {
    #[cfg(test)]
    pub(super) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Ids of records that its commits deleted; some may be there again.
    pub(crate) fn deleted(&self) -> impl Iterator<Item = u64> {
        let deletions = self.changes.iter();
        deletions
            .filter(|change| change.kind == ChangeKind::Deleted)
            .map(|change| change.id)
    }
}

impl Reader {
    /// Reads whole commits after `version`, of which `position` is the last change: about `limit` records, at least
    /// one commit where there is one. Gives each record that is still as one of them left it to `each`.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] at the first record whose checksum fails.
    pub(crate) fn stretch(
        &self,
        version: u64,
        position: u64,
        limit: u64,
        mut each: impl FnMut(StoredRecord<'_>) -> ControlFlow<()>,
    ) -> Result<CommitRange, StoreError> {
        self.read(|transaction| {
            let end = state_of(transaction)?;
            let by_records = transaction
                .prepare_cached(
                    "SELECT version FROM records INDEXED BY versions WHERE version > ?1
                     ORDER BY version LIMIT 1 OFFSET ?2",
                )?
                .query_row((version.cast_signed(), (limit - 1).cast_signed()), |row| {
                    row.get::<_, i64>(0)
                })
                .optional()?
                .map_or(end.version, i64::cast_unsigned);
            let last = by_records.min(last_by_changes(transaction, position, end.version)?);
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM records r INDEXED BY versions LEFT JOIN contents c ON c.id = r.id
                 WHERE r.version > ?1 AND r.version <= ?2"
            ))?;
            let mut rows = statement.query((version.cast_signed(), last.cast_signed()))?;
            let mut vector = Vec::new();
            while let Some(row) = rows.next()? {
                if each(row::read(row, &mut vector)?).is_break() {
                    break;
                }
            }
            Ok(CommitRange {
                version: last,
                next_id: end.next_id,
                retention: RetentionMeta::read(transaction)?,
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

/// The commit with which a stretch after `position` ends because of its changes; `end` when they are few.
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

impl Store {
    /// Writes a stretch that begins where this store ends, or nothing; it is durable when it returns. A record
    /// without a vector keeps the one that is here. Returns by how many records there are more now.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn carry(
        &mut self,
        stretch: &CommitRange,
        records: &[(CopiedRecord, Option<Vec<i32>>)],
    ) -> Result<i64, StoreError> {
        let before = self.standing.state;
        self.standing.state = self.write(|transaction| {
            let mut tally = before.tally;
            for change in &stretch.changes {
                log(transaction, change)?;
                if change.kind == ChangeKind::Deleted {
                    delete(transaction, change.id, &mut tally)?;
                }
            }
            for (record, vector) in records {
                put(transaction, record, vector.as_deref(), &mut tally)?;
            }
            let last = stretch.changes.last();
            let state = State {
                version: stretch.version,
                position: last.map_or(before.position, |change| change.position),
                next_id: stretch.next_id,
                tally,
            };
            write_meta(transaction, STATE, &state.to_bytes())?;
            stretch.retention.write(transaction)?;
            Ok(state)
        })?;
        self.committed();
        let (before, after) = (before.tally.records, self.standing.state.tally.records);
        Ok(after.cast_signed() - before.cast_signed())
    }
}

fn log(transaction: &Transaction<'_>, change: &Change) -> Result<(), StoreError> {
    transaction
        .prepare_cached(
            "INSERT INTO changes (position, version, id, uuid, kind, at, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute((
            change.position.cast_signed(),
            change.version.cast_signed(),
            change.id.cast_signed(),
            change.uuid,
            change.kind,
            change.at,
            &change.data,
        ))?;
    Ok(())
}

/// Deletes a record, if it is there: it may have come and gone within the stretch.
fn delete(transaction: &Transaction<'_>, id: u64, tally: &mut Tally) -> Result<(), StoreError> {
    let Some(row) = RecordRow::find(transaction, id)? else {
        return Ok(());
    };
    tally.remove(&row);
    for sql in [
        "DELETE FROM contents WHERE id = ?1",
        "DELETE FROM records WHERE id = ?1",
    ] {
        transaction
            .prepare_cached(sql)?
            .execute([id.cast_signed()])?;
    }
    Ok(())
}

fn put(
    transaction: &Transaction<'_>,
    record: &CopiedRecord,
    vector: Option<&[i32]>,
    tally: &mut Tally,
) -> Result<(), StoreError> {
    if let Some(row) = RecordRow::find(transaction, record.id)? {
        tally.remove(&row);
    }
    tally.add(&RecordRow {
        id: record.id,
        uuid: record.uuid,
        hash: record.hash,
        created: record.created,
        changed: record.changed,
        synced: record.synced,
        version: record.version,
    });
    let &CopiedRecord {
        id,
        uuid,
        hash,
        created,
        changed,
        synced,
        version,
        ref data,
    } = record;
    let (rowid, version) = (id.cast_signed(), version.cast_signed());
    let row = (rowid, uuid, hash, created, changed, synced, version);
    let mut bytes = Vec::new();
    match vector {
        Some(vector) => encode_vector(vector, &mut bytes),
        None => {
            // Most often it was only touched: then its content need not be written again.
            let touched = transaction
                .prepare_cached(
                    "UPDATE records SET synced = ?6, version = ?7
                     WHERE id = ?1 AND uuid = ?2 AND hash = ?3 AND created = ?4 AND changed = ?5",
                )?
                .execute(row)?;
            if touched == 1 {
                return Ok(());
            }
            bytes = transaction
                .prepare_cached("SELECT vector FROM contents WHERE id = ?1")?
                .query_row([rowid], |row| row.get(0))
                .optional()?
                .ok_or(StoreError::Damaged { id })?;
        }
    }
    let checked = Checked {
        id,
        uuid: &uuid,
        hash: &hash,
        created,
        changed,
        data,
        vector: &bytes,
    };
    let content = (rowid, data, &bytes, checked.crc());
    let added = transaction
        .prepare_cached(
            "INSERT INTO records (id, uuid, hash, created, changed, synced, version)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
        )?
        .execute(row)?;
    if added == 0 {
        one(
            transaction
                .prepare_cached(
                    "UPDATE records SET hash = ?3, created = ?4, changed = ?5, synced = ?6, version = ?7
                     WHERE id = ?1 AND uuid = ?2",
                )?
                .execute(row)?,
            StoreError::Missing { id },
        )?;
    }
    transaction
        .prepare_cached(
            "INSERT INTO contents (id, data, vector, crc) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET data = excluded.data, vector = excluded.vector, crc = excluded.crc",
        )?
        .execute(content)?;
    Ok(())
}
