//! Reads of a re-embedding: how far it has come, the records that it lacks, and what it has made.

use std::ops::ControlFlow;

use rusqlite::Connection;

use crate::store::error::StoreError;
use crate::store::meta::{NEXT_SETTINGS, new_identity, next_done_of, read_meta, write_meta};
use crate::store::places::{Model, files_of};
use crate::store::reader::Reader;
use crate::store::state::state_of;
use crate::store::stored_record::{COLUMNS, JOINS, StoredRecord, VectorsRead, read, vectors_crc};
use crate::store::vector_file::{crc_of, row_bytes};

/// Key of the time when the re-embedding began, in milliseconds since 1970, of a random number, and of the place that it has
/// reached: the version and the id of the last record; 8 bytes each, little-endian.
const REACHED: &str = "next_reached";

/// How far a re-embedding has come. Records are taken in the order of the commits that wrote them last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NextReached {
    /// Milliseconds since 1970.
    pub(crate) started_at: i64,
    /// Tells re-embeddings apart.
    number: i64,
    version: i64,
    id: i64,
}

impl NextReached {
    pub(super) fn write(self, connection: &Connection) -> Result<(), StoreError> {
        let numbers = [self.started_at, self.number, self.version, self.id];
        let bytes = numbers.map(i64::to_le_bytes);
        write_meta(connection, REACHED, bytes.as_flattened())
    }

    pub(super) fn read(connection: &Connection) -> Result<Option<Self>, StoreError> {
        let bytes = read_meta(connection, REACHED)?.unwrap_or_default();
        let (&[started_at, number, version, id], []) = bytes.as_chunks::<8>() else {
            return Ok(None);
        };
        Ok(Some(Self {
            started_at: i64::from_le_bytes(started_at),
            number: i64::from_le_bytes(number),
            version: i64::from_le_bytes(version),
            id: i64::from_le_bytes(id),
        }))
    }

    /// The beginning of a re-embedding.
    pub(super) fn begin(started_at: i64) -> Self {
        let number = u128::from_le_bytes(new_identity()) as i64;
        Self {
            started_at,
            number,
            version: 0,
            id: 0,
        }
    }

    /// The last commit of whose records, and of those of all commits before it, each has a row or was written later.
    pub(super) fn covered(self) -> u64 {
        let is_whole = self.id == i64::MAX;
        (self.version - i64::from(!is_whole)).max(0).cast_unsigned()
    }
}

/// The re-embedding of a store.
#[derive(Debug)]
pub(crate) struct NextModel {
    /// The settings with which the vectors are made.
    pub(crate) settings: Vec<u8>,
    pub(crate) reached: NextReached,
    /// Records that have vectors of the next model.
    pub(crate) done: u64,
}

/// The content of a vector file of the next model, as it is written.
#[derive(Debug, Default)]
pub(crate) struct NextRows {
    /// The records, by slot.
    pub(crate) ids: Vec<u64>,
    pub(crate) later: Vec<u32>,
    pub(crate) rows: Vec<u8>,
}

impl Reader {
    /// The re-embedding, if one was begun.
    ///
    /// # Errors
    /// SQLite's; [`StoreError::Inconsistent`].
    pub(crate) fn next_model(&self) -> Result<Option<NextModel>, StoreError> {
        self.read(|transaction| {
            let settings = read_meta(transaction, NEXT_SETTINGS)?;
            let (Some(settings), Some(reached)) = (settings, NextReached::read(transaction)?)
            else {
                return Ok(None);
            };
            Ok(Some(NextModel {
                settings,
                reached,
                done: next_done_of(transaction)?,
            }))
        })
    }

    /// Whether all records have vectors of the next model, whose files all exist.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn is_next_complete(&self) -> Result<bool, StoreError> {
        let is_complete = self.read(|transaction| {
            let count = "SELECT count(*) FROM next_records";
            let count: i64 = transaction.query_row(count, [], |row| row.get(0))?;
            Ok::<_, StoreError>(count.cast_unsigned() == state_of(transaction)?.tally.records)
        })?;
        Ok(is_complete && self.has_next_files()?)
    }

    /// Whether all files with vectors of the next model exist, as they do not in a copy of the main file alone.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn has_next_files(&self) -> Result<bool, StoreError> {
        self.read(|transaction| {
            let files = files_of(transaction, Model::Next)?;
            let mut files = files.into_iter();
            Ok(files.all(|file| self.vector_files().file(file).bytes() > 0))
        })
    }

    /// Gives records after `reached` that have no vectors of the next model to `each`, until that breaks after the last that
    /// it takes. Returns what is reached then, and whether no record is left.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] at the first record whose checksum fails, [`StoreError::LostVectors`] at the first whose vectors
    /// cannot be read.
    pub(crate) fn without_next(
        &self,
        mut reached: NextReached,
        mut each: impl FnMut(StoredRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(NextReached, bool), StoreError> {
        self.read(|transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM records r INDEXED BY versions {JOINS}
                 WHERE r.version >= ?1 AND (r.version > ?1 OR r.id > ?2)
                 AND NOT EXISTS (SELECT 1 FROM next_records n WHERE n.id = r.id)
                 ORDER BY r.version, r.id"
            ))?;
            let mut rows = statement.query((reached.version, reached.id))?;
            let mut vectors = VectorsRead::default();
            while let Some(row) = rows.next()? {
                let record = read(row, self.vector_files(), &mut vectors)?;
                reached.version = record.header.version.cast_signed();
                reached.id = record.header.id.cast_signed();
                if each(record).is_break() {
                    return Ok((reached, false));
                }
            }
            reached.version = state_of(transaction)?.version.cast_signed();
            reached.id = i64::MAX;
            Ok((reached, true))
        })
    }

    /// The vectors of the next model that are in the table, of the first `least` records by id; `None` where they are fewer.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] at the first record whose checksum fails; SQLite's.
    pub(crate) fn next_rows(
        &self,
        dimensions: usize,
        least: usize,
    ) -> Result<Option<NextRows>, StoreError> {
        self.read(|transaction| {
            let count = "SELECT count(*) FROM next_vectors";
            let count: i64 = transaction.query_row(count, [], |row| row.get(0))?;
            if count < least as i64 {
                return Ok(None);
            }
            let mut statement = transaction.prepare(
                "SELECT v.id, v.vector, v.crc, n.places, ifnull(substr(n.hash, 1, 16), r.hash)
                     FROM next_vectors v JOIN next_records n ON n.id = v.id
                     JOIN records r ON r.id = v.id ORDER BY v.id LIMIT ?1",
            )?;
            let mut found = statement.query([least as i64])?;
            let mut next = NextRows::default();
            let mut later = Vec::new();
            next.later.push(0);
            while let Some(row) = found.next()? {
                let id = row.get::<_, i64>(0)?.cast_unsigned();
                let vectors = row.get_ref(1)?.as_blob();
                let vectors = vectors.map_err(|_| StoreError::Damaged { id })?;
                let places = row.get_ref(3)?.as_blob_or_null();
                let places = places.map_err(|_| StoreError::Damaged { id })?;
                let crc = vectors_crc((id, row.get(4)?), vectors, places);
                if row.get::<_, i64>(2)? != i64::from(crc) {
                    return Err(StoreError::Damaged { id });
                }
                for (passage, vector) in vectors.chunks(dimensions * 4).enumerate() {
                    let rows = if passage == 0 {
                        &mut next.rows
                    } else {
                        &mut later
                    };
                    rows.extend_from_slice(vector);
                    rows.extend_from_slice(&crc_of(id, vector).to_le_bytes());
                }
                next.ids.push(id);
                next.later
                    .push((later.len() / row_bytes(dimensions)) as u32);
            }
            if later.is_empty() {
                next.later.clear();
            }
            next.rows.append(&mut later);
            Ok(Some(next))
        })
    }
}
