//! The files of a block.

use std::sync::Arc;

use cosift_kernels::Codes;
use parking_lot::Mutex;

use crate::columns::{BLOCK_RECORDS, Columns, Integers, Mask};
use crate::disk::{FileError, PartsFile};
use crate::record::{RecordRow, RecordUuid};
use crate::snapshot::basis::Basis;
use crate::snapshot::block::Block;
use crate::snapshot::body::Body;
use crate::snapshot::coded::Coded;
use crate::snapshot::equal_vectors::EqualVectors;
use crate::snapshot::exact_vectors::{ExactVectors, VectorFile, VectorsInMemory};
use crate::snapshot::file_names::{BASIS, CODES, FileId, ROWS};
use crate::snapshot::index_files::{FileName, IndexFiles};
use crate::snapshot::keys::Keys;
use crate::snapshot::low_memory::{LowFile, LowMemory};
use crate::snapshot::passage_table::PassageTable;
use crate::snapshot::shared_times::share_times;
use crate::snapshot::unusable::Unusable;

/// Part of a `.rows` file that holds the records without a vector: a bit each, or nothing.
const WITHOUT_VECTOR: usize = 5;

/// Part of a `.rows` file that holds the keys of records. This part and those after it may be empty. A file ends with the
/// last of them that is not empty.
const KEYS: usize = 6;

/// Part of a `.rows` file that holds the passages of records.
const PASSAGES: usize = 7;

/// Part of a `.rows` file that holds the records with equal vectors.
const EQUAL: usize = 8;

const MISMATCH: Unusable = Unusable::Content("the files of a block do not fit each other");

/// A block as the saved snapshot lists it.
pub(super) struct BlockEntry<'a> {
    pub(super) first: RecordRow,
    pub(super) records: usize,
    pub(super) rows: FileId,
    pub(super) codes: FileId,
    pub(super) basis: Arc<Basis>,
    /// The commit of the saved snapshot.
    pub(super) version: u64,
    /// Whether the store names the file of its vectors.
    pub(super) is_named: bool,
    /// The parts of the block that change: its living records, and when each record was last synced.
    pub(super) changing: &'a [u8],
}

impl IndexFiles {
    /// Writes the vectors of a block to their file, except those of records that are gone, and lets the block read them from
    /// it.
    pub(crate) fn write_vectors(&self, block: &mut Block) -> Result<(), FileError> {
        if let ExactVectors::Memory(rows) = &*block.exact {
            let body = &block.body;
            let (sizes, later) = ((self.dimensions, body.uuids.len()), later_rows(body));
            let files = self.store.vector_files();
            let rows = rows.to_bytes(body, &block.alive);
            files.write(body.file_id.0, sizes, &later, &rows)?;
            block.exact = Arc::new(ExactVectors::File(self.vector_file(body)));
        }
        Ok(())
    }

    /// The vectors of a block as they are read from their file.
    fn vector_file(&self, body: &Arc<Body>) -> VectorFile {
        let file = self.store.vector_files().file(body.file_id.0);
        VectorFile::new(
            file,
            self.dimensions,
            Arc::clone(body),
            self.store.clone(),
            &self.vectors,
        )
    }

    /// The vectors of the `alive` records of a block, from the store. The records that a commit after `version` wrote or
    /// deleted have no vectors: reading the later commits replaces or removes them.
    fn stored_vectors(
        &self,
        body: &Body,
        alive: &Mask,
        version: u64,
    ) -> Result<VectorsInMemory, Unusable> {
        let mut vectors = VectorsInMemory::zeros(self.dimensions, body.rows());
        let slots: Vec<usize> = alive.iter().collect();
        let ids: Vec<u64> = slots
            .iter()
            .map(|&slot| body.ids.get(slot) as u64)
            .collect();
        let mut at = 0;
        let mut fits = true;
        self.store.records(&ids, |record| {
            // Deleted records are left out.
            while ids[at] != record.header.id {
                at += 1;
            }
            if record.header.version <= version {
                let rows = std::iter::once(slots[at]).chain(body.later_of(slots[at]));
                fits &= record.vectors.len() == rows.clone().count() * self.dimensions;
                let stored = record.vectors.chunks_exact(self.dimensions);
                rows.zip(stored)
                    .for_each(|(row, vector)| vectors.set(row, vector));
            }
        })?;
        fits.then_some(vectors).ok_or(MISMATCH)
    }

    /// The low nibbles of codes in their file; `rows` are the records and the later rows.
    fn low_file(&self, file_id: FileId, basis: &Basis, rows: Vec<usize>) -> LowFile {
        LowFile {
            disk: Arc::clone(&self.disk),
            path: self.path_of(file_id, CODES),
            owner: self.owner,
            layout: basis.layout(),
            rows,
            memory: Arc::clone(&self.vectors),
        }
    }

    /// Writes all files of a block.
    pub(super) fn write_block(&self, block: &Block) -> Result<[FileName; 3], FileError> {
        let (body, coded) = (&block.body, &block.coded);
        self.write(body.file_id, ROWS, || Ok(rows_parts(block)))?;
        self.write(coded.file_id, CODES, || {
            let low = coded.low()?;
            let parts = coded.parts().zip(&*low);
            let bytes =
                parts.flat_map(|(codes, low)| [codes.head_bytes().to_vec(), low.rest_bytes(codes)]);
            Ok(bytes.collect())
        })?;
        if coded.waits_for_file() {
            let rows = coded.parts().map(Codes::records).collect();
            coded
                .low
                .set_file(self.low_file(coded.file_id, &coded.basis, rows));
        }
        let basis = || Ok(vec![coded.basis.to_bytes()]);
        self.write(coded.basis.file_id, BASIS, basis)?;
        Ok([
            (body.file_id, ROWS),
            (coded.file_id, CODES),
            (coded.basis.file_id, BASIS),
        ])
    }

    /// Reads a block from its files.
    pub(super) fn load_block(&self, entry: &BlockEntry<'_>) -> Result<Block, Unusable> {
        let records = entry.records;
        let rows = self.open(entry.rows, ROWS)?;
        if !(WITHOUT_VECTOR + 1..=EQUAL + 1).contains(&rows.part_count()) {
            return Err(MISMATCH);
        }
        let uuids = rows.read_part(1)?;
        let (alive, synced) = entry
            .changing
            .split_at_checked(size_of::<Mask>())
            .ok_or(MISMATCH)?;
        let [created, changed, synced] = share_times(
            Integers::read(&rows.read_part(2)?, records)?,
            Integers::read(&rows.read_part(3)?, records)?,
            Integers::read(synced, records)?,
        );
        let body = Body {
            // A file that only the main file still names must not be written again before the log is in it.
            file_id: if entry.is_named {
                entry.rows
            } else {
                FileId::next()
            },
            ids: Integers::read(&rows.read_part(0)?, records)?,
            uuids: uuids
                .as_chunks::<16>()
                .0
                .iter()
                .map(|&bytes| RecordUuid(bytes))
                .collect(),
            created,
            changed,
            columns: Columns::read(&rows.read_part(4)?)?,
            without_vector: match rows.read_part(WITHOUT_VECTOR)?.as_slice() {
                [] => None,
                bytes => Some(Box::new(Mask::from_bytes(bytes).ok_or(MISMATCH)?)),
            },
            keys: match optional_part(&rows, KEYS)?.as_slice() {
                [] => None,
                bytes => Some(Box::new(Keys::from_bytes(bytes, records).ok_or(MISMATCH)?)),
            },
            passages: match optional_part(&rows, PASSAGES)?.as_slice() {
                [] => None,
                bytes => Some(PassageTable::from_bytes(bytes, records).ok_or(MISMATCH)?),
            },
            equal: match optional_part(&rows, EQUAL)?.as_slice() {
                [] => None,
                bytes => Some(EqualVectors::from_bytes(bytes, records).ok_or(MISMATCH)?),
            },
            living_counts: Mutex::default(),
        };
        let files = self.open(entry.codes, CODES)?;
        let later = body.rows() - records;
        let parts = 2 + 2 * later.div_ceil(BLOCK_RECORDS);
        if files.part_count() != parts
            || body.uuids.len() != records
            || body.columns.len() != records
        {
            return Err(MISMATCH);
        }
        let read_codes = |part: usize, rows: usize| -> Result<Codes, Unusable> {
            let (head, rest) = (files.read_part(part)?, files.read_part(part + 1)?);
            Codes::from_bytes(entry.basis.layout(), rows, &head, &rest).ok_or(MISMATCH)
        };
        let codes = read_codes(0, records)?;
        let later: Vec<Codes> = (0..later)
            .step_by(BLOCK_RECORDS)
            .zip((2..).step_by(2))
            .map(|(first, part)| read_codes(part, BLOCK_RECORDS.min(later - first)))
            .collect::<Result<_, _>>()?;
        let rows = std::iter::once(&codes).chain(&later).map(Codes::records);
        let low = LowMemory::in_file(self.low_file(entry.codes, &entry.basis, rows.collect()));
        let mut mask = Mask::from_bytes(alive).ok_or(MISMATCH)?;
        mask.and(&Mask::full(records));
        let body = Arc::new(body);
        let exact = if entry.is_named {
            ExactVectors::File(self.vector_file(&body))
        } else {
            ExactVectors::Memory(self.stored_vectors(&body, &mask, entry.version)?)
        };
        if entry.is_named {
            self.note_written([(entry.rows, ROWS)]);
        }
        self.note_written([(entry.codes, CODES), (entry.basis.file_id, BASIS)]);
        Ok(Block {
            first: entry.first,
            living: mask.count(),
            body,
            coded: Arc::new(Coded {
                file_id: entry.codes,
                basis: Arc::clone(&entry.basis),
                codes,
                later,
                low,
            }),
            exact: Arc::new(exact),
            words: Arc::default(),
            synced,
            alive: Arc::new(mask),
        })
    }
}

/// The first later row of each record, and the end of the last; nothing where each record has one vector.
fn later_rows(body: &Body) -> Vec<u32> {
    let mut later = Vec::new();
    if body.passages.is_some() {
        later.push(0);
        for slot in 0..body.uuids.len() {
            later.push(later[slot] + body.later_of(slot).len() as u32);
        }
    }
    later
}

fn rows_parts(block: &Block) -> Vec<Vec<u8>> {
    let body = &block.body;
    let integers = |of: &Integers| {
        let mut out = Vec::new();
        of.write(&mut out);
        out
    };
    let mut columns = Vec::new();
    body.columns.write(&mut columns);
    let uuids: Vec<u8> = body.uuids.iter().flat_map(|uuid| uuid.0).collect();
    let mut parts = vec![
        integers(&body.ids),
        uuids,
        integers(&body.created),
        integers(&body.changed),
        columns,
        body.without_vector
            .as_ref()
            .map_or_else(Vec::new, |mask| mask.to_bytes()),
    ];
    let keys = body.keys.as_ref().map(|keys| keys.to_bytes());
    let passages = body.passages.as_ref().map(|passages| passages.to_bytes());
    let equal = body.equal.as_ref().map(|equal| equal.to_bytes());
    let mut optional = vec![keys, passages, equal];
    while optional.pop_if(|part| part.is_none()).is_some() {}
    parts.extend(optional.into_iter().map(Option::unwrap_or_default));
    parts
}

/// The bytes of a part; none for a part that the file does not have.
fn optional_part(file: &PartsFile, part: usize) -> Result<Vec<u8>, FileError> {
    if part < file.part_count() {
        file.read_part(part)
    } else {
        Ok(Vec::new())
    }
}
