//! A store that is inspected.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::store::access::Access;
use crate::store::change::Change;
use crate::store::connection::format_of;
use crate::store::error::StoreError;
use crate::store::inspection::damage::is_damage;
use crate::store::meta::{EPOCH, STORE_ID, identity_of, read_meta};
use crate::store::reader::Reader;
use crate::store::state::{State, state_of};
use crate::store::stored_record::{COLUMNS, StoredRecord, read};

/// A store as of one commit, opened to be inspected. It need not be complete, and no row of it is trusted.
pub(crate) struct Inspection {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    /// The format of the file.
    format: i64,
    /// The state of the commit; `None` when it is missing or damaged, and in files of format 1.
    pub(crate) state: Option<State>,
    /// The id of the store and the epoch of its change feed; `None` as for the state.
    pub(crate) identity: Option<([u8; 16], [u8; 16])>,
}

impl Inspection {
    /// Opens the store at `path`, which no process has open, and fixes the commit that the inspection sees.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], [`StoreError::Format`], [`StoreError::Inconsistent`] for another schema; SQLite's.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        Self::of_connection(Access::Frozen.open(path)?, path)
    }

    /// As [`Inspection::open`], of a store that is open in this process.
    ///
    /// # Errors
    /// As for [`Inspection::open`]; [`StoreError::Dropped`].
    pub(crate) fn of_open(reader: &Reader) -> Result<Self, StoreError> {
        Self::of_connection(reader.open()?, reader.path())
    }

    fn of_connection(connection: Connection, path: &Path) -> Result<Self, StoreError> {
        connection.execute_batch("BEGIN")?;
        let format = format_of(&connection, path)?;
        let identity = identity_of(&connection, STORE_ID)
            .and_then(|id| Ok((id, identity_of(&connection, EPOCH)?)));
        Ok(Self {
            format,
            state: state_of(&connection).ok(),
            identity: identity.ok(),
            connection,
            path: path.to_owned(),
        })
    }

    /// Whether the file has a format with state and identity. A file of format 1 has neither.
    pub(super) fn has_identity(&self) -> bool {
        self.format > 1
    }

    /// The value under `key` of the table `meta`.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn meta(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        read_meta(&self.connection, key)
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
            "SELECT {} FROM records r NOT INDEXED JOIN contents c ON c.id = r.id
             WHERE r.id >= ?1 ORDER BY r.id LIMIT 1",
            self.columns()
        ))?;
        let mut rows = statement.query([id.cast_signed()])?;
        let mut vector = Vec::new();
        match rows.next() {
            Ok(Some(row)) => {
                if let Ok(record) = read(row, &mut vector) {
                    each(record);
                }
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error) if is_damage(&error) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The columns of a record, also in a file of an earlier format, which has no passages or no keys.
    pub(super) fn columns(&self) -> String {
        let mut columns = COLUMNS.to_owned();
        if !self.has_keys() {
            columns = columns.replace("c.key", "NULL");
        }
        if !self.has_passages() {
            columns = columns.replace("c.passages", "NULL");
        }
        columns
    }

    /// The columns of a change, also in a file of an earlier format, which has no checksums or no keys.
    pub(super) fn change_columns(&self) -> String {
        let mut columns = Change::COLUMNS.to_owned();
        if !self.has_keys() {
            columns = columns.replace("key", "NULL");
        }
        if self.format < 5 {
            columns = columns.replace("crc", "NULL");
        }
        columns
    }

    /// Whether the file has columns for the keys of records, as since format 3.
    pub(crate) fn has_keys(&self) -> bool {
        self.format > 2
    }

    /// Whether the file has a column for the passages of records, as since format 4.
    pub(crate) fn has_passages(&self) -> bool {
        self.format > 3
    }

    /// A reader of the same files.
    pub(crate) fn reader(&self, access: Access) -> Reader {
        Reader::with_access(&self.path, access)
    }
}
