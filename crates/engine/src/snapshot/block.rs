//! A block: up to 4,096 records as a search reads them.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::columns::{BLOCK_RECORDS, Columns, Integers, Mask, TypeCounts};
use crate::disk::FileError;
use crate::lexical::{BlockIndex, BlockWords, TextColumns};
use crate::record::{
    Passage, Passages, RecordId, RecordKey, RecordRow, RecordTime, RecordUuid, Vectors,
};
use crate::runtime::give_way;
use crate::snapshot::basis::Basis;
use crate::snapshot::block_memory::BlockMemory;
use crate::snapshot::body::Body;
use crate::snapshot::coded::{Coded, CodedBuilder, recode};
use crate::snapshot::exact_vectors::{ExactVectors, VectorBuffer, VectorsInMemory};
use crate::snapshot::file_names::FileId;
use crate::snapshot::keys::Keys;
use crate::snapshot::living_counts::LivingCounts;
use crate::snapshot::new_row::{NewRow, Times};
use crate::snapshot::passage_table::PassageTable;
use crate::snapshot::shared_times::{share_equal, share_times, times_memory_bytes};
use crate::store::Header;

/// A block of a snapshot. Its parts are shared: a new version of a block copies only what differs.
#[derive(Clone)]
pub(crate) struct Block {
    /// The number of its first record.
    pub(crate) first: RecordRow,
    pub(crate) body: Arc<Body>,
    pub(crate) coded: Arc<Coded>,
    pub(crate) exact: Arc<ExactVectors>,
    /// The index of the words of the columns of the snapshot, once it was needed.
    pub(crate) words: Arc<BlockWords>,
    /// The times of last sync, shared with other times of the block that are equal. An upsert of an unchanged record
    /// changes only this time.
    pub(crate) synced: Arc<Integers>,
    /// Records that are neither deleted nor replaced.
    pub(crate) alive: Arc<Mask>,
    pub(crate) living: usize,
}

impl Block {
    /// Builds a block of new records, numbered from `first`.
    pub(crate) fn build(
        first: RecordRow,
        dimensions: usize,
        rows: &[NewRow],
        basis: &Arc<Basis>,
    ) -> Self {
        debug_assert!(rows.len() <= BLOCK_RECORDS);
        let mut exact = VectorsInMemory::new(dimensions);
        let mut coded = CodedBuilder::new(basis, rows.len());
        let passages = || rows.iter().map(|row| row.vectors.passages.as_deref());
        let later = passages().flatten().map(|passages| &passages.vectors[..]);
        let later = later.flat_map(|vectors| vectors.chunks_exact(dimensions));
        for vector in rows.iter().map(|row| &row.vectors.first[..]).chain(later) {
            exact.push(vector);
            coded.encode(vector);
        }
        let integers =
            |of: fn(&NewRow) -> i64| Integers::build(&rows.iter().map(of).collect::<Vec<_>>());
        let [created, changed, synced] = share_times(
            integers(|row| row.times.created),
            integers(|row| row.times.changed),
            integers(|row| row.times.synced),
        );
        let body = Body {
            file_id: FileId::next(),
            ids: integers(|row| row.id.0 as i64),
            uuids: rows.iter().map(|row| row.uuid).collect(),
            created,
            changed,
            columns: Columns::build(rows.iter().map(|row| row.cells.as_slice())),
            without_vector: some_of(
                (0..rows.len())
                    .filter(|&slot| {
                        rows[slot]
                            .vectors
                            .first
                            .iter()
                            .all(|&component| component == 0)
                    })
                    .collect(),
            ),
            keys: Keys::build(
                rows.iter()
                    .map(|row| row.key.as_ref().map(RecordKey::as_str)),
            ),
            passages: PassageTable::of(passages().map(|passages| Some(passages?.places.clone()))),
            equal: None,
            living_counts: Mutex::default(),
        };
        let body = body.with_equal_vectors(exact.rows());
        Self {
            first,
            body: Arc::new(body),
            coded: Arc::new(coded.finish()),
            exact: Arc::new(ExactVectors::Memory(exact)),
            words: Arc::default(),
            synced,
            alive: Arc::new(Mask::full(rows.len())),
            living: rows.len(),
        }
    }

    /// Joins two neighbouring blocks.
    ///
    /// # Errors
    /// When the exact vectors of one block are in a file that cannot be read.
    pub(crate) fn join(left: &Self, right: &Self) -> Result<Self, FileError> {
        debug_assert_eq!(left.row(left.len()), right.first);
        let dimensions = left.exact.dimensions();
        let mut exact = VectorsInMemory::new(dimensions);
        let mut buffer = VectorBuffer::default();
        let records = [left, right].map(|block| (block, 0..block.len()));
        let later = [left, right].map(|block| (block, block.len()..block.body.rows()));
        for (block, rows) in records.into_iter().chain(later) {
            for row in rows {
                give_way();
                exact.push(block.exact.vector(row, &mut buffer)?);
            }
        }
        let [created, changed, synced] = share_times(
            join_integers(&left.body.created, &right.body.created),
            join_integers(&left.body.changed, &right.body.changed),
            join_integers(&left.synced, &right.synced),
        );
        let mut alive = (*left.alive).clone();
        right
            .alive
            .iter()
            .for_each(|slot| alive.set(left.len() + slot));
        let body = Body {
            file_id: FileId::next(),
            ids: join_integers(&left.body.ids, &right.body.ids),
            uuids: [left.body.uuids.as_slice(), &right.body.uuids].concat(),
            created,
            changed,
            columns: Columns::join(&[&left.body.columns, &right.body.columns]),
            without_vector: some_of(
                (0..left.len() + right.len())
                    .filter(|&slot| match slot.checked_sub(left.len()) {
                        None => !left.has_vector(slot),
                        Some(slot) => !right.has_vector(slot),
                    })
                    .collect(),
            ),
            keys: Keys::build(
                [left, right]
                    .into_iter()
                    .flat_map(|block| (0..block.len()).map(|slot| block.key(slot))),
            ),
            passages: PassageTable::of(
                [left, right]
                    .into_iter()
                    .flat_map(|block| (0..block.len()).map(|slot| block.places(slot))),
            ),
            equal: None,
            living_counts: Mutex::default(),
        };
        let body = body.with_equal_vectors(exact.rows());
        let exact = ExactVectors::Memory(exact);
        let sides = [&left.coded, &right.coded];
        let have_one_basis = left.coded.basis.file_id == right.coded.basis.file_id;
        let coded = if have_one_basis
            // Where a file of codes is lost, the exact vectors suffice.
            && let [Ok(left_low), Ok(right_low)] = sides.map(|coded| coded.low())
        {
            let mut coded = CodedBuilder::new(&left.coded.basis, left.len() + right.len());
            let low = [left_low, right_low];
            let parts = |side: usize| sides[side].parts().zip(&*low[side]);
            // The codes of all records come before those of later rows.
            let records = [0, 1].into_iter().flat_map(|side| parts(side).take(1));
            let later = [0, 1].into_iter().flat_map(|side| parts(side).skip(1));
            records.chain(later).for_each(|part| coded.append(part));
            coded.finish()
        } else {
            let coded = recode(&exact, &body, &right.coded.basis, &|| false)?;
            coded.expect("nothing stops it")
        };
        Ok(Self {
            first: left.first,
            body: Arc::new(body),
            coded: Arc::new(coded),
            exact: Arc::new(exact),
            words: Arc::default(),
            synced,
            alive: Arc::new(alive),
            living: left.living + right.living,
        })
    }

    /// Number of records, including deleted ones.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.body.uuids.len()
    }

    /// Whether searches can find the record in `slot`.
    pub(crate) fn has_vector(&self, slot: usize) -> bool {
        self.body.has_vector(slot)
    }

    /// The places of the passages of the record in `slot`, if it has several.
    pub(crate) fn places(&self, slot: usize) -> Option<Vec<Passage>> {
        self.body.passages.as_ref()?.places_of(slot)
    }

    /// The vectors of the record in `slot`.
    ///
    /// # Errors
    /// As [`ExactVectors::vector`].
    pub(crate) fn vectors_of(
        &self,
        slot: usize,
        buffer: &mut VectorBuffer,
    ) -> Result<Vectors, FileError> {
        if !self.has_vector(slot) {
            return Ok(Vectors::none(self.exact.dimensions()));
        }
        let first = self.exact.vector(slot, buffer)?.to_vec();
        let Some(places) = self.places(slot) else {
            return Ok(Vectors::one(first));
        };
        let mut vectors = Vec::new();
        for row in self.body.later_of(slot) {
            vectors.extend_from_slice(self.exact.vector(row, buffer)?);
        }
        Ok(Vectors {
            first,
            passages: Some(Box::new(Passages { places, vectors })),
        })
    }

    /// Whether the record in `slot` has one vector at most.
    pub(crate) fn has_one_vector(&self, slot: usize) -> bool {
        let passages = self.body.passages.as_ref();
        passages.is_none_or(|passages| !passages.records.get(slot))
    }

    /// Number of the record in `slot`.
    pub(crate) fn row(&self, slot: usize) -> RecordRow {
        RecordRow(self.first.0 + slot as u32)
    }

    pub(crate) fn id(&self, slot: usize) -> RecordId {
        RecordId(self.body.ids.get(slot) as u64)
    }

    pub(crate) fn uuid(&self, slot: usize) -> RecordUuid {
        self.body.uuids[slot]
    }

    /// The key of the record in `slot`, if it has one.
    pub(crate) fn key(&self, slot: usize) -> Option<&str> {
        self.body.key(slot)
    }

    pub(crate) fn times(&self, slot: usize) -> Times {
        Times {
            created: self.body.created.get(slot),
            changed: self.body.changed.get(slot),
            synced: self.synced.get(slot),
        }
    }

    /// One of the times of all records.
    pub(crate) fn times_of(&self, time: RecordTime) -> &Integers {
        match time {
            RecordTime::Created => &self.body.created,
            RecordTime::Changed => &self.body.changed,
            RecordTime::Synced => &self.synced,
        }
    }

    /// The header of the record in `slot`, without a hash and a version, which are not in memory.
    pub(crate) fn header(&self, slot: usize) -> Header {
        let (id, uuid) = (self.id(slot), self.uuid(slot));
        self.times(slot).header(id, uuid, [0; 16])
    }

    /// Whether the index of the words is built.
    pub(crate) fn has_words(&self) -> bool {
        self.words.get().is_some()
    }

    /// The index of the words, which is built if it is not there yet.
    pub(crate) fn words(&self, columns: &TextColumns) -> Arc<BlockIndex> {
        let build = || BlockIndex::build(&self.body.columns, columns);
        self.words.get_or_build(build)
    }

    /// The number of living records without a vector.
    pub(crate) fn without_vector(&self) -> usize {
        let without = self.body.without_vector.as_ref();
        without.map_or(0, |without| {
            self.living - self.alive.without(without).count()
        })
    }

    /// The number of vectors of living records.
    pub(crate) fn vectors(&self) -> usize {
        let later = self.body.passages.as_ref().map_or(0, |passages| {
            let mut living = passages.records.clone();
            living.and(&self.alive);
            living
                .iter()
                .map(|slot| passages.later_of(slot).len())
                .sum()
        });
        self.living - self.without_vector() + later
    }

    /// Adds how many living records hold each type in each column to `totals`, which has an entry for each column.
    pub(crate) fn add_type_counts(&self, totals: &mut [TypeCounts]) {
        let kept = &mut *self.body.living_counts.lock();
        LivingCounts::add_to(totals, kept, &self.body.columns, &self.alive);
    }

    /// Marks the record in `slot` as deleted.
    pub(crate) fn mark_deleted(&mut self, slot: usize) {
        if self.alive.get(slot) {
            Arc::make_mut(&mut self.alive).clear(slot);
            self.living -= 1;
        }
    }

    /// Sets the times at which some records, given by their slots, were last seen.
    pub(crate) fn touch(&mut self, touched: &[(usize, i64)]) {
        let mut times: Vec<i64> = self.synced.iter().collect();
        touched
            .iter()
            .for_each(|&(slot, synced)| times[slot] = synced);
        let body = &self.body;
        self.synced = share_equal(Integers::build(&times), &[&body.changed, &body.created]);
    }

    /// A living record, to build another block from it.
    pub(crate) fn take(&self, slot: usize, buffer: &mut VectorBuffer) -> Result<NewRow, FileError> {
        Ok(NewRow {
            id: self.id(slot),
            uuid: self.uuid(slot),
            key: self.key(slot).and_then(RecordKey::new),
            times: self.times(slot),
            cells: self
                .body
                .columns
                .cells(slot)
                .map(|(column, value)| (column, value.into()))
                .collect(),
            vectors: self.vectors_of(slot, buffer)?,
        })
    }

    /// Bytes in memory, by kind.
    pub(crate) fn memory(&self) -> BlockMemory {
        let body = &self.body;
        BlockMemory {
            codes: self.coded.memory_bytes(),
            columns: body.columns.memory_bytes(),
            identities: body.uuids.len() * 16
                + body.keys.as_ref().map_or(0, |keys| keys.memory_bytes())
                + body
                    .passages
                    .as_ref()
                    .map_or(0, |passages| passages.memory_bytes())
                + body.equal.as_ref().map_or(0, |equal| equal.memory_bytes())
                + body.ids.memory_bytes()
                + times_memory_bytes([&body.created, &body.changed, &self.synced])
                + size_of::<Mask>(),
            exact: self.exact.memory_bytes(),
            lexical: self.words.get().map_or(0, |words| words.memory_bytes()),
        }
    }
}

/// `None` for an empty mask.
fn some_of(mask: Mask) -> Option<Box<Mask>> {
    (!mask.is_empty()).then(|| Box::new(mask))
}

fn join_integers(left: &Integers, right: &Integers) -> Integers {
    Integers::build(&left.iter().chain(right.iter()).collect::<Vec<_>>())
}
