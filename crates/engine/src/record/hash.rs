//! Content hashes: an unchanged record has the same hash as before.

use crate::record::{Data, OwnedValue};

/// Hashes the content of a record. `vector` is the unit vector that the caller gave, in Q30 components.
///
/// Two contents have the same hash if every column has the same value in both and the vectors have the same direction.
/// A column that is null counts as absent, and the order of columns does not matter.
pub(crate) fn record_hash(data: &Data, vector: Option<&[i32]>) -> [u8; 16] {
    let cells = data.cells().iter();
    let mut cells: Vec<_> = cells
        .filter(|(_, value)| !matches!(value, OwnedValue::Null))
        .collect();
    cells.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let mut parts = Vec::with_capacity(cells.len() * 3 + 1);
    let contents: Vec<_> = cells.iter().map(|(_, value)| Content::of(value)).collect();
    for ((name, _), content) in cells.iter().zip(&contents) {
        let (kind, bytes) = content.parts();
        parts.extend([name.as_bytes(), kind, bytes]);
    }
    let vector: Vec<u8> = vector
        .into_iter()
        .flatten()
        .flat_map(|component| component.to_le_bytes())
        .collect();
    parts.push(&vector);
    content_hash(&parts)
}

/// What is hashed of a value.
enum Content<'a> {
    Null,
    Boolean(bool),
    Number([u8; 8]),
    Text(&'a str),
    /// The type of each element, how many bytes it has, and these bytes.
    List(Vec<u8>),
}

impl<'a> Content<'a> {
    fn of(value: &'a OwnedValue) -> Self {
        match value {
            OwnedValue::Null => Self::Null,
            OwnedValue::Boolean(boolean) => Self::Boolean(*boolean),
            // Adding 0 turns -0 into 0.
            OwnedValue::Number(number) => Self::Number((number + 0.0).to_le_bytes()),
            OwnedValue::Text(text) => Self::Text(text),
            OwnedValue::List(elements) => {
                let mut all = Vec::new();
                for element in elements.iter().map(Self::of) {
                    let (kind, bytes) = element.parts();
                    all.extend_from_slice(kind);
                    all.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
                    all.extend_from_slice(bytes);
                }
                Self::List(all)
            }
        }
    }

    /// A letter for the type, and the bytes of the value.
    fn parts(&self) -> (&[u8], &[u8]) {
        match self {
            Self::Null => (b"", b""),
            Self::Boolean(false) => (b"f", b""),
            Self::Boolean(true) => (b"t", b""),
            Self::Number(number) => (b"n", number),
            Self::Text(text) => (b"s", text.as_bytes()),
            Self::List(elements) => (b"l", elements),
        }
    }
}

/// Hashes `parts` to 16 bytes (BLAKE3, truncated).
///
/// Each part is hashed with its length, so moving a byte from one part to the next changes the hash. Two different
/// contents have the same hash with a probability of 2^-128.
pub(crate) fn content_hash(parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut hash = [0; 16];
    hash.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    hash
}

/// Bytes that identify something, in 32 hexadecimal digits.
pub(crate) fn hexadecimal(bytes: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::content_hash;

    #[test]
    fn is_the_start_of_blake3_over_length_prefixed_parts() {
        let whole = blake3::hash(b"\x02\0\0\0\0\0\0\0ab\x01\0\0\0\0\0\0\0c");
        assert_eq!(content_hash(&[b"ab", b"c"]), whole.as_bytes()[..16]);
    }

    #[test]
    fn tells_apart_where_parts_end() {
        assert_ne!(content_hash(&[b"ab", b"c"]), content_hash(&[b"a", b"bc"]));
        assert_ne!(content_hash(&[b"abc"]), content_hash(&[b"abc", b""]));
    }
}
