//! A record as it enters memory.

use crate::columns::{ColumnId, ColumnNames};
use crate::record::{Data, OwnedValue, RecordId, RecordKey, RecordUuid, Vectors};
use crate::store::Header;

/// A record that a block is built from.
#[derive(Clone, Debug)]
pub(crate) struct NewRow {
    pub(crate) id: RecordId,
    pub(crate) uuid: RecordUuid,
    pub(crate) key: Option<RecordKey>,
    pub(crate) times: Times,
    pub(crate) cells: Vec<(ColumnId, OwnedValue)>,
    pub(crate) vectors: Vectors,
}

impl NewRow {
    /// A stored record. Its columns are added to `names`.
    pub(crate) fn stored(
        header: &Header,
        key: Option<&str>,
        data: &Data,
        names: &mut ColumnNames,
        vectors: Vectors,
    ) -> Self {
        let cells = data.cells().iter();
        Self {
            id: RecordId(header.id),
            uuid: RecordUuid(header.uuid),
            key: key.and_then(RecordKey::new),
            times: Times {
                created: header.created,
                changed: header.changed,
                synced: header.synced,
            },
            cells: cells
                .map(|(name, value)| (names.insert(name), value.clone()))
                .collect(),
            vectors,
        }
    }

    /// The header of the record, whose content has this hash, before a commit.
    pub(crate) fn header(&self, hash: [u8; 16]) -> Header {
        self.times.header(self.id, self.uuid, hash)
    }
}

/// The three times of a record, milliseconds since 1970 in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// First seen.
    pub created: i64,
    /// Content last changed.
    pub changed: i64,
    /// Last seen.
    pub synced: i64,
}

impl Times {
    /// The header of a record before a commit. `hash` is that of its content.
    pub(super) fn header(self, id: RecordId, uuid: RecordUuid, hash: [u8; 16]) -> Header {
        Header {
            id: id.0,
            uuid: uuid.0,
            hash,
            created: self.created,
            changed: self.changed,
            synced: self.synced,
            version: 0,
        }
    }
}
