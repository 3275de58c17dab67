//! Reads of a store, concurrent with its writer.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use rusqlite::Transaction;

use crate::record::Vectors;
use crate::store::access::Access;
use crate::store::error::StoreError;
use crate::store::idle_connections::IdleConnections;
use crate::store::meta::read_meta;
use crate::store::record_row::RecordRow;
use crate::store::state::state_of;
use crate::store::stored_record::{COLUMNS, StoredRecord, read};
use crate::store::tally::Tally;

/// The idle connections of all stores: the limit is one of the process.
static IDLE: IdleConnections = IdleConnections::new();

/// Reads of one database, from any thread; each call sees one commit and nothing of a later one.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    pool: Arc<Pool>,
}

#[derive(Debug)]
struct Pool {
    path: PathBuf,
    access: Access,
    /// Whether the file at `path` may have other vectors; see [`Reader::retire`].
    retired: AtomicBool,
    /// Whether the file at `path` may be missing or that of another database; see [`Reader::refuse`].
    refused: AtomicBool,
}

impl Reader {
    pub(super) fn new(path: &Path) -> Reader {
        Self::with_access(path, Access::Shared)
    }

    /// A reader of the store at `path`, whose main file must exist.
    pub(crate) fn with_access(path: &Path, access: Access) -> Reader {
        Reader {
            pool: Arc::new(Pool {
                path: path.to_owned(),
                access,
                retired: AtomicBool::new(false),
                refused: AtomicBool::new(false),
            }),
        }
    }

    /// The main file.
    pub(super) fn path(&self) -> &Path {
        &self.pool.path
    }

    /// Closes the idle connections, because the file will be replaced by that of a store with the same records and other
    /// vectors. Later reads open either file: both give the same result for everything but vectors, which are no longer
    /// read.
    pub(crate) fn retire(&self) {
        self.pool.retired.store(true, Relaxed);
        self.close_idle();
    }

    /// Refuses all reads from now on, also those that run, because the database is dropped.
    pub(crate) fn refuse(&self) {
        self.pool.refused.store(true, Relaxed);
        self.close_idle();
    }

    /// Closes the idle connections.
    pub(super) fn close_idle(&self) {
        IDLE.close_all(self.number());
    }

    /// Number of the last commit, 0 before the first.
    pub(crate) fn version(&self) -> Result<u64, StoreError> {
        self.read(|transaction| Ok(state_of(transaction)?.version))
    }

    /// One above every id that was ever given.
    pub(crate) fn next_id(&self) -> Result<u64, StoreError> {
        self.read(|transaction| Ok(state_of(transaction)?.next_id))
    }

    /// Gives every record that a commit after `version` wrote or touched to `each`, until it breaks.
    ///
    /// After version 0, that is all of them, they come in the order of their ids; otherwise by version, then id.
    /// Records deleted since are not among them: see [`Reader::deleted_since`]. After version 0 the records are
    /// compared with the store's count and checksum once all were given.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] at the first record whose checksum fails; [`StoreError::Inconsistent`] at the end when
    /// records are missing or there are too many.
    pub(crate) fn load(
        &self,
        version: u64,
        mut each: impl FnMut(StoredRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let filter = if version == 0 {
            "LEFT JOIN contents c ON c.id = r.id WHERE +r.version > ?1 ORDER BY r.id"
        } else {
            "INDEXED BY versions LEFT JOIN contents c ON c.id = r.id WHERE r.version > ?1 ORDER BY r.version, r.id"
        };
        self.read(|transaction| {
            let mut statement =
                transaction.prepare_cached(&format!("SELECT {COLUMNS} FROM records r {filter}"))?;
            let mut rows = statement.query([version.cast_signed()])?;
            let mut vector = Vec::new();
            let mut tally = Tally::default();
            while let Some(row) = rows.next()? {
                let record = read(row, &mut vector)?;
                if version == 0 {
                    tally.add(&RecordRow::from(&record));
                }
                if each(record).is_break() {
                    return Ok(());
                }
            }
            if version == 0 {
                tally.compare(&state_of(transaction)?.tally)?;
            }
            Ok(())
        })
    }

    /// Gives each of `ids` that exists to `each`, in their order, all of one commit.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] at the first record whose checksum fails.
    pub(crate) fn records(
        &self,
        ids: &[u64],
        mut each: impl FnMut(StoredRecord<'_>),
    ) -> Result<(), StoreError> {
        self.read(|transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM records r LEFT JOIN contents c ON c.id = r.id WHERE r.id = ?1"
            ))?;
            let mut vector = Vec::new();
            for id in ids {
                let mut rows = statement.query([id.cast_signed()])?;
                if let Some(row) = rows.next()? {
                    each(read(row, &mut vector)?);
                }
            }
            Ok(())
        })
    }

    /// The data of a record, as JSON; `None` where there is no such record.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    #[cfg(test)]
    pub(crate) fn data(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let mut data = None;
        self.records(&[id], |record| data = Some(record.data.to_vec()))?;
        Ok(data)
    }

    /// The vectors of a record; `None` where there is no such record, where a commit after `version` wrote
    /// or touched the record, and of a retired reader.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub(crate) fn vectors(&self, id: u64, version: u64) -> Result<Option<Vectors>, StoreError> {
        if self.pool.retired.load(Relaxed) {
            return Ok(None);
        }
        let mut vectors = None;
        self.records(&[id], |record| {
            vectors = (record.version <= version).then(|| record.vectors());
        })?;
        vectors.transpose()
    }

    /// Number of records.
    pub(crate) fn count(&self) -> Result<u64, StoreError> {
        self.read(|transaction| {
            let count: i64 =
                transaction.query_row("SELECT count(*) FROM records", [], |row| row.get(0))?;
            Ok(count.cast_unsigned())
        })
    }

    /// The value under `key` of the table `meta`; the settings are under `settings`.
    pub(crate) fn meta(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|transaction| read_meta(transaction, key))
    }

    /// Runs `read` in one transaction, so that all of its statements see the same commit.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let result = self.read_or_fail(read);
        if self.pool.retired.load(Relaxed) || self.is_refused() {
            self.close_idle();
        }
        self.unless_refused(result)
    }

    fn read_or_fail<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = IDLE.take(self.number());
        let mut connection = idle.map_or_else(|| self.pool.access.open(&self.pool.path), Ok)?;
        let result = read(&connection.transaction()?);
        IDLE.keep(self.number(), connection);
        result
    }

    /// The result of a read, unless the database was dropped meanwhile: files that are being removed may fail in any way,
    /// or miss commits.
    ///
    /// # Errors
    /// [`StoreError::Dropped`].
    pub(super) fn unless_refused<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if self.is_refused() {
            return Err(StoreError::Dropped);
        }
        result
    }

    fn is_refused(&self) -> bool {
        self.pool.refused.load(Relaxed)
    }

    /// Identifies the readers of one store among all of the process.
    fn number(&self) -> usize {
        Arc::as_ptr(&self.pool).addr()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        IDLE.close_all(std::ptr::from_ref(self).addr());
    }
}
