//! The retention of the change feed: changes are removed after some time.
//!
//! The time of a change may be any that a caller gives, so the store marks the feed's position by its own clock. Changes
//! up to the position of a mark that is old enough may be removed.

use std::time::Duration;

use rusqlite::Connection;

use crate::store::change::forget_data;
use crate::store::error::StoreError;
use crate::store::meta::{Mark, marks_of, removed_of, write_marks, write_removed};
use crate::store::writer::Store;

/// The number of marks in the time that changes are kept. A change is kept at most 1/32 of that time too long.
const MARKS_KEPT: u32 = 32;

/// Changes that are removed in one transaction, so that a write waits only briefly.
const STEP: i64 = 1_000;

/// Approximate bytes of former data that are removed in one transaction. The limit exists because removed data is
/// overwritten in the file, which takes as long as writing it.
const STEP_BYTES: i64 = 4 << 20;

impl Store {
    /// Adds a mark of the feed's position, where one is due, and removes some of the changes that the feed already had
    /// `keep` ago. Deletions after commit `saved` stay, without their data, because a start that reads only the commits
    /// after the saved snapshot needs them. Returns whether more must be removed.
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
        let mut marks = marks_of(self.connection()?)?;
        // A mark from a clock that was ahead would delay the removal until that time.
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
        // The last change stays, without its data, because a repair of the state takes the position from it.
        let last_removed = end.min(position - 1);
        let more = self.write(|transaction| {
            if removed_of(transaction)? < last_removed {
                // First, so that a follower of the feed learns of the removal before it misses a change.
                write_removed(transaction, last_removed)?;
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
            for position in &bare.positions {
                forget_data(transaction, *position)?;
            }
            Ok(gone.more || bare.more)
        })?;
        let left: i64 = self.connection()?.query_row(
            "SELECT count(*) FROM (SELECT 1 FROM changes WHERE position <= ?1 LIMIT 1)",
            [last_removed.cast_signed()],
            |row| row.get(0),
        )?;
        if left == 0 && !more {
            // The mark stays as long as a change before it is left.
            marks.drain(..=old);
            self.write(|transaction| write_marks(transaction, &marks))?;
            // The checkpoint overwrites the removed changes in the main file.
            self.checkpoint()?;
        }
        Ok(more)
    }

    /// The time until [`Store::retain_changes`] has something to do, if nothing is written.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn next_retention(
        &mut self,
        now: i64,
        keep: Duration,
    ) -> Result<Duration, StoreError> {
        if self.last_position() == 0 {
            return Ok(Duration::MAX);
        }
        let marks = marks_of(self.connection()?)?;
        let (Some(first), Some(last)) = (marks.first(), marks.last()) else {
            return Ok(Duration::ZERO);
        };
        let until = |at: i64, after: Duration| {
            let passed = now.saturating_sub(at).max(0).cast_unsigned();
            after.saturating_sub(Duration::from_millis(passed))
        };
        let removal = until(first.at, keep);
        if last.position < self.last_position() {
            return Ok(removal.min(until(last.at, keep / MARKS_KEPT)));
        }
        Ok(removal)
    }
}

/// Changes to be removed in one transaction.
struct Chosen {
    positions: Vec<i64>,
    /// Whether there are more.
    more: bool,
}

/// The first of the changes that `which` chooses.
fn step(connection: &Connection, which: &str, parameters: [i64; 2]) -> Result<Chosen, StoreError> {
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
    Ok(Chosen { positions, more })
}
