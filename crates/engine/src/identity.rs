//! Who a record is: an integer and a UUID, and which of them a variant of the interface shows.

use std::fmt;

/// A record's integer identity, `1..=2^53 - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(pub u64);

/// A record's UUID, 16 bytes in network order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordUuid(pub [u8; 16]);

/// Number of a record in a database's memory, from 0 in order of writing; a changed record gets a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordRow(pub u32);

/// Largest integer identity: JavaScript numbers are exact up to here.
pub const MAX_RECORD_ID: u64 = (1 << 53) - 1;

/// Which of the two interfaces a request came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// UUID ids, `created_at`, `changed_at`, `synced_at`, cursor joined by `|`.
    A,
    /// Integer ids, `first_seen_time`, `last_changed_time`, `last_seen_time`, cursor joined by `_`.
    B,
}

/// The identity a variant orders by, as one integer: a UUID by its 16 bytes, an integer by its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdKey(pub u128);

impl IdKey {
    /// The key of a record under `variant`.
    #[must_use]
    pub fn new(variant: Variant, id: RecordId, uuid: RecordUuid) -> Self {
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
        let bytes = text.as_bytes();
        let hyphens = [8, 13, 18, 23];
        if bytes.len() != 36 || hyphens.iter().any(|&at| bytes[at] != b'-') {
            return None;
        }
        let mut digits = [0_u8; 32];
        let mut count = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            if hyphens.contains(&at) {
                continue;
            }
            digits[count] = (byte as char).to_digit(16)? as u8;
            count += 1;
        }
        let mut uuid = [0_u8; 16];
        for (byte, pair) in uuid.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair[0] << 4 | pair[1];
        }
        Some(Self(uuid))
    }

    /// Appends the hyphenated form in lower case.
    pub fn write(self, out: &mut Vec<u8>) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                out.push(b'-');
            }
            out.push(DIGITS[usize::from(byte >> 4)]);
            out.push(DIGITS[usize::from(byte & 15)]);
        }
    }
}

impl fmt::Display for RecordUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(36);
        self.write(&mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

impl Variant {
    /// The three time names of this variant: created, changed, synced.
    #[must_use]
    pub fn time_names(self) -> [&'static str; 3] {
        match self {
            Self::A => ["created_at", "changed_at", "synced_at"],
            Self::B => ["first_seen_time", "last_changed_time", "last_seen_time"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_prints_and_parses_to_itself() {
        let text = "0190a0b2-1c3d-7e4f-8a5b-6c7d8e9f0a1b";
        let uuid = RecordUuid::parse(text).expect("well formed");
        assert_eq!(uuid.to_string(), text);
        assert_eq!(RecordUuid::parse(&text.to_uppercase()), Some(uuid));
        assert_eq!(RecordUuid::parse("0190a0b21c3d7e4f8a5b6c7d8e9f0a1b"), None);
        assert_eq!(RecordUuid::parse("0190a0b2-1c3d-7e4f-8a5b-6c7d8e9f0a1g"), None);
        assert_eq!(RecordUuid::parse("é190a0b2-1c3d-7e4f-8a5b-6c7d8e9f0a1"), None);
    }
}
