//! The count of a store's records and a checksum over them.

use crate::store::error::StoreError;
use crate::store::header::Header;

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
