//! The table `meta`: values under text keys.

use rusqlite::{Connection, OptionalExtension};

use crate::store::error::StoreError;

/// Key of the time at which the database was created: milliseconds since 1970 as 8 bytes, little-endian.
pub(crate) const CREATED_AT: &str = "created_at";

/// Key of the settings of the database.
pub(crate) const SETTINGS: &str = "settings";

/// Key of the random bytes that identify the store.
pub(super) const STORE_ID: &str = "store_id";

/// Key of the random bytes that identify the history of the change feed.
pub(super) const EPOCH: &str = "epoch";

/// Random bytes that identify a store, an epoch or a saved snapshot.
pub(super) fn new_identity() -> [u8; 16] {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("every supported system has a random source");
    bytes
}

/// The random bytes under `key`.
///
/// # Errors
/// [`StoreError::Inconsistent`] when they are missing.
pub(super) fn identity_of(connection: &Connection, key: &str) -> Result<[u8; 16], StoreError> {
    let bytes = read_meta(connection, key)?;
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| StoreError::inconsistent(format!("its {key} is missing or damaged")))
}

/// The value under `key`, if there is one.
pub(super) fn read_meta(connection: &Connection, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}

/// Stores `value` under `key`.
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
