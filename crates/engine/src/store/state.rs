//! The state of a store after a commit: where it ends, and its tally, which is the number of its records and a checksum
//! over all of them.

use rusqlite::Connection;

use crate::store::error::StoreError;
use crate::store::header::Header;
use crate::store::meta::read_meta;

/// Key of the state in the table `meta`; every commit writes it.
pub(super) const STATE: &str = "state";

pub(super) const STATE_BYTES: usize = 4 * 8 + 16 + 4;

/// What the next commit continues from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    /// Number of the last commit, 0 before the first.
    pub(crate) version: u64,
    /// Position of the last change in the feed, 0 before the first.
    pub(crate) position: u64,
    /// One above every id that was ever given.
    pub(crate) next_id: u64,
    /// Rows of `records`, and a checksum over them.
    pub(crate) tally: Tally,
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
        .ok_or_else(|| {
            StoreError::inconsistent("the row that counts its records is missing or damaged")
        })
}

/// The number of rows of `records` and the sum of their digests, modulo 2^128: it does not depend on
/// the order of the rows.
///
/// A row that is lost, that is added, or that changes on disk changes the sum, with a probability of 1 - 2^-128.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) records: u64,
    pub(crate) sum: u128,
}

impl Tally {
    pub(crate) fn add(&mut self, row: &Header) {
        self.records += 1;
        self.sum = self.sum.wrapping_add(row.digest());
    }

    pub(super) fn remove(&mut self, row: &Header) {
        // More rows than were counted are damage, which shows as a count that does not match.
        self.records = self.records.wrapping_sub(1);
        self.sum = self.sum.wrapping_sub(row.digest());
    }

    /// Compares the tally of the rows that were read with the `expected` one of the store's state.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`].
    pub(super) fn compare(&self, expected: &Tally) -> Result<(), StoreError> {
        if self.records != expected.records {
            return Err(StoreError::inconsistent(format!(
                "it holds {} records, but {} were written",
                self.records, expected.records
            )));
        }
        if self.sum != expected.sum {
            return Err(StoreError::inconsistent(
                "the checksum over its records does not match",
            ));
        }
        Ok(())
    }
}
