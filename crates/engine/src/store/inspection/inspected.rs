//! A store that is inspected, and what a check of it found.

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode};

use crate::disk::Disk;
use crate::store::access::Access;
use crate::store::connection::check_format;
use crate::store::error::StoreError;
use crate::store::meta::{EPOCH, STORE_ID, identity_of, read_meta, switch_of};
use crate::store::reader::Reader;
use crate::store::state::{State, state_of};
use crate::store::stored_record::{COLUMNS, JOINS, StoredRecord, VectorsRead, read};
use crate::store::vector_files::PinnedFiles;

/// A store as of one commit, opened to be inspected. It need not be complete, and no row of it is trusted.
pub(crate) struct Inspection {
    pub(super) connection: Connection,
    pub(super) reader: Reader,
    pub(super) files: PinnedFiles,
    /// The state of the commit; `None` when it is missing or damaged.
    pub(crate) state: Option<State>,
    /// The id of the store and the epoch of its change feed; `None` as for the state.
    pub(crate) identity: Option<([u8; 16], [u8; 16])>,
}

impl Inspection {
    /// Opens the store at `path`, which no process has open, and fixes the commit that the inspection sees.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], [`StoreError::Format`], [`StoreError::Inconsistent`] for another schema; SQLite's.
    pub(crate) fn open(disk: &Arc<dyn Disk>, path: &Path) -> Result<Self, StoreError> {
        Self::of_open(&Reader::with_access(disk, path, Access::Frozen))
    }

    /// As [`Inspection::open`], of a store that is open in this process.
    ///
    /// # Errors
    /// As for [`Inspection::open`]; [`StoreError::Dropped`].
    pub(crate) fn of_open(reader: &Reader) -> Result<Self, StoreError> {
        let files = reader.pinned_files();
        let connection = reader.open()?;
        connection.execute_batch("BEGIN")?;
        check_format(&connection, reader.path())?;
        let identity = identity_of(&connection, STORE_ID)
            .and_then(|id| Ok((id, identity_of(&connection, EPOCH)?)));
        let identity = identity.ok();
        files.belong_to(|| identity.map(|(id, _)| id));
        Ok(Self {
            state: state_of(&connection).ok(),
            identity,
            connection,
            reader: reader.clone(),
            files,
        })
    }

    /// The value under `key` of the table `meta`.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn meta(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        read_meta(&self.connection, key)
    }

    /// The number of the commit that last put vectors of another model in the place of the former; 0 before the first.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn switch(&self) -> Result<u64, StoreError> {
        switch_of(&self.connection)
    }

    /// The number of records that commits after `version` wrote or touched.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn written_since(&self, version: u64) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM records INDEXED BY versions WHERE version > ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let count: i64 = statement.query_row([version.cast_signed()], |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }

    /// Gives the first record with an id of at least `id` to `each`, if there is one and it is not damaged.
    ///
    /// # Errors
    /// SQLite's, unless the error is that of a damaged file.
    pub(crate) fn record_from(
        &self,
        id: u64,
        each: impl FnOnce(StoredRecord<'_>),
    ) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM records r NOT INDEXED {JOINS}
             WHERE r.id >= ?1 ORDER BY r.id LIMIT 1"
        ))?;
        let mut rows = statement.query([id.cast_signed()])?;
        let mut vectors = VectorsRead::default();
        match rows.next() {
            Ok(Some(row)) => {
                if let Ok(record) = read(row, &self.files, &mut vectors) {
                    each(record);
                }
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error) if is_damage(&error) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// A reader of the same files.
    pub(crate) fn reader(&self) -> Reader {
        self.reader.clone()
    }
}

/// Whether an error of SQLite says that the file is damaged.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    ) || matches!(
        error,
        rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
    )
}

/// Ids of a problem that are kept. The others are only counted.
const MAX_IDS: usize = 10;

/// Something that is wrong, and the records that it affects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// What is wrong, without a number of records.
    pub(crate) what: String,
    /// The number of affected records; 0 when no record is known to be affected.
    pub(crate) records: u64,
    /// The first of them.
    pub(crate) ids: Vec<u64>,
}

/// The problems that a check found; none when all is well.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) problems: Vec<Problem>,
}

impl Findings {
    /// Adds a problem that affects no single record.
    pub(crate) fn add(&mut self, what: impl Into<String>) {
        self.problem(what.into());
    }

    /// Adds a record to the problem `what`.
    pub(crate) fn add_record(&mut self, what: &str, id: u64) {
        self.add_records(what, [id]);
    }

    /// Adds records to the problem `what`.
    pub(crate) fn add_records(&mut self, what: &str, ids: impl IntoIterator<Item = u64>) {
        let problem = self.problem(what.to_owned());
        for id in ids {
            problem.records += 1;
            if problem.ids.len() < MAX_IDS {
                problem.ids.push(id);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    fn problem(&mut self, what: String) -> &mut Problem {
        let known = self.problems.iter().position(|known| known.what == what);
        let at = known.unwrap_or_else(|| {
            self.problems.push(Problem {
                what,
                records: 0,
                ids: Vec::new(),
            });
            self.problems.len() - 1
        });
        &mut self.problems[at]
    }
}
