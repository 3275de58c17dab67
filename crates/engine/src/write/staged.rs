//! The parts of a stage: its writes, and its view of the records.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::error::Error;
use crate::record::{RecordId, RecordKey, RecordRow, RecordUuid, UuidMaker, Vectors};
use crate::settings::Settings;
use crate::snapshot::{NewRow, Published, Times};
use crate::store::{Header, PutKind, StoredRecord, Write};

/// A write of the stage. The writes of a stage are in order.
#[derive(Debug)]
pub(crate) enum StagedWrite {
    /// Store `rows[row]` of the stage.
    Put {
        row: usize,
        kind: PutKind,
        json: Vec<u8>,
        /// The bytes of the places of the passages of a record with several, and the vectors of all of them.
        passages: Option<(Vec<u8>, Vec<i32>)>,
        hash: [u8; 16],
    },
    /// A write without content.
    Other(Write<'static>),
}

impl StagedWrite {
    /// The write as the store takes it. `rows` are the rows of the stage.
    pub(super) fn for_store<'a>(&'a self, rows: &'a [NewRow]) -> Write<'a> {
        match self {
            Self::Put {
                row,
                kind,
                json,
                passages,
                hash,
            } => {
                let row = &rows[*row];
                let record = StoredRecord {
                    header: row.header(*hash),
                    key: row.key.as_ref().map(RecordKey::as_str),
                    data: json,
                    vectors: (passages.as_ref()).map_or(&row.vectors.first, |(_, vectors)| vectors),
                    passages: passages.as_ref().map(|(places, _)| &places[..]),
                };
                Write::Put {
                    record,
                    kind: *kind,
                }
            }
            Self::Other(write) => *write,
        }
    }
}

/// A record with the earlier writes of the stage applied.
#[derive(Clone, Debug)]
pub(crate) struct StagedRecord {
    pub(super) uuid: RecordUuid,
    pub(super) key: Option<RecordKey>,
    pub(super) hash: [u8; 16],
    pub(super) times: Times,
    pub(super) row: StagedRow,
}

/// Where the newest version of a staged record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StagedRow {
    /// In the published snapshot.
    Published(RecordRow),
    /// In the rows of the stage.
    New(usize),
}

/// What a stage reads to find records.
pub(crate) struct Context<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) published: &'a Published,
    /// Stored hashes, by id, of the records that the commit may change.
    pub(crate) stored: &'a HashMap<u64, Header>,
    /// Reads the vectors of a stored record, in Q30. [`Error::Stale`] when the store has none.
    pub(crate) vectors: &'a dyn Fn(RecordId) -> Result<Vectors, Error>,
    /// Makes the UUIDs of records that come without one.
    pub(crate) uuids: &'a Mutex<UuidMaker>,
    /// The time of the commit, milliseconds since 1970.
    pub(crate) now: i64,
}

/// What an upsert did to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The record is new.
    Created,
    /// The record has other content, or got its key or other times of its source.
    Changed,
    /// The record has the same content: only its time of last sync was updated.
    Unchanged,
}

impl Status {
    /// The name in responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// The outcome for one record of an upsert.
#[derive(Clone, Debug)]
pub struct Upserted {
    /// The integer id.
    pub id: RecordId,
    /// The UUID.
    pub uuid: RecordUuid,
    pub(crate) key: Option<RecordKey>,
    /// What the upsert did.
    pub status: Status,
}

/// How a record of an upsert compares with the record of the same identity.
pub(crate) enum Comparison {
    /// There is no record of either identity.
    New,
    /// The record has the same content.
    Same(RecordId),
    /// The record has the same content, and gets its key or other times of its source.
    Renewed(RecordId),
    /// The record has other content.
    Different(RecordId),
}

impl Comparison {
    /// The record of the same identity.
    pub(super) fn record(&self) -> Option<RecordId> {
        match *self {
            Self::New => None,
            Self::Same(id) | Self::Renewed(id) | Self::Different(id) => Some(id),
        }
    }
}
