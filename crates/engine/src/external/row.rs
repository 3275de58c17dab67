//! A record as a store outside of the engine has it.

use std::sync::Arc;

use crate::columns::{BLOCK_RECORDS, ColumnNames};
use crate::error::Error;
use crate::record::{Passages, RecordRow, Vectors};
use crate::snapshot::{Block, Coding, NewRow, Published, Snapshot};
use crate::store::Header;
use crate::write::parse_data;

/// A record as a store outside of the engine has it.
#[derive(Clone, Debug)]
pub struct ExternalRow {
    /// Its header. Only writes need the hash.
    pub header: Header,
    /// The key, if the record has one.
    pub key: Option<String>,
    /// The JSON text of its data, as [`ExternalChange`](crate::ExternalChange) had it.
    pub data: Vec<u8>,
    /// The Q30 components of its vector, or of that of its first passage; empty where the call needs no vector.
    pub vector: Vec<i32>,
    /// The passages of a record with several, in bytes as [`ExternalChange`](crate::ExternalChange) had them.
    pub passages: Option<Vec<u8>>,
}

impl ExternalRow {
    /// The vectors of the record.
    ///
    /// # Errors
    /// [`Error::Internal`] for damaged passages.
    pub(super) fn vectors(&self, dimensions: usize) -> Result<Vectors, Error> {
        vectors_of(&self.vector, self.passages.as_deref(), dimensions)
    }

    pub(super) fn damaged(&self, what: &str) -> Error {
        Error::internal(format!(
            "the {what} of record {} is damaged",
            self.header.id
        ))
    }
}

/// The vectors of a record. `first` is empty for a record without a vector.
///
/// # Errors
/// [`Error::Internal`] for damaged passages.
pub(super) fn vectors_of(
    first: &[i32],
    passages: Option<&[u8]>,
    dimensions: usize,
) -> Result<Vectors, Error> {
    if first.len() != dimensions {
        return Ok(Vectors::none(dimensions));
    }
    let read = |bytes| {
        let passages = Passages::from_bytes(bytes, dimensions);
        passages
            .map(Box::new)
            .ok_or_else(|| Error::internal("the passages of a record are damaged"))
    };
    Ok(Vectors {
        first: first.to_vec(),
        passages: passages.map(read).transpose()?,
    })
}

/// A snapshot of rows in their order. `dimensions` is 0 where no vector is needed.
///
/// # Errors
/// [`Error::Internal`] for data that [`ExternalChange`](crate::ExternalChange) never had.
pub(super) fn snapshot_of(
    rows: &[ExternalRow],
    mut names: ColumnNames,
    dimensions: usize,
) -> Result<Snapshot, Error> {
    let coding = Coding::untrained(dimensions.max(1));
    let mut blocks = Vec::with_capacity(rows.len().div_ceil(BLOCK_RECORDS));
    let mut first = 0;
    for chunk in rows.chunks(BLOCK_RECORDS) {
        let rows = chunk
            .iter()
            .map(|row| new_row(row, &mut names, dimensions))
            .collect::<Result<Vec<_>, Error>>()?;
        let block = Block::build(RecordRow(first), coding.dimensions, &rows, &coding.basis);
        blocks.push(block);
        first += chunk.len() as u32;
    }
    Ok(Snapshot {
        version: 1,
        names: Arc::new(names),
        blocks,
        ..Snapshot::empty()
    })
}

/// Rows as a write finds them. `dimensions` is 0 where no vector is needed.
///
/// # Errors
/// As [`snapshot_of`].
pub(super) fn published_of(rows: &[ExternalRow], dimensions: usize) -> Result<Published, Error> {
    snapshot_of(rows, ColumnNames::default(), dimensions).map(Published::of)
}

fn new_row(row: &ExternalRow, names: &mut ColumnNames, dimensions: usize) -> Result<NewRow, Error> {
    let data = parse_data(&row.data).map_err(|_| row.damaged("data"))?;
    let vectors = match dimensions {
        0 => Vectors::none(1),
        _ => row.vectors(dimensions)?,
    };
    let key = row.key.as_deref();
    Ok(NewRow::stored(&row.header, key, &data, names, vectors))
}
