//! The hash that tells an unchanged record from a changed one.

/// Hashes `parts` to 16 bytes (BLAKE3, truncated).
///
/// Each part goes in with its length, so moving a byte from one part to the next changes the hash.
/// At 128 bits, two different contents of one record never meet by chance.
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
