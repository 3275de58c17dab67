//! A store that is inspected.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode};

use crate::store::access::Access;
use crate::store::connection::check_format;
use crate::store::error::StoreError;
use crate::store::meta::{EPOCH, STORE_ID, identity_of, read_meta};
use crate::store::reader::Reader;
use crate::store::state::{State, state_of};
use crate::store::stored_record::{COLUMNS, StoredRecord, read};

/// A store as of one commit, opened to be inspected. It need not be complete, and no row of it is trusted.
pub(crate) struct Inspection {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    /// The state of the commit; `None` when it is missing or damaged.
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
        check_format(&connection, path)?;
        let identity = identity_of(&connection, STORE_ID)
            .and_then(|id| Ok((id, identity_of(&connection, EPOCH)?)));
        Ok(Self {
            state: state_of(&connection).ok(),
            identity: identity.ok(),
            connection,
            path: path.to_owned(),
        })
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
            "SELECT {COLUMNS} FROM records r NOT INDEXED JOIN contents c ON c.id = r.id
             WHERE r.id >= ?1 ORDER BY r.id LIMIT 1"
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

    /// A reader of the same files.
    pub(crate) fn reader(&self, access: Access) -> Reader {
        Reader::with_access(&self.path, access)
    }
}

/// Whether an error of SQLite says that the file is damaged.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    ) || matches!(
        error,
        rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
    )
}
