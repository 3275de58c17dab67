//! The one writer of a database.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::store::acknowledged::{Acknowledged, Evidence, Standing, Verdict};
use crate::store::schema::{self, BUSY_TIMEOUT, PAGE_BYTES, new_identity};
use crate::store::state::{EPOCH, STATE};
use crate::store::write::{Batch, Commit, Write};
use crate::store::{Reader, StoreError};

/// Pages of log above which a commit moves them into the file: 16 MiB, read again in about 10 ms after a crash.
const CHECKPOINT_PAGES: i64 = (16 * 1024 * 1024 / PAGE_BYTES).cast_signed();

/// The truth of one database: the only handle that writes it. Reads go through [`Store::reader`].
///
/// A failed write whose effect on disk is unknown poisons it: reads go on, every later write is
/// [`StoreError::Poisoned`] until the database is opened again.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    pub(super) connection: Connection,
    reader: Reader,
    pub(super) standing: Standing,
    /// `None` until the store is accepted.
    acknowledged: Option<Acknowledged>,
    put_back: Option<&'static str>,
    poisoned: bool,
}

impl Store {
    /// Makes the database file at `path`, with its directory, complete or not at all. `settings` is kept as it is.
    ///
    /// # Errors
    /// [`StoreError::Exists`], [`StoreError::DiskFull`], [`StoreError::Io`].
    pub(crate) fn create(path: &Path, settings: &[u8]) -> Result<Store, StoreError> {
        schema::create(path, settings)?;
        Store::open(path)
    }

    /// Opens the database file at `path` and brings back every acknowledged commit.
    ///
    /// A store that turns out to be another one or in another state than it was left in, such as a backup, can be
    /// read; see [`Store::put_back`].
    ///
    /// # Errors
    /// [`StoreError::Lost`] when acknowledged commits are missing; [`StoreError::Foreign`], [`StoreError::Format`],
    /// [`StoreError::ReadOnly`], [`StoreError::Corrupt`], [`StoreError::Inconsistent`].
    pub(crate) fn open(path: &Path) -> Result<Store, StoreError> {
        let evidence = Acknowledged::read(path)?;
        let at_rest = schema::at_rest(path);
        let (connection, upgraded) = schema::open_writer(path)?;
        let standing = Standing::of(&connection)?;
        let verdict = if upgraded && evidence.is_none() {
            Verdict::Continued
        } else {
            Evidence::judge(evidence.as_ref(), at_rest.as_ref(), &standing)
        };
        let (acknowledged, put_back) = match verdict {
            Verdict::Continued => {
                schema::keep_log_on_close(&connection, false)?;
                let file_version = at_rest.map_or(0, |at_rest| at_rest.state.version);
                let acknowledged = Acknowledged::start(path, standing, file_version)?;
                (Some(acknowledged), None)
            }
            Verdict::PutBack(reason) => (None, Some(reason)),
            Verdict::Lost { acknowledged } => {
                return Err(StoreError::Lost {
                    path: path.to_owned(),
                    acknowledged,
                    found: standing.state.version,
                });
            }
        };
        Ok(Store {
            path: path.to_owned(),
            connection,
            reader: Reader::new(path),
            standing,
            acknowledged,
            put_back,
            poisoned: false,
        })
    }

    /// Why the store is not the one, or not in the state, that was left here; `None` when it is.
    ///
    /// Its log may belong to another main file, so it must be read completely, with [`Reader::load`], and then
    /// accepted before anything is written. Until then closing it changes nothing.
    pub(crate) fn put_back(&self) -> Option<&'static str> {
        self.put_back
    }

    /// Accepts a store that was put back. Its change feed begins a new epoch, because the feed may lack changes that
    /// were already read.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn accept(&mut self) -> Result<(), StoreError> {
        if self.put_back.is_none() {
            return Ok(());
        }
        let epoch = new_identity();
        self.write(|transaction| write_meta(transaction, EPOCH, &epoch))?;
        self.standing.epoch = epoch;
        schema::keep_log_on_close(&self.connection, false)?;
        self.acknowledged = Some(Acknowledged::start(&self.path, self.standing, 0)?);
        self.put_back = None;
        // Without room for it the log stays.
        let _ = self.checkpoint();
        Ok(())
    }

    /// The main file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A handle for reads, for any number of threads. It sees a commit as soon as [`Store::commit`] returns.
    pub(crate) fn reader(&self) -> Reader {
        self.reader.clone()
    }

    /// Writes all of `writes`, in order, or nothing; they are durable when it returns.
    ///
    /// # Errors
    /// [`StoreError::Taken`], [`StoreError::Missing`], [`StoreError::DiskFull`], [`StoreError::Busy`]: nothing is
    /// written, and the next commit may succeed. Any other: the store is poisoned, and whether it was written shows
    /// when it is opened again.
    pub(crate) fn commit(&mut self, writes: &[Write<'_>]) -> Result<Commit, StoreError> {
        let start = self.standing.state;
        if !writes.is_empty() {
            self.standing.state = self.write(|transaction| {
                let mut batch = Batch::begin(transaction, start)?;
                for write in writes {
                    batch.apply(write)?;
                }
                let state = batch.state();
                write_meta(transaction, STATE, &state.to_bytes())?;
                Ok(state)
            })?;
            self.committed();
        }
        Ok(Commit {
            version: self.standing.state.version,
            positions: start.position + 1..self.standing.state.position + 1,
        })
    }

    /// Keeps `value` under `key`, durable when it returns.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn set_meta(&mut self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.write(|transaction| write_meta(transaction, key, value))
    }

    /// What identifies the store: no other has the same.
    pub(crate) fn id(&self) -> [u8; 16] {
        self.standing.store_id
    }

    /// What identifies the history of the change feed. It is new when a database is created or put back to another
    /// state, and a re-embedded one keeps it.
    pub(crate) fn epoch(&self) -> [u8; 16] {
        self.standing.epoch
    }

    /// Continues the history `epoch`, as a store does that takes over the commits of another.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn set_epoch(&mut self, epoch: [u8; 16]) -> Result<(), StoreError> {
        self.set_meta(EPOCH, &epoch)?;
        self.standing.epoch = epoch;
        self.committed();
        Ok(())
    }

    /// Number of the last commit, 0 before the first.
    pub(crate) fn version(&self) -> u64 {
        self.standing.state.version
    }

    /// Place of the last change in the feed, 0 before the first.
    pub(crate) fn last_position(&self) -> u64 {
        self.standing.state.position
    }

    /// One above every id there ever was, deleted ones too, so that an id is never given twice.
    pub(crate) fn next_id(&self) -> u64 {
        self.standing.state.next_id
    }

    /// Number of records.
    pub(crate) fn records(&self) -> u64 {
        self.standing.state.tally.records
    }

    /// Whether an earlier write failed so that nothing can be written until the database is opened again.
    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    /// Bytes on disk: the file, its log and the log's index.
    pub(crate) fn file_bytes(&self) -> u64 {
        ["", "-wal", "-shm"]
            .map(|ending| {
                fs::metadata(schema::beside(&self.path, ending))
                    .map_or(0, |metadata| metadata.len())
            })
            .iter()
            .sum()
    }

    /// Moves the whole log into the file and empties it, as far as running reads allow.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`]: nothing is lost, the log stays. Any other poisons the store.
    pub(crate) fn checkpoint(&mut self) -> Result<(), StoreError> {
        // TRUNCATE would wait for reads to end, and the next commit behind it.
        self.connection.busy_timeout(Duration::ZERO)?;
        let result = self.run_checkpoint("PRAGMA wal_checkpoint(TRUNCATE)");
        self.connection.busy_timeout(BUSY_TIMEOUT)?;
        result.map(|_| ())
    }

    pub(super) fn write<T>(
        &mut self,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.poisoned {
            return Err(StoreError::Poisoned);
        }
        let result = transact(&mut self.connection, body);
        match &result {
            Ok(_) => self.checkpoint_when_due(),
            // A transaction that is still open could not be rolled back.
            Err(error) => self.poisoned = error.poisons() || !self.connection.is_autocommit(),
        }
        result
    }

    /// Notes a durable commit, before it is acknowledged.
    pub(super) fn committed(&mut self) {
        if let Some(acknowledged) = &mut self.acknowledged {
            acknowledged.note(self.standing);
        }
    }

    /// Never fails: the commit before it is durable already, and a failure that matters poisons the next one.
    fn checkpoint_when_due(&mut self) {
        if let Ok(Some(waiting)) = self.run_checkpoint("PRAGMA wal_checkpoint(NOOP)")
            && waiting > CHECKPOINT_PAGES
        {
            // PASSIVE waits for no reader; what one holds back goes with a later commit.
            let _ = self.run_checkpoint("PRAGMA wal_checkpoint(PASSIVE)");
        }
    }

    /// Pages of the log that are still to be moved into the file; `None` while another program holds its locks.
    fn run_checkpoint(&mut self, sql: &str) -> Result<Option<i64>, StoreError> {
        let result = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.query_row([], |row| {
                    let (pages, moved) = (row.get::<_, i64>(1)?, row.get::<_, i64>(2)?);
                    Ok((pages >= 0).then_some(pages - moved))
                })
            })
            .map_err(StoreError::from);
        match &result {
            Ok(Some(0)) => {
                if let Some(acknowledged) = &mut self.acknowledged {
                    acknowledged.note_checkpoint();
                }
            }
            Ok(_) => {}
            Err(error) => self.poisoned |= error.poisons(),
        }
        result
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.acknowledged.is_none() || self.poisoned {
            return;
        }
        // The log that a failed checkpoint leaves is read at the next start.
        let _ = self.checkpoint();
        if let Some(acknowledged) = self.acknowledged.as_mut().filter(|_| !self.poisoned) {
            // Without this note the next start expects what a crash leaves.
            let _ = acknowledged.note_close();
        }
    }
}

fn transact<T>(
    connection: &mut Connection,
    body: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = body(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

pub(super) fn write_meta(
    connection: &Connection,
    key: &str,
    value: &[u8],
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
        )?
        .execute((key, value))?;
    Ok(())
}
