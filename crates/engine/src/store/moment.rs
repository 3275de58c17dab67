//! A store as of one commit.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Transaction;

use crate::runtime::max_open_files;
use crate::store::change::Change;
use crate::store::connection::check_format;
use crate::store::continuity::StoreStatus;
use crate::store::error::StoreError;
use crate::store::meta::{clock_of, read_meta, removed_of};
use crate::store::next_reads::NextReached;
use crate::store::places::{Model, files_of};
use crate::store::reader::Reader;
use crate::store::state::{Tally, state_of};
use crate::store::stored_record::{
    COLUMNS, JOINS, NEXT_COLUMNS, NEXT_JOINS, StoredRecord, VectorsRead, read,
};
use crate::store::vector_file::VectorFile;

/// What one transaction sees: all reads are of the same commit.
pub(crate) struct Moment<'a> {
    transaction: &'a Transaction<'a>,
    reader: &'a Reader,
    model: Model,
}

impl Reader {
    /// Runs `read` with the last commit.
    pub(crate) fn at_one_commit<T, E: From<StoreError>>(
        &self,
        read: impl FnOnce(&Moment<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.moment_of(Model::Current, read)
    }

    /// Runs `read` with the last commit, which has the vectors of the next model, and only the records that have one.
    pub(crate) fn at_one_commit_of_next<T, E: From<StoreError>>(
        &self,
        read: impl FnOnce(&Moment<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.moment_of(Model::Next, read)
    }

    fn moment_of<T, E: From<StoreError>>(
        &self,
        model: Model,
        read: impl FnOnce(&Moment<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read(|transaction| {
            read(&Moment {
                transaction,
                reader: self,
                model,
            })
        })
    }
}

impl Moment<'_> {
    /// Checks that the file at `path`, which the store is in, has the format of this engine.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], [`StoreError::Format`], [`StoreError::Inconsistent`]; SQLite's.
    pub(crate) fn check_format(&self, path: &Path) -> Result<(), StoreError> {
        check_format(self.transaction, path)
    }

    /// Which store it is, and its state.
    pub(crate) fn status(&self) -> Result<StoreStatus, StoreError> {
        StoreStatus::of(self.transaction)
    }

    /// The commit whose records the moment has all: the last one, or the last one that a re-embedding has reached.
    pub(crate) fn version(&self) -> Result<u64, StoreError> {
        match self.model {
            Model::Current => Ok(state_of(self.transaction)?.version),
            Model::Next => Ok(NextReached::read(self.transaction)?.map_or(0, NextReached::covered)),
        }
    }

    /// Whether another model's vectors took the place of those that the reader was made for.
    pub(crate) fn is_past_switch(&self) -> Result<bool, StoreError> {
        self.reader.is_past_switch(self.transaction)
    }

    /// The time of the last commit; `i64::MIN` where none was.
    pub(crate) fn last_commit_at(&self) -> Result<i64, StoreError> {
        clock_of(self.transaction)
    }

    /// Opens the vector files of this commit and keeps them open, because another process may remove them. Those that cannot
    /// be opened are left out, and so are those above 512 or a sixteenth of the files that the process may open.
    pub(crate) fn hold_files(&self) -> Result<Vec<Arc<VectorFile>>, StoreError> {
        let most = (max_open_files() / 16).min(512);
        let files = files_of(self.transaction, Model::Current)?;
        let mut held: Vec<_> = (files.into_iter().take(most))
            .map(|file| self.reader.vector_files().file(file))
            .collect();
        held.retain(|file| file.hold().is_ok());
        Ok(held)
    }

    /// The value under `key` of the table `meta`.
    pub(crate) fn meta(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        read_meta(self.transaction, key)
    }

    /// Position of the last change that the feed no longer keeps, 0 while it keeps all.
    pub(crate) fn removed_changes(&self) -> Result<u64, StoreError> {
        removed_of(self.transaction)
    }

    /// Gives the id of every record that a commit after `version` deleted to `each`, in the order of deletion.
    ///
    /// The ids include those of records that were created again later, so apply deletions before [`Moment::load`].
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] at the first change whose checksum fails.
    pub(crate) fn deleted_since(
        &self,
        version: u64,
        mut each: impl FnMut(u64),
    ) -> Result<(), StoreError> {
        let mut statement = self.transaction.prepare_cached(&format!(
            "SELECT {} FROM changes INDEXED BY deletions
                     WHERE kind = 3 AND version > ?1 ORDER BY version, position",
            Change::COLUMNS
        ))?;
        let mut rows = statement.query([version.cast_signed()])?;
        while let Some(row) = rows.next()? {
            each(Change::read(row, false)?.id);
        }
        Ok(())
    }

    /// Gives every record that a commit after `version` wrote or touched to `each`, until it breaks.
    ///
    /// After version 0, that is all of them, they come in the order of their ids; otherwise by version, then id.
    /// Records deleted since are not among them: see [`Moment::deleted_since`]. After version 0 the records are
    /// compared with the store's count and checksum once all were given, except those of the next model.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] at the first record whose checksum fails; [`StoreError::Inconsistent`] at the end when
    /// records are missing or there are too many.
    pub(crate) fn load(
        &self,
        version: u64,
        mut each: impl FnMut(StoredRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let (index, filter) = if version == 0 {
            ("", "WHERE +r.version > ?1 ORDER BY r.id")
        } else {
            (
                "INDEXED BY versions",
                "WHERE r.version > ?1 ORDER BY r.version, r.id",
            )
        };
        let (columns, joins) = match self.model {
            Model::Current => (COLUMNS, JOINS),
            Model::Next => (NEXT_COLUMNS, NEXT_JOINS),
        };
        let sql = format!("SELECT {columns} FROM records r {index} {joins} {filter}");
        let mut statement = self.transaction.prepare_cached(&sql)?;
        let mut rows = statement.query([version.cast_signed()])?;
        let mut vectors = VectorsRead::default();
        let mut tally = Tally::default();
        while let Some(row) = rows.next()? {
            let record = read(row, self.reader.vector_files(), &mut vectors)?;
            if version == 0 {
                tally.add(&record.header);
            }
            if each(record).is_break() {
                return Ok(());
            }
        }
        if version == 0 && self.model == Model::Current {
            tally.compare(&state_of(self.transaction)?.tally)?;
        }
        Ok(())
    }
}
