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
    let numbers: Vec<[u8; 8]> = cells
        .iter()
        .map(|(_, value)| match value {
            // Adding 0 turns -0 into 0.
            OwnedValue::Number(number) => (number + 0.0).to_le_bytes(),
            _ => [0; 8],
        })
        .collect();
    for ((name, value), number) in cells.iter().zip(&numbers) {
        let (kind, bytes): (&[u8], &[u8]) = match value {
            OwnedValue::Null => continue,
            OwnedValue::Boolean(false) => (b"f", b""),
            OwnedValue::Boolean(true) => (b"t", b""),
            OwnedValue::Number(_) => (b"n", number),
            OwnedValue::Text(text) => (b"s", text.as_bytes()),
        };
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
