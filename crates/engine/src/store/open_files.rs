//! The files of a store that is not used: they can be closed, and the next use opens them again.

use rusqlite::Connection;

use crate::store::connection::{keep_log_on_close, open_writer};
use crate::store::continuity::StoreStatus;
use crate::store::error::StoreError;
use crate::store::paths::log_path;
use crate::store::writer::Store;

impl Store {
    /// The connection of the writer. It is opened if it was closed.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when the files were replaced meanwhile, which poisons the store. Any other error of the
    /// opening: nothing is written, and the next call may succeed.
    pub(super) fn connection(&mut self) -> Result<&mut Connection, StoreError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.open_again()?,
        };
        Ok(self.connection.insert(connection))
    }

    fn open_again(&mut self) -> Result<Connection, StoreError> {
        let connection = open_writer(&self.path)?;
        if StoreStatus::of(&connection)? != self.status {
            // Closing the connection leaves the log as it is.
            self.poisoned = true;
            return Err(StoreError::inconsistent(
                "the files were replaced while the database was open",
            ));
        }
        keep_log_on_close(&connection, false)?;
        Ok(connection)
    }

    /// Whether files are open.
    pub(crate) fn is_open(&self) -> bool {
        self.connection.is_some()
    }

    /// Moves the log into the main file and closes the files until the next call that needs them. They stay open after a
    /// failure, and before [`Store::start_new_epoch`] of a restored backup.
    pub(crate) fn close_files(&mut self) {
        if self.poisoned || self.acknowledged.is_none() || !self.is_open() {
            return;
        }
        self.reader.close_idle();
        // A log that a running read still needs stays. The next opening reads it.
        let _ = self.checkpoint();
        if self.poisoned {
            return;
        }
        self.connection = None;
        if let Some(acknowledged) = &mut self.acknowledged {
            acknowledged.close_file();
        }
    }

    /// Whether the log may have pages that the main file lacks.
    pub(crate) fn has_log(&self) -> bool {
        self.has_log && self.is_open() && !self.poisoned && self.acknowledged.is_some()
    }

    /// Moves the log into the main file, and frees the pages in memory, because the store is not written for a while.
    pub(crate) fn free_log_and_memory(&mut self) {
        if !self.has_log() {
            return;
        }
        // A failure that matters poisons the store. Otherwise the next call tries again.
        let _ = self.checkpoint();
        if let Some(connection) = &self.connection {
            let _ = connection.execute_batch("PRAGMA shrink_memory");
        }
    }

    /// Whether there is a file of the log: the last connection that was closed may have been a reader, which leaves it.
    pub(super) fn has_log_file(&self) -> bool {
        self.disk.exists(&log_path(&self.path)).unwrap_or(true)
    }
}
