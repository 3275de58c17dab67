//! A check of all records of one commit, concurrent with the writer.

use rusqlite::Connection;

use crate::store::error::StoreError;
use crate::store::reader::Reader;
use crate::store::state::{State, Tally, state_of};
use crate::store::stored_record::{COLUMNS, JOINS, VectorsRead, read};
use crate::store::vector_files::PinnedFiles;

/// Records of a step: with vectors of 384 dimensions about 1 MB.
const STEP: usize = 512;

/// A check of the commit that was the last when it began. Until it ends, the log cannot be emptied.
pub(crate) struct Check {
    connection: Connection,
    state: State,
    /// The commit after which [`Found::since`] counts records.
    since: u64,
    /// The id of the last record that was read, as SQLite has it; `None` before the first step.
    last: Option<i64>,
    all: Tally,
    found: Found,
    /// The vectors of the record that was read last.
    vectors: VectorsRead,
    files: PinnedFiles,
}

/// The records that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The records that commits after a given one wrote or touched.
    pub(crate) since: Tally,
    /// All records, without what memory does not hold of them; see [`Header::in_memory`](crate::store::Header::in_memory).
    pub(crate) in_memory: Tally,
}

impl Reader {
    /// Begins a check of the last commit, which also counts the records that commits after `since` wrote or touched.
    ///
    /// # Errors
    /// SQLite's; [`StoreError::Inconsistent`] when the state is missing; [`StoreError::Dropped`].
    pub(crate) fn begin_check(&self, since: u64) -> Result<Check, StoreError> {
        let files = self.pinned_files();
        Check::begin(self.open()?, files, since)
    }
}

impl Check {
    /// Begins a check of the last commit that a connection sees.
    ///
    /// # Errors
    /// SQLite's; [`StoreError::Inconsistent`] when the state is missing.
    pub(super) fn begin(
        connection: Connection,
        files: PinnedFiles,
        since: u64,
    ) -> Result<Self, StoreError> {
        // The first read fixes the commit that the transaction sees.
        connection.execute_batch("BEGIN")?;
        let state = state_of(&connection)?;
        Ok(Self {
            connection,
            state,
            since,
            last: None,
            all: Tally::default(),
            found: Found::default(),
            vectors: VectorsRead::default(),
            files,
        })
    }

    /// The number of the commit that is checked.
    pub(crate) fn version(&self) -> u64 {
        self.state.version
    }

    /// Reads and checks the next records, in the order of the ids. Returns what the check found once all records are read
    /// and their number and checksum are those of the state, and `None` before.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when they differ, [`StoreError::Damaged`] when a record is not as it was written;
    /// SQLite's.
    pub(crate) fn step(&mut self) -> Result<Option<Found>, StoreError> {
        // The first step begins at the smallest integer, because damage could have made an id negative.
        let first = self.last.map_or(i64::MIN, |last| last.saturating_add(1));
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM records r NOT INDEXED {JOINS} \
             WHERE r.id >= ?1 ORDER BY r.id LIMIT {STEP}"
        ))?;
        let mut rows = statement.query([first])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            let number = row.get::<_, i64>(0)?;
            let id = number.cast_unsigned();
            // A damaged tree may have its rows in any order, and the check must end.
            if self.last.is_some_and(|last| number <= last) {
                return Err(StoreError::Damaged { id });
            }
            self.last = Some(number);
            let header = read(row, &self.files, &mut self.vectors)?.header;
            self.all.add(&header);
            self.found.in_memory.add(&header.in_memory());
            if header.version > self.since {
                self.found.since.add(&header);
            }
            count += 1;
        }
        if count == STEP {
            return Ok(None);
        }
        self.all.compare(&self.state.tally)?;
        Ok(Some(self.found))
    }
}
