//! A check of all records of one commit, while the writer goes on.

use rusqlite::Connection;

use crate::store::connection::open_reader;
use crate::store::error::StoreError;
use crate::store::record_row::RecordRow;
use crate::store::state::{State, state_of};
use crate::store::tally::Tally;
use crate::store::writer::Store;

/// Records after which [`Check::run`] asks whether to go on.
const STEP: u64 = 4_096;

/// A check of the commit that was the last when it began. Until it ends, the log cannot be emptied.
pub(crate) struct Check {
    connection: Connection,
    state: State,
}

/// The rows of the table `records`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The records that commits after a given one wrote or touched.
    pub(crate) since: Tally,
    /// All records, without what memory does not hold of them; see [`RecordRow::in_memory`].
    pub(crate) in_memory: Tally,
}

impl Store {
    /// Begins a check of the last commit.
    ///
    /// # Errors
    /// SQLite's; [`StoreError::Inconsistent`] when the state is missing.
    pub(crate) fn begin_check(&self) -> Result<Check, StoreError> {
        let connection = open_reader(self.path())?;
        // The first read fixes the commit that the transaction sees.
        connection.execute_batch("BEGIN")?;
        let state = state_of(&connection)?;
        Ok(Check { connection, state })
    }
}

impl Check {
    /// Reads every row of `records`, in the order of the ids, and compares their number and their checksum with the
    /// state. Returns what it found, or `None` as soon as `go_on` returns false.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when they differ, [`StoreError::Damaged`] when a row cannot be read; SQLite's.
    pub(crate) fn run(
        self,
        since: u64,
        mut go_on: impl FnMut() -> bool,
    ) -> Result<Option<Found>, StoreError> {
        let mut all = Tally::default();
        let mut found = Found::default();
        let mut statement = self.connection.prepare(&format!(
            "SELECT {} FROM records NOT INDEXED ORDER BY id",
            RecordRow::COLUMNS
        ))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id = row.get::<_, i64>(0)?.cast_unsigned();
            // A value of another type is damage, because the schema allows no other type.
            let row = RecordRow::read(row).map_err(|_| StoreError::Damaged { id })?;
            all.add(&row);
            found.in_memory.add(&row.in_memory());
            if row.version > since {
                found.since.add(&row);
            }
            if all.records.is_multiple_of(STEP) && !go_on() {
                return Ok(None);
            }
        }
        all.compare(&self.state.tally)?;
        Ok(Some(found))
    }
}
