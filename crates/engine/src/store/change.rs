//! Entries of the change feed.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Row};

use crate::store::error::StoreError;

/// Adds a change; see [`Change::insert`].
pub(super) const INSERT: &str =
    "INSERT INTO changes (position, version, id, uuid, kind, at, data, key, crc)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// One entry of the change feed. Touching a record is no change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// Position in the feed, 1 for the first; a later change has a greater one.
    pub(crate) position: u64,
    /// The commit it belongs to.
    pub(crate) version: u64,
    /// The record's integer id.
    pub(crate) id: u64,
    /// The record's UUID.
    pub(crate) uuid: [u8; 16],
    /// The record's key after the change, or before its deletion.
    pub(crate) key: Option<String>,
    /// What happened.
    pub(crate) kind: ChangeKind,
    /// When, in milliseconds since 1970 UTC: the record's *changed* time, or that of its deletion.
    pub(crate) at: i64,
    /// The data that a changed or deleted record had before the change, as JSON: a key's forced filter is applied
    /// to it. `None` for a new record, and where the feed no longer keeps it.
    pub(crate) data: Option<Vec<u8>>,
}

/// What happened to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ChangeKind {
    /// It did not exist before.
    Created = 1,
    /// It has other content.
    Changed = 2,
    /// It no longer exists.
    Deleted = 3,
}

impl Change {
    /// The columns that [`Change::read`] takes, in its order, but for `data`, which comes after them.
    pub(super) const COLUMNS: &str = "position, version, id, uuid, kind, at, key, crc";

    /// Writes the change. [`INSERT`] prepares the statement.
    pub(super) fn insert(&self, statement: &mut CachedStatement<'_>) -> rusqlite::Result<usize> {
        statement.execute((
            self.position.cast_signed(),
            self.version.cast_signed(),
            self.id.cast_signed(),
            self.uuid,
            self.kind,
            self.at,
            &self.data,
            &self.key,
            self.checksums(data_checksum(self.data.as_deref())),
        ))
    }

    /// Reads and checks a change. Its data are in the column after [`Change::COLUMNS`].
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when the checksum fails or a value has another type.
    pub(super) fn read(row: &Row<'_>, with_data: bool) -> Result<Change, StoreError> {
        let read = || -> rusqlite::Result<Option<Change>> {
            let change = Change {
                position: row.get::<_, i64>(0)?.cast_unsigned(),
                version: row.get::<_, i64>(1)?.cast_unsigned(),
                id: row.get::<_, i64>(2)?.cast_unsigned(),
                uuid: row.get(3)?,
                kind: row.get(4)?,
                at: row.get(5)?,
                key: row.get(6)?,
                data: if with_data { row.get(8)? } else { None },
            };
            let stored: i64 = row.get(7)?;
            let of_data = (stored.cast_unsigned() >> 32) as u32;
            let is_intact = stored == change.checksums(of_data)
                && (!with_data || of_data == data_checksum(change.data.as_deref()));
            Ok(is_intact.then_some(change))
        };
        let position = row.get::<_, i64>(0).unwrap_or_default();
        // A value of another type is damage, because the schema allows no other type.
        read().ok().flatten().ok_or_else(|| {
            StoreError::inconsistent(format!(
                "change {position} of its feed does not match its checksum"
            ))
        })
    }

    /// The CRC-32 of the data in the upper half, and in the lower half one over it and all other members. So a change can
    /// be checked without its data.
    fn checksums(&self, of_data: u32) -> i64 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.position.to_le_bytes());
        hasher.update(&self.version.to_le_bytes());
        hasher.update(&self.id.to_le_bytes());
        hasher.update(&self.uuid);
        hasher.update(&[self.kind as u8]);
        hasher.update(&self.at.to_le_bytes());
        hasher.update(&of_data.to_le_bytes());
        if let Some(key) = &self.key {
            hasher.update(&[1]);
            hasher.update(key.as_bytes());
        }
        (u64::from(of_data) << 32 | u64::from(hasher.finalize())).cast_signed()
    }
}

/// The checksum of the data of a change. The form of a change without data is that of empty data, which no record has.
fn data_checksum(data: Option<&[u8]>) -> u32 {
    data.map_or(0, crc32fast::hash)
}

impl ToSql for ChangeKind {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(*self as u8))
    }
}

impl FromSql for ChangeKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<ChangeKind> {
        match value.as_i64()? {
            1 => Ok(ChangeKind::Created),
            2 => Ok(ChangeKind::Changed),
            3 => Ok(ChangeKind::Deleted),
            other => Err(FromSqlError::OutOfRange(other)),
        }
    }
}

/// Writes that the feed no longer keeps the data of the change at `position`. A damaged change keeps its checksum, so that
/// its readers still learn of the damage.
pub(super) fn forget_data(connection: &Connection, position: i64) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {} FROM changes WHERE position = ?1",
        Change::COLUMNS
    ))?;
    let mut rows = statement.query([position])?;
    let change = match rows.next()?.map(|row| Change::read(row, false)) {
        Some(Err(StoreError::Inconsistent { .. })) | None => None,
        Some(change) => Some(change?),
    };
    match change {
        Some(change) => connection
            .prepare_cached("UPDATE changes SET data = NULL, crc = ?2 WHERE position = ?1")?
            .execute((position, change.checksums(data_checksum(None)))),
        None => connection
            .prepare_cached("UPDATE changes SET data = NULL WHERE position = ?1")?
            .execute([position]),
    }?;
    Ok(())
}
