//! The index of a snapshot's living records by their identities.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::record::{IdKey, RecordId, RecordRow, RecordUuid, Variant};
use crate::snapshot::view::Snapshot;

/// Finds living records by their identities. Holds row numbers only; the identities are in the blocks.
#[derive(Debug, Default)]
pub(crate) struct IdentityIndex {
    ids: HashTable<RecordRow>,
    uuids: HashTable<RecordRow>,
    hasher: IdentityHasher,
}

impl IdentityIndex {
    /// The index of a snapshot's living records.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let records = snapshot.records();
        let hasher = IdentityHasher::default();
        let mut ids = HashTable::with_capacity(records);
        let mut uuids = HashTable::with_capacity(records);
        for block in &snapshot.blocks {
            for slot in block.alive.iter() {
                let row = block.row(slot);
                ids.insert_unique(hasher.id(block.id(slot)), row, |&other| {
                    hasher.id(snapshot.id_of(other))
                });
                uuids.insert_unique(hasher.uuid(block.uuid(slot)), row, |&other| {
                    hasher.uuid(uuid_of(snapshot, other))
                });
            }
        }
        Self { ids, uuids, hasher }
    }

    pub(crate) fn find_id(&self, snapshot: &Snapshot, id: RecordId) -> Option<RecordRow> {
        self.ids
            .find(self.hasher.id(id), |&row| snapshot.id_of(row) == id)
            .copied()
    }

    pub(crate) fn find_uuid(&self, snapshot: &Snapshot, uuid: RecordUuid) -> Option<RecordRow> {
        self.uuids
            .find(self.hasher.uuid(uuid), |&row| {
                uuid_of(snapshot, row) == uuid
            })
            .copied()
    }

    /// Finds a record by the identity that `variant` uses.
    pub(crate) fn find(
        &self,
        snapshot: &Snapshot,
        variant: Variant,
        id: IdKey,
    ) -> Option<RecordRow> {
        match variant {
            Variant::A => self.find_uuid(snapshot, RecordUuid(id.0.to_be_bytes())),
            Variant::B | Variant::Both => self.find_id(snapshot, RecordId(id.0 as u64)),
        }
    }

    /// Sets `row` as the row of its record's identities, whether or not the index holds them.
    ///
    /// `snapshot` must hold the new row and every row that the index holds.
    pub(crate) fn insert(&mut self, snapshot: &Snapshot, row: RecordRow) {
        let (id, uuid) = (snapshot.id_of(row), uuid_of(snapshot, row));
        let hasher = &self.hasher;
        self.ids
            .entry(
                hasher.id(id),
                |&other| snapshot.id_of(other) == id,
                |&other| hasher.id(snapshot.id_of(other)),
            )
            .insert(row);
        self.uuids
            .entry(
                hasher.uuid(uuid),
                |&other| uuid_of(snapshot, other) == uuid,
                |&other| hasher.uuid(uuid_of(snapshot, other)),
            )
            .insert(row);
    }

    /// Removes a record's identities. `snapshot` must still hold the row.
    pub(crate) fn remove(&mut self, snapshot: &Snapshot, row: RecordRow) {
        let (id, uuid) = (snapshot.id_of(row), uuid_of(snapshot, row));
        let hasher = &self.hasher;
        if let Ok(entry) = self.ids.find_entry(hasher.id(id), |&other| other == row) {
            entry.remove();
        }
        if let Ok(entry) = self
            .uuids
            .find_entry(hasher.uuid(uuid), |&other| other == row)
        {
            entry.remove();
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        (self.ids.allocation_size()) + self.uuids.allocation_size()
    }
}

fn uuid_of(snapshot: &Snapshot, row: RecordRow) -> RecordUuid {
    let (block, slot) = snapshot.at(row);
    block.uuid(slot)
}

/// Hashes identities with a random key, because callers choose the identities and must not be able to make them collide.
#[derive(Debug, Default)]
struct IdentityHasher(DefaultHashBuilder);

impl IdentityHasher {
    fn id(&self, id: RecordId) -> u64 {
        self.0.hash_one(id.0)
    }

    fn uuid(&self, uuid: RecordUuid) -> u64 {
        self.0.hash_one(u128::from_be_bytes(uuid.0))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The finaliser of MurmurHash3, an unkeyed hash.
    fn mix(mut value: u64) -> u64 {
        value = (value ^ (value >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        value = (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        value ^ (value >> 33)
    }

    #[test]
    fn callers_cannot_choose_uuids_with_equal_hashes() {
        // All of these have the unkeyed hash mix(17).
        let uuids: Vec<RecordUuid> = (0..20_000_u64)
            .map(|high| {
                let low = mix(high) ^ 17;
                RecordUuid((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
            })
            .collect();
        let hashers = [IdentityHasher::default(), IdentityHasher::default()];
        let hashes = hashers.each_ref().map(|hasher| {
            let hashes = uuids.iter().map(|&uuid| hasher.uuid(uuid));
            hashes.collect::<HashSet<u64>>()
        });
        // By chance two of them share one of 2^64 hashes with a probability of 1e-11.
        assert_eq!(hashes.each_ref().map(HashSet::len), [20_000, 20_000]);
        assert!(
            hashes[0].is_disjoint(&hashes[1]),
            "each index has its own key"
        );
    }
}
