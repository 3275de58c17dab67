//! Which changes the feed still keeps.

use rusqlite::Connection;

use super::StoreError;
use super::reader::read_meta;

/// Key of the place of the last change that is no longer kept.
const REMOVED: &str = "feed_removed";

/// Place of the last change that is no longer kept, 0 while all are.
pub(super) fn removed_of(connection: &Connection) -> Result<u64, StoreError> {
    let stored = read_meta(connection, REMOVED)?.and_then(|bytes| bytes.try_into().ok());
    Ok(stored.map_or(0, u64::from_le_bytes))
}
