//! A snapshot: every record of a database as of one commit, for as long as somebody reads it.

use std::sync::Arc;

use hashbrown::HashTable;

use crate::block::Block;
use crate::columns::ColumnNames;
use crate::identity::{IdKey, RecordId, RecordRow, RecordUuid, Variant};

/// All records of a database after one commit. Readers keep theirs while writers publish the next.
#[derive(Clone)]
pub struct Snapshot {
    /// The commit.
    pub version: u64,
    pub(crate) names: Arc<ColumnNames>,
    /// By rising first row. Rows of dropped blocks leave gaps.
    pub(crate) blocks: Vec<Block>,
}

impl Snapshot {
    pub(crate) fn empty() -> Self {
        Self {
            version: 0,
            names: Arc::default(),
            blocks: Vec::new(),
        }
    }

    /// Records that are neither deleted nor replaced.
    #[must_use]
    pub fn records(&self) -> usize {
        self.blocks.iter().map(|block| block.living).sum()
    }

    /// Records whose codes are in a basis that was learned.
    pub(crate) fn rotated(&self) -> usize {
        self.blocks
            .iter()
            .filter(|block| block.coded.basis.is_rotated())
            .map(|block| block.living)
            .sum()
    }

    /// Where a row is: the block's place and the slot in it.
    pub(crate) fn locate(&self, row: RecordRow) -> Option<(usize, usize)> {
        let at = self
            .blocks
            .partition_point(|block| block.body.first <= row)
            .checked_sub(1)?;
        let slot = (row.0 - self.blocks[at].body.first.0) as usize;
        (slot < self.blocks[at].len()).then_some((at, slot))
    }

    /// The block of a row and the slot in it. The row must come from this snapshot or its index.
    pub(crate) fn at(&self, row: RecordRow) -> (&Block, usize) {
        let (at, slot) = self.locate(row).expect("a row of this snapshot");
        (&self.blocks[at], slot)
    }

    /// The next row to give out.
    pub(crate) fn next_row(&self) -> RecordRow {
        self.blocks
            .last()
            .map_or(RecordRow(0), |block| block.row(block.len()))
    }
}

/// Finds living records by their identities. Holds row numbers only; the identities are in the blocks.
#[derive(Debug, Default)]
pub(crate) struct IdentityIndex {
    ids: HashTable<RecordRow>,
    uuids: HashTable<RecordRow>,
}

impl IdentityIndex {
    /// The index of a snapshot's living records.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let records = snapshot.records();
        let mut index = Self {
            ids: HashTable::with_capacity(records),
            uuids: HashTable::with_capacity(records),
        };
        for block in &snapshot.blocks {
            for slot in block.alive.iter() {
                let row = block.row(slot);
                index
                    .ids
                    .insert_unique(hash_id(block.id(slot)), row, |&other| {
                        hash_id(id_of(snapshot, other))
                    });
                let hash = hash_uuid(block.uuid(slot));
                index
                    .uuids
                    .insert_unique(hash, row, |&other| hash_uuid(uuid_of(snapshot, other)));
            }
        }
        index
    }

    pub(crate) fn find_id(&self, snapshot: &Snapshot, id: RecordId) -> Option<RecordRow> {
        self.ids
            .find(hash_id(id), |&row| id_of(snapshot, row) == id)
            .copied()
    }

    pub(crate) fn find_uuid(&self, snapshot: &Snapshot, uuid: RecordUuid) -> Option<RecordRow> {
        self.uuids
            .find(hash_uuid(uuid), |&row| uuid_of(snapshot, row) == uuid)
            .copied()
    }

    /// The record that a variant's identity names.
    pub(crate) fn find(
        &self,
        snapshot: &Snapshot,
        variant: Variant,
        id: IdKey,
    ) -> Option<RecordRow> {
        match variant {
            Variant::A => self.find_uuid(snapshot, RecordUuid(id.0.to_be_bytes())),
            Variant::B => self.find_id(snapshot, RecordId(id.0 as u64)),
        }
    }

    /// Points a record's identities at `row`, whether or not they were known.
    ///
    /// `snapshot` must hold the new row and every row that the index holds.
    pub(crate) fn insert(&mut self, snapshot: &Snapshot, row: RecordRow) {
        let (id, uuid) = (id_of(snapshot, row), uuid_of(snapshot, row));
        self.ids
            .entry(
                hash_id(id),
                |&other| id_of(snapshot, other) == id,
                |&other| hash_id(id_of(snapshot, other)),
            )
            .insert(row);
        self.uuids
            .entry(
                hash_uuid(uuid),
                |&other| uuid_of(snapshot, other) == uuid,
                |&other| hash_uuid(uuid_of(snapshot, other)),
            )
            .insert(row);
    }

    /// Forgets a record's identities. `snapshot` must still hold the row.
    pub(crate) fn remove(&mut self, snapshot: &Snapshot, row: RecordRow) {
        let (id, uuid) = (id_of(snapshot, row), uuid_of(snapshot, row));
        if let Ok(entry) = self.ids.find_entry(hash_id(id), |&other| other == row) {
            entry.remove();
        }
        if let Ok(entry) = self
            .uuids
            .find_entry(hash_uuid(uuid), |&other| other == row)
        {
            entry.remove();
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        (self.ids.allocation_size()) + self.uuids.allocation_size()
    }
}

fn id_of(snapshot: &Snapshot, row: RecordRow) -> RecordId {
    let (block, slot) = snapshot.at(row);
    block.id(slot)
}

fn uuid_of(snapshot: &Snapshot, row: RecordRow) -> RecordUuid {
    let (block, slot) = snapshot.at(row);
    block.uuid(slot)
}

/// Mixes an integer so that neighbours fall far apart (the finaliser of MurmurHash3).
fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    value = (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}

fn hash_id(id: RecordId) -> u64 {
    mix(id.0)
}

fn hash_uuid(uuid: RecordUuid) -> u64 {
    let value = u128::from_be_bytes(uuid.0);
    mix(value as u64 ^ mix((value >> 64) as u64))
}
