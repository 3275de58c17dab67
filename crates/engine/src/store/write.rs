//! The writes of a commit.

use std::ops::Range;

use crate::store::stored_record::StoredRecord;

/// One write of a commit. Times are milliseconds since 1970 UTC.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Write<'a> {
    /// Writes a whole record.
    Put {
        record: StoredRecord<'a>,
        /// Whether it must be new or must exist.
        kind: PutKind,
    },
    /// Sets *synced* of an unchanged record.
    Touch {
        /// Integer id.
        id: u64,
        /// When it was last seen.
        synced: i64,
    },
    /// Deletes a record.
    Delete {
        /// Integer id.
        id: u64,
        /// When it is deleted.
        at: i64,
    },
}

/// Whether a put record is a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PutKind {
    /// Neither its id nor its UUID is in use.
    Created,
    /// It exists, with this id and this UUID.
    Changed,
}

/// A durable commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit {
    /// Its number; every row it wrote carries it.
    pub(crate) version: u64,
    /// The positions of its changes in the feed; empty when it only touched records.
    pub(crate) positions: Range<u64>,
}
