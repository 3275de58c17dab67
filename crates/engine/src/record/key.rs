//! The key of a record: an identity of the caller's own, from which the UUID of the record follows.

use std::sync::Arc;

use uuid::Uuid;

use crate::record::identity::RecordUuid;

/// The namespace of the UUIDs of keys. It never changes, because stored UUIDs follow from it.
const NAMESPACE: Uuid = Uuid::from_u128(0x6d3f_3c1e_5b0a_4a7e_9a5e_2f6c_1c0d_8b41);

/// The maximum number of bytes of a key.
pub(crate) const MAX_KEY_BYTES: usize = 512;

/// What comes before a key in a text that may also be an integer id or a UUID.
const PREFIX: &str = "key:";

/// A record's key: 1 to 512 bytes of UTF-8. Any characters are allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordKey(Arc<str>);

impl RecordKey {
    /// `None` for a text that is empty or too long.
    #[must_use]
    pub(crate) fn new(text: &str) -> Option<Self> {
        (1..=MAX_KEY_BYTES)
            .contains(&text.len())
            .then(|| Self(text.into()))
    }

    /// The UUID of the record that has this key: version 5 (RFC 9562) of the key in the product's namespace.
    #[must_use]
    pub(crate) fn uuid(&self) -> RecordUuid {
        RecordUuid(Uuid::new_v5(&NAMESPACE, self.0.as_bytes()).into_bytes())
    }

    /// Whether a record of this key and UUID can be: without a key, every UUID can.
    pub(crate) fn is_of(key: Option<&str>, uuid: [u8; 16]) -> bool {
        key.is_none_or(|key| Self::new(key).is_some_and(|key| key.uuid().0 == uuid))
    }

    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reads `key:<key>`, and returns the UUID of the key.
#[must_use]
pub(crate) fn parse_key_reference(text: &str) -> Option<RecordUuid> {
    let key = RecordKey::new(text.strip_prefix(PREFIX)?)?;
    Some(key.uuid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uuid_of_a_key_is_the_one_that_other_programs_compute() {
        // Computed with Python: uuid.uuid5(UUID("6d3f3c1e-5b0a-4a7e-9a5e-2f6c1c0d8b41"), key).
        for (key, uuid) in [
            ("SKU-1", "1421fc66-f3ed-52d2-812d-9dcb39ff0749"),
            ("key:SKU-1", "f958b227-dd87-53e7-bfb1-284d5b533f69"),
            ("größe/✓ %2F\u{0}\n", "166a0c34-ee51-5f02-b098-559db148ef24"),
        ] {
            let known = RecordKey::new(key).expect("a key");
            assert_eq!(known.uuid().to_string(), uuid, "{key:?}");
            assert_eq!(
                parse_key_reference(&format!("key:{key}")),
                Some(known.uuid())
            );
        }
    }

    #[test]
    fn a_key_has_1_to_512_bytes() {
        assert!(RecordKey::new("").is_none());
        assert!(RecordKey::new(&"x".repeat(512)).is_some());
        assert!(RecordKey::new(&"x".repeat(513)).is_none());
        // Bytes count, not characters.
        assert!(RecordKey::new(&"é".repeat(256)).is_some());
        assert!(RecordKey::new(&"é".repeat(257)).is_none());
        for text in ["key:", "SKU-1", "Key:SKU-1", ""] {
            assert!(parse_key_reference(text).is_none(), "{text:?}");
        }
    }
}
