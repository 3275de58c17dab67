//! The clock of a store: each commit has a later time than the commits before it, also after the clock of the machine went
//! back, or after a restart.
//!
//! Only times that the store itself gives move its clock. Times that callers give may lie in any year.

use rusqlite::Connection;

use crate::store::error::StoreError;
use crate::store::meta::{read_meta, write_meta};

/// Key of the last time that the store gave to a commit: milliseconds since 1970 as 8 bytes, little-endian.
pub(super) const CLOCK: &str = "clock";

/// The last time that a commit got; `i64::MIN` where none did.
pub(super) fn clock_of(connection: &Connection) -> Result<i64, StoreError> {
    let stored = read_meta(connection, CLOCK)?.and_then(|bytes| bytes.try_into().ok());
    Ok(stored.map_or(i64::MIN, i64::from_le_bytes))
}

pub(super) fn write_clock(connection: &Connection, clock: i64) -> Result<(), StoreError> {
    write_meta(connection, CLOCK, &clock.to_le_bytes())
}
