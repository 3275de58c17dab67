//! What a store outside of the engine writes, as arrays of PostgreSQL.

use std::collections::BTreeMap;

use cosift_engine::{
    ColumnChange, ExternalChange, ExternalPut, ExternalVectors, ExternalWrites, ScannedVector,
};
use napi_derive::napi;

use crate::arrays::Array;
use crate::buffer::Buffer;
use crate::results::NativeCommitted;

/// What a commit writes.
#[napi(object, object_from_js = false)]
pub struct NativeWrites {
    /// What the caller is told.
    pub committed: NativeCommitted,
    /// The records that are stored, each once.
    pub puts: NativePuts,
    /// All changes in order.
    pub changes: NativeChanges,
    /// The records that are only synced.
    pub touches: NativeTouches,
    /// The columns whose counts change.
    pub columns: Vec<NativeColumnChange>,
    /// The id of the next new record.
    pub next_id: f64,
}

/// Records to store: arrays of the same length, in the binary format of PostgreSQL.
#[napi(object, object_from_js = false)]
pub struct NativePuts {
    /// Their number.
    pub count: u32,
    /// Integer ids.
    pub ids: Buffer,
    /// UUIDs.
    pub uuids: Buffer,
    /// Keys as bytes.
    pub keys: Buffer,
    /// The JSON texts of their data.
    pub data: Buffer,
    /// Their data as `jsonb`.
    pub cells: Buffer,
    /// Content hashes.
    pub hashes: Buffer,
    /// When they were first seen.
    pub created: Buffer,
    /// When their content last changed.
    pub changed: Buffer,
    /// When they were last seen.
    pub synced: Buffer,
    /// Their vectors.
    pub vectors: NativeVectors,
}

/// The vectors of records: arrays of the same length, in the binary format of PostgreSQL.
#[napi(object, object_from_js = false)]
pub struct NativeVectors {
    /// Four bytes for each Q30 component of the first vector, the lowest first; NULL without a vector.
    pub exact: Buffer,
    /// The passages of records with several.
    pub passages: Buffer,
    /// What identifies the exact vector of a record with one.
    pub directions: Buffer,
    /// The vector of a record with one, in single precision.
    pub embs: Buffer,
    /// All vectors of records with several.
    pub scanned: NativeScanned,
}

/// Vectors of records with several: arrays of the same length.
#[napi(object, object_from_js = false)]
pub struct NativeScanned {
    /// Their number.
    pub count: u32,
    /// The integer ids of the records.
    pub ids: Buffer,
    /// The numbers of the passages.
    pub numbers: Buffer,
    /// What identifies the exact vectors.
    pub directions: Buffer,
    /// The vectors in single precision.
    pub embs: Buffer,
}

/// Changes of the feed: arrays of the same length.
#[napi(object, object_from_js = false)]
pub struct NativeChanges {
    /// Their number.
    pub count: u32,
    /// How many created a record.
    pub created: u32,
    /// 0 for a record that was created, 1 for one that was changed.
    pub kinds: Buffer,
    /// Integer ids.
    pub ids: Buffer,
    /// UUIDs.
    pub uuids: Buffer,
    /// Keys as bytes.
    pub keys: Buffer,
    /// When.
    pub at: Buffer,
    /// The JSON texts of the data before; NULL for a new record.
    pub before: Buffer,
}

/// Records that are only synced: arrays of the same length.
#[napi(object, object_from_js = false)]
pub struct NativeTouches {
    /// Their number.
    pub count: u32,
    /// Integer ids.
    pub ids: Buffer,
    /// When they were last seen.
    pub synced: Buffer,
}

/// How the numbers of records with a column change.
#[napi(object, object_from_js = false)]
pub struct NativeColumnChange {
    /// The name.
    pub name: String,
    /// Strings, numbers, booleans, nulls, lists.
    pub counts: Vec<f64>,
}

impl From<ColumnChange> for NativeColumnChange {
    fn from(change: ColumnChange) -> Self {
        Self {
            name: change.name,
            counts: change.counts.map(|count| count as f64).to_vec(),
        }
    }
}

impl NativeWrites {
    /// `vector_type` is the number of the type `vector`.
    pub(crate) fn new(writes: ExternalWrites, vector_type: u32) -> Self {
        let mut changes = Vec::new();
        // The newest version of each record.
        let mut puts: BTreeMap<u64, &ExternalPut> = BTreeMap::new();
        let mut touches: BTreeMap<u64, i64> = BTreeMap::new();
        for change in &writes.changes {
            match change {
                ExternalChange::Put(put) => {
                    changes.push(&**put);
                    // The record is stored with its newest time.
                    touches.remove(&put.row.header.id);
                    puts.insert(put.row.header.id, put);
                }
                ExternalChange::Touch { id, synced } => {
                    touches.insert(*id, *synced);
                }
            }
        }
        let puts: Vec<&ExternalPut> = puts.into_values().collect();
        let touches: Vec<(u64, i64)> = touches.into_iter().collect();
        Self {
            committed: writes.committed.into(),
            puts: NativePuts::new(&puts, vector_type),
            changes: NativeChanges::new(&changes),
            touches: NativeTouches {
                count: touches.len() as u32,
                ids: integers(&touches, |touch| touch.0.cast_signed()),
                synced: integers(&touches, |touch| touch.1),
            },
            columns: writes.columns.into_iter().map(Into::into).collect(),
            next_id: writes.next_id as f64,
        }
    }
}

impl NativePuts {
    fn new(puts: &[&ExternalPut], vector_type: u32) -> Self {
        let vectors: Vec<_> = puts
            .iter()
            .map(|put| (put.row.header.id, &put.vectors))
            .collect();
        Self {
            count: puts.len() as u32,
            ids: integers(puts, |put| put.row.header.id.cast_signed()),
            uuids: array(Array::uuids(), puts, |put| Some(&put.row.header.uuid)),
            keys: array(Array::bytes(), puts, |put| key_bytes(put)),
            data: array(Array::texts(), puts, |put| Some(&put.row.data)),
            cells: filled(Array::json(), puts, |array, put| {
                array.push_json(&put.row.data)
            }),
            hashes: array(Array::bytes(), puts, |put| Some(&put.row.header.hash)),
            created: integers(puts, |put| put.row.header.created),
            changed: integers(puts, |put| put.row.header.changed),
            synced: integers(puts, |put| put.row.header.synced),
            vectors: NativeVectors::new(&vectors, vector_type),
        }
    }
}

impl NativeVectors {
    /// The vectors of records, each with its integer id. `vector_type` is the number of the type `vector`.
    pub(crate) fn new(records: &[(u64, &ExternalVectors)], vector_type: u32) -> Self {
        // The vectors of records with several, each with the id and the number of the passage.
        let mut scanned = Vec::new();
        for &(id, vectors) in records.iter().filter(|record| only(record).is_none()) {
            let numbered = (0_i64..).zip(&vectors.scanned);
            scanned.extend(numbered.map(|(number, vector)| (id, number, vector)));
        }
        Self {
            exact: filled(Array::bytes(), records, |array, (_, vectors)| {
                let parts = vectors.first.iter().flat_map(|part| part.to_le_bytes());
                let exact: Vec<u8> = parts.collect();
                array.push((!exact.is_empty()).then_some(&exact));
            }),
            passages: array(Array::bytes(), records, |(_, vectors)| {
                vectors.passages.as_deref()
            }),
            directions: array(Array::bytes(), records, |record| {
                Some(&only(record)?.direction)
            }),
            embs: filled(
                Array::of_type(vector_type),
                records,
                |array, record| match only(record) {
                    Some(one) => array.push_vector(&one.single),
                    None => array.push(None),
                },
            ),
            scanned: NativeScanned {
                count: scanned.len() as u32,
                ids: integers(&scanned, |(id, ..)| id.cast_signed()),
                numbers: integers(&scanned, |(_, number, _)| *number),
                directions: array(Array::bytes(), &scanned, |(.., vector)| {
                    Some(&vector.direction)
                }),
                embs: filled(
                    Array::of_type(vector_type),
                    &scanned,
                    |array, (.., vector)| {
                        array.push_vector(&vector.single);
                    },
                ),
            },
        }
    }
}

impl NativeChanges {
    fn new(puts: &[&ExternalPut]) -> Self {
        Self {
            count: puts.len() as u32,
            created: puts.iter().filter(|put| put.created).count() as u32,
            kinds: filled(Array::small_integers(), puts, |array, put| {
                array.push(Some(&i16::from(!put.created).to_be_bytes()));
            }),
            ids: integers(puts, |put| put.row.header.id.cast_signed()),
            uuids: array(Array::uuids(), puts, |put| Some(&put.row.header.uuid)),
            keys: array(Array::bytes(), puts, |put| key_bytes(put)),
            at: integers(puts, |put| put.row.header.changed),
            before: array(Array::texts(), puts, |put| put.before.as_deref()),
        }
    }
}

/// The vector of a record with one.
fn only<'a>(&(_, vectors): &(u64, &'a ExternalVectors)) -> Option<&'a ScannedVector> {
    match &vectors.scanned[..] {
        [one] => Some(one),
        _ => None,
    }
}

fn key_bytes(put: &ExternalPut) -> Option<&[u8]> {
    put.row.key.as_deref().map(str::as_bytes)
}

/// An array with one element for each of `items`, which `push` adds.
fn filled<T>(mut array: Array, items: &[T], push: impl Fn(&mut Array, &T)) -> Buffer {
    items.iter().for_each(|item| push(&mut array, item));
    array.finish()
}

fn array<T>(array: Array, items: &[T], element: impl Fn(&T) -> Option<&[u8]>) -> Buffer {
    filled(array, items, |array, item| array.push(element(item)))
}

fn integers<T>(items: &[T], integer: impl Fn(&T) -> i64) -> Buffer {
    filled(Array::integers(), items, |array, item| {
        array.push_integer(integer(item))
    })
}
