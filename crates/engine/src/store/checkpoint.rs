//! Checkpoints: moving the write-ahead log into the main file.

use std::time::Duration;

use crate::store::connection::BUSY_TIMEOUT;
use crate::store::error::StoreError;
use crate::store::schema::PAGE_BYTES;
use crate::store::writer::Store;

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
