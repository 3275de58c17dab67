//! Who a record is: an integer and a UUID, and which of them a variant of the interface shows.

use std::fmt;

use crate::record::uuid::{format_uuid, parse_uuid, write_uuid};

/// A record's integer identity, `1..=2^53 - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(pub u64);

/// A record's UUID, 16 bytes in network order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordUuid(pub [u8; 16]);

/// Number of a record in a database's memory, from 0 in order of writing; a changed record gets a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RecordRow(pub u32);

impl RecordRow {
    /// Once the next row is at or above it, all rows are renumbered without gaps. Above are more rows than a
    /// commit and the compaction after it can add.
    pub(crate) const RENUMBER_FROM: Self = Self(u32::MAX - (1 << 28));
}

/// Largest integer identity: JavaScript numbers are exact up to here.
pub(crate) const MAX_RECORD_ID: u64 = (1 << 53) - 1;

/// Which of the two interfaces a request came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// UUID ids, `created_at`, `changed_at`, `synced_at`, cursor joined by `|`.
    A,
    /// Integer ids, `first_seen_time`, `last_changed_time`, `last_seen_time`, cursor joined by `_`.
    B,
}

/// The identity a variant orders by, as one integer: a UUID by its 16 bytes, an integer by its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct IdKey(pub u128);

impl IdKey {
    /// The key of a record under `variant`.
    #[must_use]
    pub(crate) fn new(variant: Variant, id: RecordId, uuid: RecordUuid) -> Self {
        match variant {
            Variant::A => Self(u128::from_be_bytes(uuid.0)),
            Variant::B => Self(u128::from(id.0)),
        }
    }
}

impl RecordUuid {
    /// Reads the hyphenated form, either case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        parse_uuid(text).map(Self)
    }

    /// Appends the hyphenated form in lower case.
    pub fn write(self, out: &mut Vec<u8>) {
        write_uuid(&self.0, out);
    }
}

impl fmt::Display for RecordUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_uuid(&self.0))
    }
}

impl Variant {
    /// The three time names of this variant: created, changed, synced.
    #[must_use]
    pub(crate) fn time_names(self) -> [&'static str; 3] {
        match self {
            Self::A => ["created_at", "changed_at", "synced_at"],
            Self::B => ["first_seen_time", "last_changed_time", "last_seen_time"],
        }
    }
}
