//! A copy of a store as it was at one commit, made while the store is written.

use std::path::Path;
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::store::check::Check;
use crate::store::connection::connect;
use crate::store::error::StoreError;
use crate::store::generations::Generations;
use crate::store::places::{Model, files_of, take_vectors};
use crate::store::reader::Reader;
use crate::store::state::state_of;
use crate::store::vector_files::PinnedFiles;

/// Pages that are copied between two checks of whether the copy is still needed: 4 MiB.
const STEP: i32 = 256;

/// A connection whose transaction keeps one commit readable. While it exists, the log cannot be emptied.
#[derive(Debug)]
pub(crate) struct StoreCopy {
    connection: Connection,
    files: PinnedFiles,
}

/// The commit that a copy has.
#[derive(Debug)]
pub(crate) struct CopiedState {
    pub(crate) records: u64,
    /// Number of the commit.
    pub(crate) version: u64,
    /// Position of the last change in the feed.
    pub(crate) position: u64,
    pub(crate) generations: Generations,
    /// Bytes of the copy.
    pub(crate) bytes: u64,
}

impl Reader {
    /// Opens a connection for a copy, which has no commit yet.
    ///
    /// # Errors
    /// [`StoreError::Dropped`]; SQLite's.
    pub(crate) fn open_copy(&self) -> Result<StoreCopy, StoreError> {
        let files = self.pinned_files();
        let connection = self.open()?;
        Ok(StoreCopy { connection, files })
    }
}

impl StoreCopy {
    /// Fixes the commit of the copy: the last one.
    ///
    /// # Errors
    /// SQLite's; [`StoreError::Inconsistent`] when the state is missing.
    pub(crate) fn begin(&self) -> Result<CopiedState, StoreError> {
        let connection = &self.connection;
        // The first read fixes the commit that the transaction sees.
        connection.execute_batch("BEGIN")?;
        let state = state_of(connection)?;
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let bytes = pragma("page_count")? * pragma("page_size")?;
        let mut files = 0;
        for file in files_of(connection, Model::Current)? {
            files += self.files.file(file).bytes();
        }
        Ok(CopiedState {
            records: state.tally.records,
            version: state.version,
            position: state.position,
            generations: Generations::read(connection)?,
            bytes: bytes.cast_unsigned() + files,
        })
    }

    /// Writes the copy with all vectors to a new file at `path`, ends the transaction, and checks every record of the copy.
    /// Returns whether all of this was done: `go_on` is asked again and again. The file is not synced.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`]; [`StoreError::Damaged`], [`StoreError::Corrupt`] and [`StoreError::Inconsistent`] when the
    /// store is damaged; SQLite's.
    pub(crate) fn write_to(
        self,
        path: &Path,
        go_on: impl Fn() -> bool,
    ) -> Result<bool, StoreError> {
        let mut target = connect(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        )?;
        // The file is used only when it is complete.
        target.pragma_update(None, "journal_mode", "OFF")?;
        target.pragma_update(None, "synchronous", "OFF")?;
        let backup = Backup::new(&self.connection, &mut target)?;
        loop {
            match backup.step(STEP)? {
                StepResult::Done => break,
                StepResult::More => {}
                // Another program holds a lock of SQLite.
                _ => std::thread::sleep(Duration::from_millis(1)),
            }
            if !go_on() {
                return Ok(false);
            }
        }
        drop(backup);
        let Self { connection, files } = self;
        drop(connection);
        if !take_vectors(&mut target, &files, &go_on)? {
            return Ok(false);
        }
        // Searches and reads use index files and memory, so damage of the records themselves may be unknown so far.
        let mut check = Check::begin(target, files, 0)?;
        while check.step()?.is_none() {
            if !go_on() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
