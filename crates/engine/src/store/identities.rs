//! Identities, times and hashes of records, as an upsert needs them.

use rusqlite::{OptionalExtension, Row};

use crate::store::error::StoreError;
use crate::store::reader::Reader;

/// What an upsert needs of an existing record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Integer id.
    pub(crate) id: u64,
    /// UUID.
    pub(crate) uuid: [u8; 16],
    /// Hash of the content.
    pub(crate) hash: [u8; 16],
    /// When it was first seen, in milliseconds since 1970 UTC.
    pub(crate) created: i64,
    /// When its content last changed.
    pub(crate) changed: i64,
    /// When it was last seen.
    pub(crate) synced: i64,
}

impl Identity {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Identity> {
        Ok(Identity {
            id: row.get::<_, i64>(0)?.cast_unsigned(),
            uuid: row.get(1)?,
            hash: row.get(2)?,
            created: row.get(3)?,
            changed: row.get(4)?,
            synced: row.get(5)?,
        })
    }
}

impl Reader {
    /// The identities of the records with each of `ids`, in their order; `None` where there is no such record.
    pub(crate) fn identities(&self, ids: &[u64]) -> Result<Vec<Option<Identity>>, StoreError> {
        self.identify("id", ids.iter().map(|id| id.cast_signed()))
    }

    /// The identities of the records with each of `uuids`, in their order; `None` where there is no such record.
    #[cfg(test)]
    pub(crate) fn identities_by_uuid(
        &self,
        uuids: &[[u8; 16]],
    ) -> Result<Vec<Option<Identity>>, StoreError> {
        self.identify("uuid", uuids.iter())
    }

    fn identify(
        &self,
        column: &str,
        keys: impl Iterator<Item: rusqlite::ToSql>,
    ) -> Result<Vec<Option<Identity>>, StoreError> {
        self.read(|transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT id, uuid, hash, created, changed, synced FROM records WHERE {column} = ?1"
            ))?;
            keys.map(|key| Ok(statement.query_row([key], Identity::from_row).optional()?))
                .collect()
        })
    }
}
