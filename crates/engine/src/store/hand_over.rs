//! The hand-over of vectors from the table of the store to the file of a block.

use std::collections::HashSet;

use rusqlite::Connection;

use crate::store::batch::one;
use crate::store::error::StoreError;
use crate::store::places::{LeftPlaces, Model, named_files, number_of_named, place_in};
use crate::store::writer::Store;

impl Store {
    /// Hands the vectors of a block over to its file, which is synced: names the file, and drops the vectors of
    /// `records` from the table. Each record is given by its id and its slot in the file.
    ///
    /// The transaction is not synced, because a power cut may take it back: the table then has the vectors again. A file that
    /// it leaves without records stays until the log was moved into the main file.
    ///
    /// # Errors
    /// As [`Store::commit`]; [`StoreError::Damaged`] for a record that there is not.
    pub(crate) fn hand_over(
        &mut self,
        file: u64,
        records: impl Iterator<Item = (u64, usize)>,
    ) -> Result<(), StoreError> {
        let connection = self.connection()?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let handed_over =
            self.write(|transaction| hand_over(transaction, Model::Current, file, records));
        let connection = self.connection()?;
        let restored = connection.pragma_update(None, "synchronous", "FULL");
        // A commit that is not synced must never be acknowledged.
        self.poisoned |= restored.is_err();
        self.log_drops_files |= handed_over?;
        self.reader.vector_files().settle(file);
        Ok(restored?)
    }

    /// Notes that a vector file was written that will not be named.
    pub(crate) fn note_unnamed_file(&mut self, file: u64) {
        self.reader.vector_files().settle(file);
        self.has_unnamed_files = true;
    }

    /// Removes the vector files that are neither named nor will be, unless a read may need them. The next call tries again then.
    ///
    /// A file stays until the main file names it no more: a power cut may lose what a hand-over left in the log.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn remove_unnamed_files(&mut self) -> Result<(), StoreError> {
        if !self.has_unnamed_files
            || self.log_drops_files
            || self.poisoned
            || self.restored.is_some()
            || self.reader.vector_files().is_pinned()
        {
            return Ok(());
        }
        let named: HashSet<u64> = named_files(self.connection()?)?.into_keys().collect();
        self.has_unnamed_files = !self.reader.vector_files().remove_all_but(&named);
        Ok(())
    }
}

/// Gives `records` their places in a file, and drops their vectors from the table of `model`. Returns whether files are not
/// named any more. Records that the next model has lost meanwhile are left out.
///
/// # Errors
/// [`StoreError::Damaged`] for a record that there is not.
pub(super) fn hand_over(
    transaction: &Connection,
    model: Model,
    file: u64,
    records: impl Iterator<Item = (u64, usize)>,
) -> Result<bool, StoreError> {
    let mut left = LeftPlaces::default();
    let number = number_of_named(transaction, model, file)?;
    let mut placed: i64 = 0;
    for run in runs(records) {
        placed += run.hand_over(transaction, model, number, &mut left)? as i64;
    }
    transaction
        .prepare_cached("UPDATE vector_files SET living = living + ?2 WHERE number = ?1")?
        .execute((number, placed))?;
    let is_empty = transaction
        .prepare_cached("DELETE FROM vector_files WHERE number = ?1 AND living = 0")?
        .execute([number])?;
    Ok(left.write(transaction)? || is_empty > 0)
}

/// Records of consecutive ids in consecutive slots.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    first: i64,
    slot: usize,
    records: usize,
}

/// The runs of records that are given by id and slot.
fn runs(records: impl Iterator<Item = (u64, usize)>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (id, slot) in records {
        let id = id.cast_signed();
        match runs.last_mut() {
            Some(run) if id == run.first + run.records as i64 && slot == run.slot + run.records => {
                run.records += 1;
            }
            _ => runs.push(Run {
                first: id,
                slot,
                records: 1,
            }),
        }
    }
    runs
}

impl Run {
    /// Gives the records their places in file `number`, and returns how many they are.
    fn hand_over(
        &self,
        transaction: &Connection,
        model: Model,
        number: i64,
        left: &mut LeftPlaces,
    ) -> Result<usize, StoreError> {
        let last = self.first + self.records as i64 - 1;
        left.note_all(transaction, model, (self.first, last))?;
        let placed = transaction
            .prepare_cached(&format!(
                "UPDATE {} SET place = ?3 + (id - ?1) WHERE id BETWEEN ?1 AND ?2",
                model.places()
            ))?
            .execute((self.first, last, place_in(number, self.slot)))?;
        let id = self.first.cast_unsigned();
        one(
            usize::from(placed == self.records || model == Model::Next),
            StoreError::Damaged { id },
        )?;
        transaction
            .prepare_cached(&format!(
                "DELETE FROM {} WHERE id BETWEEN ?1 AND ?2",
                model.vectors()
            ))?
            .execute((self.first, last))?;
        Ok(placed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_consecutive_ids_and_slots_are_one_run() {
        let run = |first, slot, records| Run {
            first,
            slot,
            records,
        };
        let records = [(5, 0), (6, 1), (7, 2), (8, 4), (9, 5), (4, 6), (11, 7)];
        assert_eq!(
            runs(records.into_iter()),
            [run(5, 0, 3), run(8, 4, 2), run(4, 6, 1), run(11, 7, 1)]
        );
    }
}
