//! The table `meta`: values under text keys.
//!
//! Among them is the clock of the store: a commit has a later time than all commits that were acknowledged before it began,
//! also after the clock of the machine went back, or after a restart. Only times that the store itself gives move its
//! clock. Times that callers give may lie in any year.

use rusqlite::{Connection, OptionalExtension};

use crate::store::error::StoreError;

/// Key of the time at which the database was created: milliseconds since 1970 as 8 bytes, little-endian.
pub(crate) const CREATED_AT: &str = "created_at";

/// Key of the settings of the database.
pub(crate) const SETTINGS: &str = "settings";

/// Key of the number of changes of the settings: 8 bytes, little-endian. It is missing before the first.
const SETTINGS_CHANGES: &str = "settings_changes";

/// What the keys of the states of syncs begin with.
const SYNC: &str = "sync/";

/// Key of the state of the sync `name`.
pub(crate) fn sync_key(name: &str) -> String {
    format!("{SYNC}{name}")
}

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

/// The number under `key`, which has 8 bytes, little-endian; 0 where there is none.
fn read_number(connection: &Connection, key: &str) -> Result<u64, StoreError> {
    let stored = read_meta(connection, key)?.and_then(|bytes| bytes.try_into().ok());
    Ok(stored.map_or(0, u64::from_le_bytes))
}

fn write_number(connection: &Connection, key: &str, number: u64) -> Result<(), StoreError> {
    write_meta(connection, key, &number.to_le_bytes())
}

/// How often the settings were changed.
pub(super) fn settings_changes_of(connection: &Connection) -> Result<u64, StoreError> {
    read_number(connection, SETTINGS_CHANGES)
}

/// Stores settings, and that they were changed `changes` times.
pub(super) fn write_settings(
    connection: &Connection,
    settings: &[u8],
    changes: u64,
) -> Result<(), StoreError> {
    write_meta(connection, SETTINGS, settings)?;
    write_number(connection, SETTINGS_CHANGES, changes)
}

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

/// Key of the settings of the next model, while the records are embedded again.
pub(super) const NEXT_SETTINGS: &str = "next_settings";

/// Key of the number of records that have vectors of the next model: 8 bytes, little-endian.
const NEXT_DONE: &str = "next_done";

/// How many records have vectors of the next model.
pub(super) fn next_done_of(connection: &Connection) -> Result<u64, StoreError> {
    read_number(connection, NEXT_DONE)
}

pub(super) fn write_next_done(connection: &Connection, done: u64) -> Result<(), StoreError> {
    write_number(connection, NEXT_DONE, done)
}

/// Removes all values about the next model. Their keys have the prefix `next_`.
pub(super) fn remove_next_meta(connection: &Connection) -> Result<(), StoreError> {
    connection.execute("DELETE FROM meta WHERE key GLOB 'next_*'", [])?;
    Ok(())
}

/// Key of the number of the commit that last put vectors of another model in the place of the former: 8 bytes, little-endian.
/// It is missing before the first.
const SWITCH: &str = "switch";

/// The number of the commit that last put vectors of another model in the place of the former; 0 before the first.
pub(super) fn switch_of(connection: &Connection) -> Result<u64, StoreError> {
    read_number(connection, SWITCH)
}

pub(super) fn write_switch(connection: &Connection, version: u64) -> Result<(), StoreError> {
    write_number(connection, SWITCH, version)
}

/// Key of the position of the last change that is no longer kept.
const REMOVED: &str = "feed_removed";

/// Key of the marks: each a time and the position of the last change then, 8 bytes each, in order.
const MARKS: &str = "feed_marks";

/// The position of the feed's last change at some time, milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) at: i64,
    pub(super) position: u64,
}

/// Position of the last change that is no longer kept, 0 while all are.
pub(super) fn removed_of(connection: &Connection) -> Result<u64, StoreError> {
    read_number(connection, REMOVED)
}

pub(super) fn write_removed(connection: &Connection, position: u64) -> Result<(), StoreError> {
    write_number(connection, REMOVED, position)
}

pub(super) fn marks_of(connection: &Connection) -> Result<Vec<Mark>, StoreError> {
    let bytes = read_meta(connection, MARKS)?.unwrap_or_default();
    let mark = |words: &[[u8; 8]]| Mark {
        at: i64::from_le_bytes(words[0]),
        position: u64::from_le_bytes(words[1]),
    };
    let (words, _) = bytes.as_chunks::<8>();
    Ok(words.chunks_exact(2).map(mark).collect())
}

pub(super) fn write_marks(connection: &Connection, marks: &[Mark]) -> Result<(), StoreError> {
    let bytes: Vec<u8> = marks
        .iter()
        .flat_map(|mark| [mark.at.to_le_bytes(), mark.position.to_le_bytes()])
        .flatten()
        .collect();
    write_meta(connection, MARKS, &bytes)
}
