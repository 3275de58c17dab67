//! A row of the table `records`: all of a record but its content.

use rusqlite::{Connection, OptionalExtension, Row};

use crate::store::error::StoreError;
use crate::store::stored_record::StoredRecord;

/// A row of `records`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordRow {
    pub(super) id: u64,
    pub(super) uuid: [u8; 16],
    pub(super) hash: [u8; 16],
    pub(super) created: i64,
    pub(super) changed: i64,
    pub(super) synced: i64,
    pub(super) version: u64,
}

impl RecordRow {
    /// The columns [`RecordRow::read`] takes, in its order.
    pub(super) const COLUMNS: &str = "id, uuid, hash, created, changed, synced, version";

    /// The row of `id`.
    ///
    /// # Errors
    /// [`StoreError::Missing`].
    pub(super) fn stored(connection: &Connection, id: u64) -> Result<Self, StoreError> {
        Self::find(connection, id)?.ok_or(StoreError::Missing { id })
    }

    /// The row of `id`, if there is one.
    pub(super) fn find(connection: &Connection, id: u64) -> Result<Option<Self>, StoreError> {
        Ok(connection
            .prepare_cached(&format!(
                "SELECT {} FROM records WHERE id = ?1",
                Self::COLUMNS
            ))?
            .query_row([id.cast_signed()], Self::read)
            .optional()?)
    }

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get::<_, i64>(0)?.cast_unsigned(),
            uuid: row.get(1)?,
            hash: row.get(2)?,
            created: row.get(3)?,
            changed: row.get(4)?,
            synced: row.get(5)?,
            version: row.get::<_, i64>(6)?.cast_unsigned(),
        })
    }

    /// What memory holds of the row: not its hash, and not its version.
    pub(super) fn in_memory(&self) -> Self {
        Self::of_memory(
            self.id,
            self.uuid,
            [self.created, self.changed, self.synced],
        )
    }

    /// A row as memory holds it; `times` are *created*, *changed* and *synced*.
    pub(crate) fn of_memory(id: u64, uuid: [u8; 16], times: [i64; 3]) -> Self {
        let [created, changed, synced] = times;
        Self {
            id,
            uuid,
            hash: [0; 16],
            created,
            changed,
            synced,
            version: 0,
        }
    }

    /// The first 16 bytes of BLAKE3 over the row, integers as eight little-endian bytes.
    pub(super) fn digest(&self) -> u128 {
        let mut row = [0; 72];
        row[..8].copy_from_slice(&self.id.to_le_bytes());
        row[8..24].copy_from_slice(&self.uuid);
        row[24..40].copy_from_slice(&self.hash);
        row[40..48].copy_from_slice(&self.created.to_le_bytes());
        row[48..56].copy_from_slice(&self.changed.to_le_bytes());
        row[56..64].copy_from_slice(&self.synced.to_le_bytes());
        row[64..72].copy_from_slice(&self.version.to_le_bytes());
        let mut digest = [0; 16];
        digest.copy_from_slice(&blake3::hash(&row).as_bytes()[..16]);
        u128::from_le_bytes(digest)
    }
}

impl From<&StoredRecord<'_>> for RecordRow {
    fn from(record: &StoredRecord<'_>) -> Self {
        Self {
            id: record.id,
            uuid: record.uuid,
            hash: record.hash,
            created: record.created,
            changed: record.changed,
            synced: record.synced,
            version: record.version,
        }
    }
}
