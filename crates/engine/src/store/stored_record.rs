//! A record as its rows hold it, and the checksum over its content.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::record::{Vectors, passage_count};
use crate::store::error::StoreError;
use crate::store::header::Header;
use crate::store::vector_file::{VectorFile, crc_of};
use crate::store::vector_files::VectorFiles;

/// A record as it is written, or as it comes from the store: then its content lives until the next one is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredRecord<'a> {
    pub(crate) header: Header,
    /// Key, from which the UUID follows.
    pub(crate) key: Option<&'a str>,
    /// JSON text of an object.
    pub(crate) data: &'a [u8],
    /// Q30 components of unit vectors: that of the text, or those of its passages one after the other.
    pub(crate) vectors: &'a [i32],
    /// The bytes of [`Passages::places_to_bytes`](crate::record::Passages::places_to_bytes) of a record with several.
    pub(crate) passages: Option<&'a [u8]>,
}

impl StoredRecord<'_> {
    /// The vectors of the record.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the passages do not fit the vectors.
    pub(crate) fn vectors(&self) -> Result<Vectors, StoreError> {
        Vectors::from_parts(self.vectors, self.passages)
            .ok_or(StoreError::Damaged { id: self.header.id })
    }

    /// The vector of the text, or of its first passage.
    pub(crate) fn first_vector(&self) -> &[i32] {
        &self.vectors[..self.vectors.len() / self.vector_count()]
    }

    /// How many vectors the record has.
    fn vector_count(&self) -> usize {
        self.passages.map_or(1, passage_count).max(1)
    }

    /// The checksum over the content: all but the vectors and what changes without the content.
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
        if let Some(key) = self.key {
            hasher.update(&(key.len() as u64).to_le_bytes());
            hasher.update(key.as_bytes());
        }
        hasher.finalize()
    }
}

/// The columns [`read`] takes, in its order, from `records r` and [`JOINS`].
pub(super) const COLUMNS: &str = "r.id, r.uuid, r.hash, r.created, r.changed, r.synced, r.version, \
    c.data, c.crc, c.key, p.places, p.crc, v.vector, v.crc, f.file, r.place & 4095, r.hash";

/// The tables with the rest of a record.
pub(super) const JOINS: &str = "LEFT JOIN contents c ON c.id = r.id LEFT JOIN passages p ON p.id = r.id \
    LEFT JOIN vectors v ON v.id = r.id LEFT JOIN vector_files f ON f.number = r.place >> 12";

/// As [`COLUMNS`], with what the next model made, from `records r` and [`NEXT_JOINS`].
pub(super) const NEXT_COLUMNS: &str = "r.id, r.uuid, r.hash, r.created, r.changed, r.synced, r.version, \
    c.data, c.crc, c.key, p.places, p.crc, v.vector, v.crc, f.file, p.place & 4095, \
    ifnull(substr(p.hash, 1, 16), r.hash)";

/// The tables with the rest of a record that has vectors of the next model.
pub(super) const NEXT_JOINS: &str = "JOIN next_records p ON p.id = r.id LEFT JOIN contents c ON c.id = r.id \
    LEFT JOIN next_vectors v ON v.id = r.id LEFT JOIN vector_files f ON f.number = p.place >> 12";

/// The checksum of the vectors of a record in a table, whose id, hash and passages it covers.
pub(super) fn vectors_crc(
    (id, hash): (u64, [u8; 16]),
    vectors: &[u8],
    places: Option<&[u8]>,
) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&id.to_le_bytes());
    hasher.update(&hash);
    hasher.update(vectors);
    if let Some(places) = places {
        hasher.update(&(places.len() as u64).to_le_bytes());
        hasher.update(places);
    }
    hasher.finalize()
}

/// The stored form of vectors: little-endian components, four bytes each.
pub(super) fn encode_vectors(vectors: &[i32], into: &mut Vec<u8>) {
    into.resize(vectors.len() * 4, 0);
    for (bytes, component) in into.chunks_exact_mut(4).zip(vectors) {
        bytes.copy_from_slice(&component.to_le_bytes());
    }
}

/// The vectors of the record that was read last, and the files that were read.
#[derive(Debug, Default)]
pub(super) struct VectorsRead {
    files: HashMap<u64, Arc<VectorFile>>,
    bytes: Vec<u8>,
    components: Vec<i32>,
}

/// Reads and checks a record; its vectors are written to `read`.
///
/// # Errors
/// [`StoreError::Damaged`] when the checksum fails, a value has another type, or a part of the record is missing;
/// [`StoreError::LostVectors`] when its vectors cannot be read from their file.
pub(super) fn read<'a>(
    row: &'a Row<'_>,
    files: &VectorFiles,
    read: &'a mut VectorsRead,
) -> Result<StoredRecord<'a>, StoreError> {
    let id = row.get::<_, i64>(0)?.cast_unsigned();
    // A value of another type is damage too, because the schema allows no other type.
    let damaged = |_| StoreError::Damaged { id };
    let Some(record) = content(row).map_err(damaged)? else {
        return Err(StoreError::Damaged { id });
    };
    let bytes = match (row.get_ref(12)?, row.get_ref(14)?) {
        (ValueRef::Blob(bytes), ValueRef::Null) => {
            let hash = row.get(16).map_err(damaged)?;
            let crc = vectors_crc((id, hash), bytes, record.passages);
            if row.get::<_, i64>(13).map_err(damaged)? != i64::from(crc) {
                return Err(StoreError::Damaged { id });
            }
            bytes
        }
        (ValueRef::Null, ValueRef::Integer(file)) => {
            let slot: i64 = row.get(15).map_err(damaged)?;
            read.bytes.clear();
            let file = file.cast_unsigned();
            let vectors = read
                .files
                .entry(file)
                .or_insert_with(|| files.file(file))
                .append_record((id, slot as usize), &mut read.bytes)
                .map_err(|source| StoreError::LostVectors { id, source })?;
            if vectors != record.vector_count() {
                return Err(StoreError::Damaged { id });
            }
            &read.bytes
        }
        _ => return Err(StoreError::Damaged { id }),
    };
    let (components, []) = bytes.as_chunks::<4>() else {
        return Err(StoreError::Damaged { id });
    };
    read.components.clear();
    let components = components.iter();
    read.components
        .extend(components.map(|bytes| i32::from_le_bytes(*bytes)));
    Ok(StoredRecord {
        vectors: &read.components,
        ..record
    })
}

/// A record without its vectors; `None` when a checksum fails.
fn content<'a>(row: &'a Row<'_>) -> rusqlite::Result<Option<StoredRecord<'a>>> {
    let record = StoredRecord {
        header: Header::read(row)?,
        key: row.get_ref(9)?.as_str_or_null()?,
        data: row.get_ref(7)?.as_blob()?,
        vectors: &[],
        passages: row.get_ref(10)?.as_blob_or_null()?,
    };
    let places_crc = record
        .passages
        .map(|places| i64::from(crc_of(record.header.id, places)));
    let is_intact = row.get::<_, i64>(8)? == i64::from(record.crc())
        && row.get::<_, Option<i64>>(11)? == places_crc;
    Ok(is_intact.then_some(record))
}
