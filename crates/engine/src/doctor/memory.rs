//! The records in memory, compared with those of the store.

use std::sync::Arc;

use crate::disk::FileError;
use crate::record::{Data, OwnedValue, RecordId, RecordRow, Vectors, q30_to_f32};
use crate::snapshot::{IdentityIndex, Snapshot, VectorBuffer};
use crate::store::{Findings, StoredRecord};
use cosift_kernels::FullCodes;

/// Records of a block whose codes are computed again.
const CODES_OF_BLOCK: usize = 16;

/// A snapshot, as searches read it or as it was loaded from index files.
pub(super) struct Memory {
    pub(super) snapshot: Arc<Snapshot>,
    index: IdentityIndex,
    buffer: VectorBuffer,
    compared: usize,
}

impl Memory {
    pub(super) fn new(snapshot: Arc<Snapshot>) -> Self {
        Self {
            index: IdentityIndex::of(&snapshot),
            snapshot,
            buffer: VectorBuffer::default(),
            compared: 0,
        }
    }

    /// Compares a record of the store with the same record in memory.
    pub(super) fn compare(
        &mut self,
        data: &Data,
        record: &StoredRecord<'_>,
        findings: &mut Findings,
    ) {
        let id = record.header.id;
        let Some(row) = self.index.find_id(&self.snapshot, RecordId(id)) else {
            findings.add_record("the index files lack the record", id);
            return;
        };
        self.compared += 1;
        let (block, slot) = self.snapshot.at(row);
        let same = block.header(slot) == record.header.in_memory()
            && block.key(slot) == record.key
            && self.has_cells(row, data);
        if !same {
            findings.add_record("the index files have other content for the record", id);
            return;
        }
        let zero = record.vectors.iter().all(|&part| part == 0);
        let stored = if zero {
            Ok(Vectors::none(record.vectors.len()))
        } else {
            record.vectors()
        };
        // A vector that cannot be read is a finding about the record.
        let Ok(held) = block.vectors_of(slot, &mut self.buffer) else {
            return;
        };
        let same = block.has_vector(slot) != zero && stored.is_ok_and(|stored| stored == held);
        if !same {
            findings.add_record("the index files have another vector for the record", id);
        }
    }

    /// Checks, after every record was compared, that memory has no others, and a sample of the codes.
    pub(super) fn finish(&mut self, findings: &mut Findings) {
        if self.snapshot.records() != self.compared {
            findings.add(format!(
                "the index files have {} records, but the store has {} of them",
                self.snapshot.records(),
                self.compared
            ));
        }
        for at in 0..self.snapshot.blocks.len() {
            let problem = match self.has_codes(at) {
                Ok(true) => continue,
                Ok(false) => "are not those of its vectors".to_owned(),
                Err(error) if error.is_gone() => continue,
                Err(error) => format!("cannot be read: {error}"),
            };
            let first = self.snapshot.blocks[at].id(0).0;
            findings.add(format!(
                "the codes of the block from record {first} on {problem}"
            ));
        }
    }

    fn has_cells(&self, row: RecordRow, data: &Data) -> bool {
        let (block, slot) = self.snapshot.at(row);
        let mut cells = 0;
        for (column, value) in block.body.columns.cells(slot) {
            cells += 1;
            let stored = data.get(self.snapshot.names.name(column));
            if stored.map(OwnedValue::borrow) != Some(value) {
                return false;
            }
        }
        cells == data.cells().len()
    }

    /// Whether codes of a block are those of its vectors. Another CPU may round a few codes otherwise, so half of the
    /// bytes must be equal: those of two different vectors are equal by chance only.
    ///
    /// # Errors
    /// When low nibbles cannot be read. Their file is gone when the block was replaced meanwhile.
    fn has_codes(&mut self, at: usize) -> Result<bool, FileError> {
        let block = &self.snapshot.blocks[at];
        let step = (block.living / CODES_OF_BLOCK).max(1);
        let (mut equal, mut bytes) = (0, 0);
        let mut floats = Vec::new();
        let low = block.coded.low()?;
        for slot in block.alive.iter().step_by(step) {
            if !block.has_vector(slot) {
                continue;
            }
            let Ok(vector) = block.exact.vector(slot, &mut self.buffer) else {
                continue;
            };
            q30_to_f32(vector, &mut floats);
            let basis = &block.coded.basis;
            let [mut expected, mut stored] = [(); 2].map(|()| FullCodes::new(basis.layout(), 1));
            basis.encode(&basis.rotate(floats.len(), &floats), &mut expected);
            stored.push((&block.coded.codes, &low[0]), slot);
            let [expected, stored] = [expected, stored].map(|FullCodes { codes, low }| {
                [codes.head_bytes(), &low.rest_bytes(&codes)].concat()
            });
            let pairs = expected.iter().zip(&stored);
            // Bytes that are 0 in both are those of other lanes, and of dimensions that a layout pads.
            for (expected, stored) in pairs.filter(|(a, b)| (**a, **b) != (0, 0)) {
                equal += usize::from(expected == stored);
                bytes += 1;
            }
        }
        Ok(equal * 2 >= bytes)
    }
}
