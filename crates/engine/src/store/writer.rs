//! The one writer of a store, and the checkpoints by which it moves the write-ahead log into the main file.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::disk::Disk;
use crate::runtime::{give_way, now_ms};
use crate::store::acknowledged::AcknowledgedFile;
use crate::store::batch::{Batch, Write};
use crate::store::connection::BUSY_TIMEOUT;
use crate::store::continuity::StoreStatus;
use crate::store::error::StoreError;
use crate::store::generations::Generations;
use crate::store::meta::{write_clock, write_meta, write_settings};
use crate::store::paths::{log_index_path, log_path};
use crate::store::reader::Reader;
use crate::store::schema::PAGE_BYTES;
use crate::store::state::STATE;

/// The records of one database: the only handle that writes them. Reads go through [`Store::reader`].
///
/// A failed write whose effect on disk is unknown poisons the store: reads go on, and every later write is
/// [`StoreError::Poisoned`] until the database is opened again.
#[derive(Debug)]
pub(crate) struct Store {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) path: PathBuf,
    /// `None` while the files are closed.
    pub(super) connection: Option<Connection>,
    pub(super) reader: Reader,
    pub(super) status: StoreStatus,
    /// See [`Store::now`].
    pub(super) clock: i64,
    /// `None` while [`Store::restored`] is `Some`.
    pub(super) acknowledged: Option<AcknowledgedFile>,
    pub(super) restored: Option<&'static str>,
    /// Whether a commit since the opening began a generation of the change feed.
    pub(super) generation_begun: bool,
    pub(super) poisoned: bool,
    /// Whether the log may have pages that the main file lacks.
    pub(super) has_log: bool,
    /// Whether there may be vector files that neither the main file nor its log names.
    pub(super) has_unnamed_files: bool,
    /// Whether the log may have dropped the names of files that the main file still names.
    pub(super) log_drops_files: bool,
}

impl Store {
    /// The disk that the store is on.
    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
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
    pub(crate) fn commit(&mut self, writes: &[Write<'_>]) -> Result<(), StoreError> {
        self.commit_with(writes, None)
    }

    /// Like [`Store::commit`], and writes a value under a key of the table `meta` in the same transaction.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn commit_with(
        &mut self,
        writes: &[Write<'_>],
        meta: Option<(&str, &[u8])>,
    ) -> Result<(), StoreError> {
        let start = self.status.state;
        if writes.is_empty() {
            if let Some((key, value)) = meta {
                self.set_meta(key, value)?;
            }
        } else {
            let begins = !self.generation_begun;
            let clock = self.clock;
            let (state, emptied) = self.write(|transaction| {
                if begins {
                    Generations::begin(transaction, start.position)?;
                }
                let mut batch = Batch::begin(transaction, start)?;
                for write in writes {
                    give_way();
                    batch.apply(write)?;
                }
                let (state, emptied) = batch.end()?;
                write_meta(transaction, STATE, &state.to_bytes())?;
                write_clock(transaction, clock)?;
                if let Some((key, value)) = meta {
                    write_meta(transaction, key, value)?;
                }
                Ok((state, emptied))
            })?;
            self.status.state = state;
            self.log_drops_files |= emptied;
            self.generation_begun = true;
            self.committed();
        }
        Ok(())
    }

    /// Stores `value` under `key` of the table `meta`; it is durable when it returns.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn set_meta(&mut self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.write(|transaction| write_meta(transaction, key, value))
    }

    /// Changes the settings; the change is durable when it returns.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn set_settings(&mut self, settings: &[u8]) -> Result<(), StoreError> {
        let changes = self.status.settings_changes + 1;
        self.write(|transaction| write_settings(transaction, settings, changes))?;
        self.status.settings_changes = changes;
        self.committed();
        Ok(())
    }

    /// The time of the next commit: that of the machine, but later than the last one that was given. So the time of a
    /// commit tells what was written before it.
    pub(crate) fn now(&mut self) -> i64 {
        let mut machine = now_ms();
        // Otherwise the times of fast commits would run ahead of the machine. A clock that stands still is not waited for.
        for _ in 0..20 {
            if machine != self.clock {
                break;
            }
            sleep(Duration::from_micros(100));
            machine = now_ms();
        }
        self.clock = machine.max(self.clock + 1);
        self.clock
    }

    /// The last time that was given to a commit; `i64::MIN` where none was.
    pub(crate) fn last_commit_at(&self) -> i64 {
        self.clock
    }

    /// Random bytes that identify the store.
    pub(crate) fn id(&self) -> [u8; 16] {
        self.status.store_id
    }

    /// Random bytes that identify the history of the change feed. A created database and a restored backup have a new
    /// one; a re-embedded database keeps it.
    pub(crate) fn epoch(&self) -> [u8; 16] {
        self.status.epoch
    }

    /// Number of the last commit, 0 before the first.
    pub(crate) fn version(&self) -> u64 {
        self.status.state.version
    }

    /// Position of the last change in the feed, 0 before the first.
    pub(crate) fn last_position(&self) -> u64 {
        self.status.state.position
    }

    /// One above every id that was ever given, including those of deleted records, so that an id is never given twice.
    pub(crate) fn next_id(&self) -> u64 {
        self.status.state.next_id
    }

    /// Number of records.
    pub(crate) fn records(&self) -> u64 {
        self.status.state.tally.records
    }

    /// Whether an earlier write failed so that nothing can be written until the database is opened again.
    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    /// Bytes on disk: the file, its log and the log's index.
    pub(crate) fn file_bytes(&self) -> u64 {
        [
            self.path.clone(),
            log_path(&self.path),
            log_index_path(&self.path),
        ]
        .iter()
        .map(|path| self.disk.length(path).unwrap_or(0))
        .sum()
    }

    /// Runs `body` in one transaction, which is durable when it returns, unless the connection does not sync the log.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(super) fn write<T>(
        &mut self,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.poisoned {
            return Err(StoreError::Poisoned);
        }
        let connection = self.connection()?;
        let result = transact(connection, body);
        // A transaction that is still open could not be rolled back.
        let is_open = !connection.is_autocommit();
        match &result {
            Ok(_) => {
                self.has_log = true;
                self.checkpoint_when_due();
            }
            Err(error) => self.poisoned = error.poisons() || is_open,
        }
        result
    }

    /// Notes a durable commit or change of the settings, before it is acknowledged.
    pub(super) fn committed(&mut self) {
        if let Some(acknowledged) = &mut self.acknowledged {
            acknowledged.note_commit(self.status);
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

/// Pages of log above which a commit moves them into the file: 16 MiB, read again in about 10 ms after a crash.
const CHECKPOINT_PAGES: i64 = (16 * 1024 * 1024 / PAGE_BYTES).cast_signed();

impl Store {
    /// Moves the whole log into the file and empties it, as far as running reads allow.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`]: nothing is lost, the log stays. Any other poisons the store.
    pub(crate) fn checkpoint(&mut self) -> Result<(), StoreError> {
        // TRUNCATE would wait for reads to end, and the next commit behind it.
        self.connection()?.busy_timeout(Duration::ZERO)?;
        let result = self.run_checkpoint("PRAGMA wal_checkpoint(TRUNCATE)");
        self.connection()?.busy_timeout(BUSY_TIMEOUT)?;
        self.has_log = !matches!(result?, Some(0));
        Ok(())
    }

    /// Moves the log into the file once the log is large. Never fails, because the commit before it is durable already; a
    /// failure that matters makes the next commit fail.
    pub(super) fn checkpoint_when_due(&mut self) {
        if let Ok(Some(waiting)) = self.run_checkpoint("PRAGMA wal_checkpoint(NOOP)")
            && waiting > CHECKPOINT_PAGES
        {
            // PASSIVE waits for no reader; pages that a reader still needs are moved with a later commit.
            let _ = self.run_checkpoint("PRAGMA wal_checkpoint(PASSIVE)");
        }
    }

    /// Pages of the log that are still to be moved into the file; `None` while another program holds its locks.
    fn run_checkpoint(&mut self, sql: &str) -> Result<Option<i64>, StoreError> {
        let result = self
            .connection()?
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
                self.has_unnamed_files |= std::mem::take(&mut self.log_drops_files);
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
        // The log is removed when the writer is the last to close the files.
        self.reader.close_idle();
        if self.is_open() || self.has_log_file() {
            // When the checkpoint fails, the next start reads the log.
            let _ = self.checkpoint();
        }
        if let Some(acknowledged) = self.acknowledged.as_mut().filter(|_| !self.poisoned) {
            // When this fails, the next start treats the store as after a crash.
            let _ = acknowledged.note_close();
        }
    }
}
