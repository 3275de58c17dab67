//! The identity of a record: an integer and a UUID, and which of the two a variant of the interface shows.

use std::fmt;

use uuid::Uuid;
use uuid::fmt::Hyphenated;

/// A record's integer identity, `1..=2^53 - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(pub u64);

/// A record's UUID, 16 bytes in network order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordUuid(pub [u8; 16]);

/// Number of a record in the memory of a database, from 0 in the order of writing. A changed record gets a new row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RecordRow(pub u32);

impl RecordRow {
    /// Once the next row is at or above this one, all rows are renumbered without gaps. A commit and the compaction
    /// after it add fewer rows than there are above.
    pub(crate) const RENUMBER_FROM: Self = Self(u32::MAX - (1 << 28));
}

/// The largest integer identity: the largest integer up to which a JavaScript number is exact.
pub(crate) const MAX_RECORD_ID: u64 = (1 << 53) - 1;

/// How a response shows records, which a request selects: one of the two variants of the interface, or both ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// UUID ids, `created_at`, `changed_at`, `synced_at`, cursor joined by `|`.
    A,
    /// Integer ids, `first_seen_time`, `last_changed_time`, `last_seen_time`, cursor joined by `_`.
    B,
    /// Both ids as `id` and `uuid`, the times of `A`, the order and the cursor of `B`.
    Both,
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
            Variant::B | Variant::Both => Self(u128::from(id.0)),
        }
    }
}

impl RecordUuid {
    /// Parses the hyphenated form, in either case; `None` for any other form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hyphenated: Hyphenated = text.parse().ok()?;
        Some(Self(hyphenated.into_uuid().into_bytes()))
    }

    /// Appends the hyphenated form in lower case.
    pub fn write(self, out: &mut Vec<u8>) {
        let mut text = [0; Hyphenated::LENGTH];
        let text = self.hyphenated().encode_lower(&mut text);
        out.extend_from_slice(text.as_bytes());
    }

    fn hyphenated(self) -> Hyphenated {
        Uuid::from_bytes(self.0).hyphenated()
    }
}

impl fmt::Display for RecordUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.hyphenated(), f)
    }
}

impl Variant {
    /// The variant that a request names.
    #[must_use]
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "uuid" => Some(Self::A),
            "integer" => Some(Self::B),
            "both" => Some(Self::Both),
            _ => None,
        }
    }

    /// The three time names of this variant: created, changed, synced.
    #[must_use]
    pub(crate) fn time_names(self) -> [&'static str; 3] {
        match self {
            Self::A | Self::Both => ["created_at", "changed_at", "synced_at"],
            Self::B => ["first_seen_time", "last_changed_time", "last_seen_time"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_case_reads_and_lower_case_is_written() {
        let text = "0190a0b2-7C3d-7abc-8def-0123456789AB";
        let uuid = RecordUuid::parse(text).expect("a uuid");
        assert_eq!(uuid.to_string(), text.to_lowercase());
        let mut written = Vec::new();
        uuid.write(&mut written);
        assert_eq!(written, text.to_lowercase().as_bytes());
        for bad in [
            "",
            &text[1..],
            &text.replace('-', "0"),
            &text.replace('-', ""),
            &text.replace('7', "g"),
            "{0190a0b2}",
        ] {
            assert_eq!(RecordUuid::parse(bad), None, "{bad}");
        }
    }
}
