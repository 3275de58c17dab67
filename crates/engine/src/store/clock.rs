//! The clock of a store: a commit has a later time than all commits that were acknowledged before it began, also after the
//! clock of the machine went back, or after a restart.
//!
//! Only times that the store itself gives move its clock. Times that callers give may lie in any year.

use rusqlite::Connection;

use crate::store::error::StoreError;
use crate::store::meta::{read_meta, write_meta};

/// Key of the last time that the store gave to a commit: milliseconds since 1970 as 8 bytes, little-endian.
pub(super) const CLOCK: &str = "clock";

/// Milliseconds at the end of the year 9999, after which no time can be written.
const MAX_CLOCK: i64 = 253_402_300_799_999;

/// The last time that was given to a commit; `i64::MIN` where none was.
///
/// # Errors
/// [`StoreError::Inconsistent`] for a value that no commit wrote.
pub(super) fn clock_of(connection: &Connection) -> Result<i64, StoreError> {
    let Some(stored) = read_meta(connection, CLOCK)? else {
        return Ok(i64::MIN);
    };
    let clock = stored.try_into().map(i64::from_le_bytes);
    clock
        .ok()
        .filter(|clock| *clock == i64::MIN || (0..MAX_CLOCK).contains(clock))
        .ok_or_else(|| StoreError::inconsistent("its clock has no valid time"))
}

pub(super) fn write_clock(connection: &Connection, clock: i64) -> Result<(), StoreError> {
    write_meta(connection, CLOCK, &clock.to_le_bytes())
}
