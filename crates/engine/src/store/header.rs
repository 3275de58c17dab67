//! The header of a record: a row of the table `records`, which is all of a record but its content.

use rusqlite::{Connection, OptionalExtension, Row};

use crate::store::error::StoreError;

/// Adds a record with [`Header::values`], unless its id or its UUID is taken.
pub(super) const INSERT_RECORD: &str =
    "INSERT INTO records (id, uuid, hash, created, changed, synced, version)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";

/// Updates the record of an id and a UUID with [`Header::values`].
pub(super) const UPDATE_RECORD: &str =
    "UPDATE records SET hash = ?3, created = ?4, changed = ?5, synced = ?6, version = ?7
     WHERE id = ?1 AND uuid = ?2";

/// All of a record but its content. Times are milliseconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Integer id, 1 or more.
    pub id: u64,
    /// UUID; a record keeps the one it was created with.
    pub uuid: [u8; 16],
    /// Hash of the content.
    pub hash: [u8; 16],
    /// When it was first seen.
    pub created: i64,
    /// When its content last changed; also the time of the entry in the change feed.
    pub changed: i64,
    /// When it was last seen.
    pub synced: i64,
    /// The last commit that wrote or touched it, which sets this; 0 before.
    pub version: u64,
}

impl Header {
    /// The columns [`Header::read`] takes, in its order.
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

    /// The values of the columns, in their order.
    pub(super) fn values(&self) -> (i64, [u8; 16], [u8; 16], i64, i64, i64, i64) {
        (
            self.id.cast_signed(),
            self.uuid,
            self.hash,
            self.created,
            self.changed,
            self.synced,
            self.version.cast_signed(),
        )
    }

    /// What memory holds of the row: not its hash, and not its version.
    pub(crate) fn in_memory(&self) -> Self {
        Self {
            hash: [0; 16],
            version: 0,
            ..*self
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
