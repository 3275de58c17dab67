//! The state of a store after a commit: where it ends, how many records it has, and a checksum over all of them.

use rusqlite::{Connection, OptionalExtension, Row};

use crate::store::reader::read_meta;
use crate::store::{StoreError, StoredRecord};

/// Key of the state in the table `meta`; every commit writes it.
pub(super) const STATE: &str = "state";

/// Key of the random bytes that identify the store.
pub(super) const STORE_ID: &str = "store_id";

/// Key of the random bytes that identify the history of the change feed.
pub(super) const EPOCH: &str = "epoch";

pub(super) const STATE_BYTES: usize = 4 * 8 + 16 + 4;

/// What the next commit continues from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    /// Number of the last commit, 0 before the first.
    pub(crate) version: u64,
    /// Place of the last change in the feed, 0 before the first.
    pub(crate) position: u64,
    /// One above every id there ever was.
    pub(crate) next_id: u64,
    /// Rows of `records`, and a checksum over them.
    pub(crate) tally: Tally,
}

/// The number of rows of `records` and the sum of their digests, modulo 2^128: the order of the rows does not matter.
///
/// A row that is lost, that appears, or that changed on disk changes the sum, but for a chance of 2^-128.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) records: u64,
    pub(crate) sum: u128,
}

/// A row of `records`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordRow {
    pub(super) id: u64,
    pub(super) uuid: [u8; 16],
    pub(super) hash: [u8; 16],
    pub(super) created: i64,
    pub(super) changed: i64,
    pub(super) synced: i64,
    pub(super) version: u64,
}

impl RecordRow {
    /// The columns [`RecordRow::read`] takes, in its order.
    pub(super) const COLUMNS: &str = "id, uuid, hash, created, changed, synced, version";

    /// The row of `id`.
    ///
    /// # Errors
    /// [`StoreError::Missing`].
    pub(super) fn stored(connection: &Connection, id: u64) -> Result<Self, StoreError> {
        Self::find(connection, id)?.ok_or(StoreError::Missing { id })
    }

    /// The row of `id`, if there is one.
    pub(super) fn find(connection: &Connection, id: u64) -> Result<Option<Self>, StoreError> {
        Ok(connection
            .prepare_cached(&format!(
                "SELECT {} FROM records WHERE id = ?1",
                Self::COLUMNS
            ))?
            .query_row([id.cast_signed()], Self::read)
            .optional()?)
    }

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get::<_, i64>(0)?.cast_unsigned(),
            uuid: row.get(1)?,
            hash: row.get(2)?,
            created: row.get(3)?,
            changed: row.get(4)?,
            synced: row.get(5)?,
            version: row.get::<_, i64>(6)?.cast_unsigned(),
        })
    }

    /// What memory holds of the row: not its hash, and not its version.
    pub(super) fn in_memory(&self) -> Self {
        Self::of_memory(
            self.id,
            self.uuid,
            [self.created, self.changed, self.synced],
        )
    }

    /// A row as memory holds it; `times` are *created*, *changed* and *synced*.
    pub(crate) fn of_memory(id: u64, uuid: [u8; 16], times: [i64; 3]) -> Self {
        let [created, changed, synced] = times;
        Self {
            id,
            uuid,
            hash: [0; 16],
            created,
            changed,
            synced,
            version: 0,
        }
    }

    /// The first 16 bytes of BLAKE3 over the row, integers as eight little-endian bytes.
    fn digest(&self) -> u128 {
        let mut row = [0; 72];
        row[..8].copy_from_slice(&self.id.to_le_bytes());
        row[8..24].copy_from_slice(&self.uuid);
        row[24..40].copy_from_slice(&self.hash);
        row[40..48].copy_from_slice(&self.created.to_le_bytes());
        row[48..56].copy_from_slice(&self.changed.to_le_bytes());
        row[56..64].copy_from_slice(&self.synced.to_le_bytes());
        row[64..72].copy_from_slice(&self.version.to_le_bytes());
        let mut digest = [0; 16];
        digest.copy_from_slice(&blake3::hash(&row).as_bytes()[..16]);
        u128::from_le_bytes(digest)
    }
}

impl From<&StoredRecord<'_>> for RecordRow {
    fn from(record: &StoredRecord<'_>) -> Self {
        Self {
            id: record.id,
            uuid: record.uuid,
            hash: record.hash,
            created: record.created,
            changed: record.changed,
            synced: record.synced,
            version: record.version,
        }
    }
}

impl Tally {
    pub(crate) fn add(&mut self, row: &RecordRow) {
        self.records += 1;
        self.sum = self.sum.wrapping_add(row.digest());
    }

    pub(super) fn remove(&mut self, row: &RecordRow) {
        // More rows than were counted are damage, which shows as a count that does not match.
        self.records = self.records.wrapping_sub(1);
        self.sum = self.sum.wrapping_sub(row.digest());
    }

    /// Compares what was read of the table with what the state says of it.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`].
    pub(super) fn compare(&self, state: &State) -> Result<(), StoreError> {
        let expected = state.tally;
        if self.records != expected.records {
            return Err(StoreError::Inconsistent {
                what: format!(
                    "it holds {} records, but {} were written",
                    self.records, expected.records
                ),
            });
        }
        if self.sum != expected.sum {
            return Err(StoreError::Inconsistent {
                what: "the checksum over its records does not match".to_owned(),
            });
        }
        Ok(())
    }
}

impl State {
    /// The state of a store without records.
    pub(super) fn initial() -> Self {
        Self {
            version: 0,
            position: 0,
            next_id: 1,
            tally: Tally::default(),
        }
    }

    /// The four counters, the sum and a CRC-32 of all before, little-endian.
    pub(super) fn to_bytes(self) -> [u8; STATE_BYTES] {
        let mut bytes = [0; STATE_BYTES];
        let counters = [
            self.version,
            self.position,
            self.next_id,
            self.tally.records,
        ];
        for (into, counter) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(counters) {
            *into = counter.to_le_bytes();
        }
        bytes[32..48].copy_from_slice(&self.tally.sum.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..48]);
        bytes[48..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// `None` when the checksum does not match.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; STATE_BYTES] = bytes.try_into().ok()?;
        let crc = crc32fast::hash(&bytes[..48]);
        if bytes[48..] != crc.to_le_bytes() {
            return None;
        }
        let counter = |at: usize| u64::from_le_bytes(bytes.as_chunks::<8>().0[at]);
        Some(Self {
            version: counter(0),
            position: counter(1),
            next_id: counter(2),
            tally: Tally {
                records: counter(3),
                sum: u128::from_le_bytes(bytes[32..48].try_into().ok()?),
            },
        })
    }
}

/// The state as `connection` sees it.
///
/// # Errors
/// [`StoreError::Inconsistent`] when it is missing or damaged.
pub(super) fn state_of(connection: &Connection) -> Result<State, StoreError> {
    let bytes = read_meta(connection, STATE)?;
    bytes
        .and_then(|bytes| State::from_bytes(&bytes))
        .ok_or_else(|| StoreError::Inconsistent {
            what: "the row that counts its records is missing or damaged".to_owned(),
        })
}

/// The random bytes under `key`.
///
/// # Errors
/// [`StoreError::Inconsistent`] when they are missing.
pub(super) fn identity_of(connection: &Connection, key: &str) -> Result<[u8; 16], StoreError> {
    let bytes = read_meta(connection, key)?;
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| StoreError::Inconsistent {
            what: format!("its {key} is missing or damaged"),
        })
}
