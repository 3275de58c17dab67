//! What a store outside of the engine writes, as arrays of PostgreSQL.

use std::collections::BTreeMap;

use cosift_engine::{ColumnChange, ExternalChange, ExternalPut, ExternalVectors, ExternalWrites};
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
    /// Strings, numbers, booleans, nulls.
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
        let mut changes = ChangeArrays::new();
        // The newest version of each record.
        let mut puts: BTreeMap<u64, Box<ExternalPut>> = BTreeMap::new();
        let mut touches: BTreeMap<u64, i64> = BTreeMap::new();
        for change in writes.changes {
            match change {
                ExternalChange::Put(put) => {
                    changes.push(&put);
                    // The record is stored with its newest time.
                    touches.remove(&put.row.id);
                    puts.insert(put.row.id, put);
                }
                ExternalChange::Touch { id, synced } => {
                    touches.insert(id, synced);
                }
            }
        }
        let mut put_arrays = PutArrays::new(vector_type);
        puts.values().for_each(|put| put_arrays.push(put));
        Self {
            committed: writes.committed.into(),
            puts: put_arrays.finish(),
            changes: changes.finish(),
            touches: NativeTouches::new(&touches),
            columns: writes.columns.into_iter().map(Into::into).collect(),
            next_id: writes.next_id as f64,
        }
    }
}

struct PutArrays {
    count: u32,
    ids: Array,
    uuids: Array,
    keys: Array,
    data: Array,
    cells: Array,
    hashes: Array,
    created: Array,
    changed: Array,
    synced: Array,
    vectors: VectorArrays,
}

impl PutArrays {
    fn new(vector_type: u32) -> Self {
        Self {
            count: 0,
            ids: Array::integers(),
            uuids: Array::uuids(),
            keys: Array::bytes(),
            data: Array::texts(),
            cells: Array::json(),
            hashes: Array::bytes(),
            created: Array::integers(),
            changed: Array::integers(),
            synced: Array::integers(),
            vectors: VectorArrays::new(vector_type),
        }
    }

    fn push(&mut self, ExternalPut { row, vectors, .. }: &ExternalPut) {
        self.count += 1;
        self.ids.push_integer(row.id.cast_signed());
        self.uuids.push(Some(&row.uuid.0));
        self.keys.push(row.key.as_deref().map(str::as_bytes));
        self.data.push(Some(&row.data));
        self.cells.push_json(&row.data);
        self.hashes.push(Some(&row.hash));
        self.created.push_integer(row.created);
        self.changed.push_integer(row.changed);
        self.synced.push_integer(row.synced);
        self.vectors.push(row.id, vectors);
    }

    fn finish(self) -> NativePuts {
        NativePuts {
            count: self.count,
            ids: self.ids.finish(),
            uuids: self.uuids.finish(),
            keys: self.keys.finish(),
            data: self.data.finish(),
            cells: self.cells.finish(),
            hashes: self.hashes.finish(),
            created: self.created.finish(),
            changed: self.changed.finish(),
            synced: self.synced.finish(),
            vectors: self.vectors.finish(),
        }
    }
}

/// The arrays of [`NativeVectors`].
pub(crate) struct VectorArrays {
    exact: Array,
    passages: Array,
    directions: Array,
    embs: Array,
    scanned: ScannedArrays,
}

struct ScannedArrays {
    count: u32,
    ids: Array,
    numbers: Array,
    directions: Array,
    embs: Array,
}

impl VectorArrays {
    /// `vector_type` is the number of the type `vector`.
    pub(crate) fn new(vector_type: u32) -> Self {
        Self {
            exact: Array::bytes(),
            passages: Array::bytes(),
            directions: Array::bytes(),
            embs: Array::of_type(vector_type),
            scanned: ScannedArrays {
                count: 0,
                ids: Array::integers(),
                numbers: Array::integers(),
                directions: Array::bytes(),
                embs: Array::of_type(vector_type),
            },
        }
    }

    /// Adds the vectors of the record `id`.
    pub(crate) fn push(&mut self, id: u64, vectors: &ExternalVectors) {
        let exact: Vec<u8> = vectors
            .first
            .iter()
            .flat_map(|part| part.to_le_bytes())
            .collect();
        self.exact.push((!exact.is_empty()).then_some(&exact));
        self.passages.push(vectors.passages.as_deref());
        match &vectors.scanned[..] {
            [one] => {
                self.directions.push(Some(&one.direction));
                self.embs.push_vector(&one.single);
            }
            several => {
                self.directions.push(None);
                self.embs.push(None);
                for (number, vector) in several.iter().enumerate() {
                    let scanned = &mut self.scanned;
                    scanned.count += 1;
                    scanned.ids.push_integer(id.cast_signed());
                    scanned.numbers.push_integer(number as i64);
                    scanned.directions.push(Some(&vector.direction));
                    scanned.embs.push_vector(&vector.single);
                }
            }
        }
    }

    pub(crate) fn finish(self) -> NativeVectors {
        let scanned = self.scanned;
        NativeVectors {
            exact: self.exact.finish(),
            passages: self.passages.finish(),
            directions: self.directions.finish(),
            embs: self.embs.finish(),
            scanned: NativeScanned {
                count: scanned.count,
                ids: scanned.ids.finish(),
                numbers: scanned.numbers.finish(),
                directions: scanned.directions.finish(),
                embs: scanned.embs.finish(),
            },
        }
    }
}

struct ChangeArrays {
    count: u32,
    created: u32,
    kinds: Array,
    ids: Array,
    uuids: Array,
    keys: Array,
    at: Array,
    before: Array,
}

impl ChangeArrays {
    fn new() -> Self {
        Self {
            count: 0,
            created: 0,
            kinds: Array::small_integers(),
            ids: Array::integers(),
            uuids: Array::uuids(),
            keys: Array::bytes(),
            at: Array::integers(),
            before: Array::texts(),
        }
    }

    fn push(&mut self, put: &ExternalPut) {
        let row = &put.row;
        self.count += 1;
        self.created += u32::from(put.created);
        let kind = i16::from(!put.created);
        self.kinds.push(Some(&kind.to_be_bytes()));
        self.ids.push_integer(row.id.cast_signed());
        self.uuids.push(Some(&row.uuid.0));
        self.keys.push(row.key.as_deref().map(str::as_bytes));
        self.at.push_integer(row.changed);
        self.before.push(put.before.as_deref());
    }

    fn finish(self) -> NativeChanges {
        NativeChanges {
            count: self.count,
            created: self.created,
            kinds: self.kinds.finish(),
            ids: self.ids.finish(),
            uuids: self.uuids.finish(),
            keys: self.keys.finish(),
            at: self.at.finish(),
            before: self.before.finish(),
        }
    }
}

impl NativeTouches {
    fn new(touches: &BTreeMap<u64, i64>) -> Self {
        let (mut ids, mut synced) = (Array::integers(), Array::integers());
        for (id, time) in touches {
            ids.push_integer(id.cast_signed());
            synced.push_integer(*time);
        }
        Self {
            count: touches.len() as u32,
            ids: ids.finish(),
            synced: synced.finish(),
        }
    }
}
