//! Headers of records, as an upsert needs them.

use rusqlite::OptionalExtension;

use crate::store::error::StoreError;
use crate::store::header::Header;
use crate::store::reader::Reader;

impl Reader {
    /// The headers of the records with each of `ids`, in their order; `None` where there is no such record.
    pub(crate) fn identities(&self, ids: &[u64]) -> Result<Vec<Option<Header>>, StoreError> {
        self.identify("id", ids.iter().map(|id| id.cast_signed()))
    }

    /// The headers of the records with each of `uuids`, in their order; `None` where there is no such record.
    #[cfg(test)]
    pub(crate) fn identities_by_uuid(
        &self,
        uuids: &[[u8; 16]],
    ) -> Result<Vec<Option<Header>>, StoreError> {
        self.identify("uuid", uuids.iter())
    }

    fn identify(
        &self,
        column: &str,
        keys: impl Iterator<Item: rusqlite::ToSql>,
    ) -> Result<Vec<Option<Header>>, StoreError> {
        self.read(|transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT {} FROM records WHERE {column} = ?1",
                Header::COLUMNS
            ))?;
            keys.map(|key| Ok(statement.query_row([key], Header::read).optional()?))
                .collect()
        })
    }
}
