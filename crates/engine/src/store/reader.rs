//! Reads of a store, concurrent with its writer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;
use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::disk::{Disk, HeldDirectory, Owner};
use crate::record::Vectors;
use crate::store::access::Access;
use crate::store::error::StoreError;
use crate::store::header::Header;
use crate::store::idle_connections::IdleConnections;
use crate::store::meta::{STORE_ID, identity_of, read_meta, switch_of};
use crate::store::places::named_files;
use crate::store::state::{State, state_of};
use crate::store::stored_record::{COLUMNS, JOINS, StoredRecord, VectorsRead, read};
use crate::store::vector_file::file_of;
use crate::store::vector_files::{PinnedFiles, VectorFiles};

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
    /// Whether the database was dropped: there is no file at `path`, or that of another database. Locked for reading while a
    /// connection is opened: SQLite opens the main file and its log one after the other, and both must be of the same database.
    dropped: RwLock<bool>,
    vectors: Arc<VectorFiles>,
    /// The commit that had last put vectors of another model in the place of the former at the first read.
    switch: OnceLock<u64>,
}

impl Reader {
    pub(super) fn new(disk: &Arc<dyn Disk>, path: &Path, id: Owner) -> Reader {
        Self::of(path, Access::Shared, VectorFiles::of(disk, path, id))
    }

    /// A reader of the store at `path`, whose main file must exist.
    pub(crate) fn with_access(disk: &Arc<dyn Disk>, path: &Path, access: Access) -> Reader {
        Self::of(path, access, VectorFiles::beside(disk, path))
    }

    fn of(path: &Path, access: Access, vectors: Arc<VectorFiles>) -> Reader {
        Reader {
            pool: Arc::new(Pool {
                path: path.to_owned(),
                access,
                dropped: RwLock::new(false),
                vectors,
                switch: OnceLock::new(),
            }),
        }
    }

    /// A reader of the store at `path` in `directory`, which another process may have open.
    pub(crate) fn beside_a_writer(
        disk: &Arc<dyn Disk>,
        path: &Path,
        directory: HeldDirectory,
    ) -> Reader {
        Self::with_access(disk, path, Access::beside_a_writer(path, directory))
    }

    /// The vector files.
    pub(crate) fn vector_files(&self) -> &VectorFiles {
        &self.pool.vectors
    }

    /// The vector files, of which none is removed until this is dropped. Call it before a transaction begins.
    pub(crate) fn pinned_files(&self) -> PinnedFiles {
        self.pool.vectors.pinned()
    }

    /// Whether the store is the one that the reader was made for. False once a process replaced or removed its directory.
    pub(crate) fn is_valid(&self) -> bool {
        self.pool.access.is_valid(&self.pool.path)
    }

    /// The main file.
    pub(super) fn path(&self) -> &Path {
        &self.pool.path
    }

    /// Opens no connection from now on, because the database is dropped. Call this before its files are removed.
    pub(crate) fn end(&self) {
        *self.pool.dropped.write() = true;
        self.close_idle();
    }

    /// Whether the database was dropped.
    pub(crate) fn has_ended(&self) -> bool {
        *self.pool.dropped.read()
    }

    /// Whether another model's vectors took the place of those that the reader was made for.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn was_switched(&self) -> Result<bool, StoreError> {
        self.read(|transaction| self.is_past_switch(transaction))
    }

    pub(super) fn is_past_switch(&self, transaction: &Transaction<'_>) -> Result<bool, StoreError> {
        Ok(self.pool.switch.get() != Some(&switch_of(transaction)?))
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// [`StoreError::Dropped`]; SQLite's.
    pub(super) fn open(&self) -> Result<Connection, StoreError> {
        let dropped = self.pool.dropped.read();
        if *dropped {
            return Err(StoreError::Dropped);
        }
        let connection = self.pool.access.open(&self.pool.path)?;
        // The first read opens the log. An error comes again with the next read.
        let _ = connection.pragma_query(None, "schema_version", |_| Ok(()));
        Ok(connection)
    }

    /// Closes the idle connections.
    pub(super) fn close_idle(&self) {
        IDLE.close_all(self.number());
    }

    /// The state after the last commit.
    pub(crate) fn state(&self) -> Result<State, StoreError> {
        self.read(|transaction| state_of(transaction))
    }

    /// The ids of the records that no commit after `version` wrote or touched, in any order.
    pub(crate) fn unwritten_since(&self, version: u64) -> Result<Vec<u64>, StoreError> {
        self.read(|transaction| {
            let mut statement = transaction
                .prepare_cached("SELECT id FROM records INDEXED BY versions WHERE version <= ?1")?;
            let ids = statement.query_map([version.cast_signed()], |row| row.get::<_, i64>(0))?;
            ids.map(|id| Ok(id?.cast_unsigned())).collect()
        })
    }

    /// Gives each of `ids` that exists to `each`, in their order, all of one commit.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] at the first record whose checksum fails, [`StoreError::LostVectors`] at the first whose vectors
    /// cannot be read.
    pub(crate) fn records(
        &self,
        ids: &[u64],
        mut each: impl FnMut(StoredRecord<'_>),
    ) -> Result<(), StoreError> {
        self.read(|transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM records r {JOINS} WHERE r.id = ?1"
            ))?;
            let mut vectors = VectorsRead::default();
            for id in ids {
                let mut rows = statement.query([id.cast_signed()])?;
                if let Some(row) = rows.next()? {
                    each(read(row, self.vector_files(), &mut vectors)?);
                }
            }
            Ok(())
        })
    }

    /// The headers of the records with each of `ids`, in their order; `None` where there is no such record.
    pub(crate) fn identities(&self, ids: &[u64]) -> Result<Vec<Option<Header>>, StoreError> {
        self.read(|transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT {} FROM records WHERE id = ?1",
                Header::COLUMNS
            ))?;
            let ids = ids.iter().map(|id| id.cast_signed());
            ids.map(|id| Ok(statement.query_row([id], Header::read).optional()?))
                .collect()
        })
    }

    /// The vectors of a record; `None` where there is no such record.
    ///
    /// # Errors
    /// [`StoreError::Damaged`], [`StoreError::LostVectors`].
    pub(crate) fn vectors(&self, id: u64) -> Result<Option<Vectors>, StoreError> {
        let mut vectors = None;
        self.records(&[id], |record| vectors = Some(record.vectors()))?;
        vectors.transpose()
    }

    /// The vector files that are named, and how many records have their place in each.
    pub(crate) fn named_files(&self) -> Result<HashMap<u64, u64>, StoreError> {
        self.read(|transaction| named_files(transaction))
    }

    /// Whether a read failed at a vector file that no commit names any more, so that the next read does not need it.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn is_past_file(&self, error: &StoreError) -> Result<bool, StoreError> {
        let StoreError::LostVectors { source, .. } = error else {
            return Ok(false);
        };
        match file_of(source) {
            Some(file) => Ok(!self.named_files()?.contains_key(&file)),
            None => Ok(false),
        }
    }

    /// The value under `key` of the table `meta`; the settings are under `settings`.
    pub(crate) fn meta(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|transaction| read_meta(transaction, key))
    }

    /// Runs `read` in one transaction, so that all of its statements see the same commit.
    ///
    /// # Errors
    /// Those of `read`; [`StoreError::Busy`] when the store was written although it must not be; SQLite's.
    pub(super) fn read<T, E: From<StoreError>>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let files = self.pinned_files();
        let idle = IDLE.take(self.number());
        let mut connection = idle.map_or_else(|| self.open(), Ok)?;
        let transaction = connection.transaction().map_err(StoreError::from)?;
        files.belong_to(|| identity_of(&transaction, STORE_ID).ok());
        if self.pool.switch.get().is_none()
            && let Ok(switch) = switch_of(&transaction)
        {
            let _ = self.pool.switch.set(switch);
        }
        let result = read(&transaction);
        drop(transaction);
        if !self.pool.access.keeps_connections() {
            drop(connection);
            return if self.is_valid() {
                result
            } else {
                Err(StoreError::Busy.into())
            };
        }
        IDLE.keep(self.number(), connection);
        if self.has_ended() {
            self.close_idle();
        }
        result
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
