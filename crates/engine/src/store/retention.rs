//! Which changes the feed keeps: those of the last days.
//!
//! The time of a change may be any that a caller gives, so the store notes by its own clock how far the feed has come.
//! What it had come to before the time to keep may be removed.

use std::time::Duration;

use rusqlite::Connection;

use crate::store::reader::read_meta;
use crate::store::writer::write_meta;
use crate::store::{Store, StoreError};

/// Key of the place of the last change that is no longer kept.
const REMOVED: &str = "feed_removed";

/// Key of the marks: each a time and the place of the last change then, 8 bytes each, in order.
const MARKS: &str = "feed_marks";

/// Marks for the whole time that changes are kept: a change is kept for a thirty-second of it too long at most.
const MARKS_KEPT: u32 = 32;

/// Changes that are removed in one transaction, so that a write waits only briefly.
const STEP: i64 = 1_000;

/// Bytes of former data that are removed in one transaction, about: they are overwritten, so they are written too.
const STEP_BYTES: i64 = 4 << 20;

/// Place of the last change that is no longer kept, 0 while all are.
pub(super) fn removed_of(connection: &Connection) -> Result<u64, StoreError> {
    let stored = read_meta(connection, REMOVED)?.and_then(|bytes| bytes.try_into().ok());
    Ok(stored.map_or(0, u64::from_le_bytes))
}

/// How far a feed had come at some time, milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    at: i64,
    position: u64,
}

fn marks_of(connection: &Connection) -> Result<Vec<Mark>, StoreError> {
    let bytes = read_meta(connection, MARKS)?.unwrap_or_default();
    let words = |at: &[[u8; 8]]| Mark {
        at: i64::from_le_bytes(at[0]),
        position: u64::from_le_bytes(at[1]),
    };
    let (words_of, _) = bytes.as_chunks::<8>();
    Ok(words_of.chunks_exact(2).map(words).collect())
}

fn write_marks(connection: &Connection, marks: &[Mark]) -> Result<(), StoreError> {
    let bytes: Vec<u8> = marks
        .iter()
        .flat_map(|mark| [mark.at.to_le_bytes(), mark.position.to_le_bytes()])
        .flatten()
        .collect();
    write_meta(connection, MARKS, &bytes)
}

/// What a store keeps about the retention of its feed, for another that takes over its commits.
#[derive(Debug)]
pub(super) struct RetentionMeta {
    removed: u64,
    marks: Vec<Mark>,
}

impl RetentionMeta {
    pub(super) fn read(connection: &Connection) -> Result<Self, StoreError> {
        Ok(Self {
            removed: removed_of(connection)?,
            marks: marks_of(connection)?,
        })
    }

    pub(super) fn write(&self, connection: &Connection) -> Result<(), StoreError> {
        write_meta(connection, REMOVED, &self.removed.to_le_bytes())?;
        write_marks(connection, &self.marks)
    }
}

impl Store {
    /// Notes how far the feed has come, where that is due, and removes some of the changes that the feed had `keep` ago
    /// or longer. Deletions after commit `saved` stay, without their data: a start that reads only what came after the
    /// saved snapshot needs them. Returns whether more must be removed.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn retain_changes(
        &mut self,
        now: i64,
        keep: Duration,
        saved: u64,
    ) -> Result<bool, StoreError> {
        let keep = i64::try_from(keep.as_millis()).unwrap_or(i64::MAX);
        let mut marks = marks_of(&self.connection)?;
        // A mark from a clock that was ahead would hold up the removal until that time.
        marks.retain(|mark| mark.at <= now);
        let position = self.last_position();
        let last = marks.last().copied();
        let due = last.is_none_or(|last| {
            last.position < position && now - last.at >= keep / i64::from(MARKS_KEPT)
        });
        if due && position > 0 {
            marks.push(Mark { at: now, position });
            self.write(|transaction| write_marks(transaction, &marks))?;
        }
        let old = marks.iter().rposition(|mark| now - mark.at >= keep);
        let Some(old) = old else {
            return Ok(false);
        };
        let end = marks[old].position;
        // The last change stays, without its data: it tells when the database was last written.
        let last_removed = end.min(position - 1);
        let more = self.write(|transaction| {
            if removed_of(transaction)? < last_removed {
                // First, so that nobody who follows the feed misses what is gone.
                write_meta(transaction, REMOVED, &last_removed.to_le_bytes())?;
            }
            let gone = step(
                transaction,
                "position <= ?1 AND (kind != 3 OR version <= ?2)",
                [last_removed.cast_signed(), saved.cast_signed()],
            )?;
            let mut delete =
                transaction.prepare_cached("DELETE FROM changes WHERE position = ?1")?;
            for position in &gone.positions {
                delete.execute([position])?;
            }
            let bare = step(
                transaction,
                "position <= ?1 AND data IS NOT NULL AND ?2 = 0",
                [end.cast_signed(), i64::from(gone.more)],
            )?;
            let mut clear =
                transaction.prepare_cached("UPDATE changes SET data = NULL WHERE position = ?1")?;
            for position in &bare.positions {
                clear.execute([position])?;
            }
            Ok(gone.more || bare.more)
        })?;
        let left: i64 = self.connection.query_row(
            "SELECT count(*) FROM (SELECT 1 FROM changes WHERE position <= ?1 LIMIT 1)",
            [last_removed.cast_signed()],
            |row| row.get(0),
        )?;
        if left == 0 && !more {
            // The mark stays as long as something before it is left.
            marks.drain(..=old);
            self.write(|transaction| write_marks(transaction, &marks))?;
            // What was removed is overwritten in the file only now.
            self.checkpoint()?;
        }
        Ok(more)
    }
}

/// Changes to be removed in one transaction.
struct Step {
    positions: Vec<i64>,
    /// Whether there are more.
    more: bool,
}

/// The first of the changes that `which` chooses.
fn step(connection: &Connection, which: &str, parameters: [i64; 2]) -> Result<Step, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT position, ifnull(length(data), 0) FROM changes WHERE {which} ORDER BY position LIMIT {STEP}"
    ))?;
    let mut rows = statement.query(parameters)?;
    let (mut positions, mut bytes) = (Vec::new(), 0);
    while bytes < STEP_BYTES
        && let Some(row) = rows.next()?
    {
        positions.push(row.get(0)?);
        bytes += row.get::<_, i64>(1)?;
    }
    let more = bytes >= STEP_BYTES || positions.len() == STEP as usize;
    Ok(Step { positions, more })
}
