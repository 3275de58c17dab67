//! A record as its rows hold it, and the checksum over its content.

use rusqlite::Row;

use crate::record::{Passages, Vectors};
use crate::store::error::StoreError;
use crate::store::header::Header;

/// A record as it is written, or as it comes from the store: then its content lives until the next one is read.
///
/// `V` is `i32` for components of vectors, and `u8` for their stored form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredRecord<'a, V = i32> {
    pub(crate) header: Header,
    /// Key, from which the UUID follows.
    pub(crate) key: Option<&'a str>,
    /// JSON text of an object.
    pub(crate) data: &'a [u8],
    /// Q30 components of a unit vector: that of the text, or of its first passage.
    pub(crate) vector: &'a [V],
    /// The bytes of the [`Passages`](crate::record::Passages) of a record with several.
    pub(crate) passages: Option<&'a [u8]>,
}

impl<'a, V> StoredRecord<'a, V> {
    /// The record with its vector in the other form.
    pub(super) fn with_vector<W>(self, vector: &'a [W]) -> StoredRecord<'a, W> {
        StoredRecord {
            header: self.header,
            key: self.key,
            data: self.data,
            vector,
            passages: self.passages,
        }
    }
}

impl StoredRecord<'_> {
    /// The vectors of the record.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the passages do not fit the vector.
    pub(crate) fn vectors(&self) -> Result<Vectors, StoreError> {
        let read = |bytes| {
            let passages = Passages::from_bytes(bytes, self.vector.len());
            passages.ok_or(StoreError::Damaged { id: self.header.id })
        };
        Ok(Vectors {
            first: self.vector.to_vec(),
            passages: self.passages.map(read).transpose()?.map(Box::new),
        })
    }
}

/// The columns [`read`] takes, in its order, from `records r LEFT JOIN contents c`.
pub(super) const COLUMNS: &str = "r.id, r.uuid, r.hash, r.created, r.changed, r.synced, r.version, c.data, c.vector, c.crc, c.key, c.passages";

/// The stored form of a vector: little-endian components, four bytes each.
pub(super) fn encode_vector(vector: &[i32], into: &mut Vec<u8>) {
    into.resize(vector.len() * 4, 0);
    for (bytes, component) in into.chunks_exact_mut(4).zip(vector) {
        bytes.copy_from_slice(&component.to_le_bytes());
    }
}

impl StoredRecord<'_, u8> {
    /// The checksum over all but *synced* and the version, which a touch changes.
    pub(super) fn crc(&self) -> u32 {
        let header = &self.header;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&header.id.to_le_bytes());
        hasher.update(&header.uuid);
        hasher.update(&header.hash);
        hasher.update(&header.created.to_le_bytes());
        hasher.update(&header.changed.to_le_bytes());
        hasher.update(&(self.data.len() as u64).to_le_bytes());
        hasher.update(self.data);
        hasher.update(self.vector);
        if let Some(key) = self.key {
            hasher.update(&(key.len() as u64).to_le_bytes());
            hasher.update(key.as_bytes());
        }
        if let Some(passages) = self.passages {
            hasher.update(&(passages.len() as u64).to_le_bytes());
            hasher.update(passages);
        }
        hasher.finalize()
    }
}

/// Reads and checks a record; the components of its vector are written to `vector`.
///
/// # Errors
/// [`StoreError::Damaged`] when the checksum fails, a value has another type, or half of the record is missing.
pub(super) fn read<'a>(
    row: &'a Row<'_>,
    vector: &'a mut Vec<i32>,
) -> Result<StoredRecord<'a>, StoreError> {
    let id = row.get::<_, i64>(0)?.cast_unsigned();
    // A value of another type is damage too, because the schema allows no other type.
    decode(row, vector)
        .ok()
        .flatten()
        .ok_or(StoreError::Damaged { id })
}

fn decode<'a>(
    row: &'a Row<'_>,
    vector: &'a mut Vec<i32>,
) -> rusqlite::Result<Option<StoredRecord<'a>>> {
    let bytes = row.get_ref(8)?.as_blob()?;
    let stored = StoredRecord {
        header: Header::read(row)?,
        data: row.get_ref(7)?.as_blob()?,
        vector: bytes,
        key: row.get_ref(10)?.as_str_or_null()?,
        passages: row.get_ref(11)?.as_blob_or_null()?,
    };
    if row.get::<_, i64>(9)? != i64::from(stored.crc()) {
        return Ok(None);
    }
    let (components, []) = bytes.as_chunks::<4>() else {
        return Ok(None);
    };
    vector.clear();
    vector.extend(components.iter().map(|bytes| i32::from_le_bytes(*bytes)));
    Ok(Some(stored.with_vector(vector)))
}
