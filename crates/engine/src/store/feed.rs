//! Reads of the change feed.

use crate::store::change::Change;
use crate::store::error::StoreError;
use crate::store::generations::Generations;
use crate::store::meta::removed_of;
use crate::store::reader::Reader;
use crate::store::state::state_of;

/// A part of the change feed.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) changes: Vec<Change>,
    /// Position of the last change that is no longer kept, 0 while all are.
    pub(crate) removed: u64,
    /// Position of the last change, 0 before the first.
    pub(crate) last: u64,
    pub(crate) generations: Generations,
}

impl Reader {
    /// Up to `limit` entries of the change feed after `position`, in order. With `max_bytes`, they have the data of former
    /// records, and are fewer than `limit` when their data exceed it, but at least one where there is one.
    pub(crate) fn feed(
        &self,
        position: u64,
        limit: usize,
        max_bytes: Option<usize>,
    ) -> Result<Feed, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(|transaction| {
            let column = if max_bytes.is_some() { ", data" } else { "" };
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT {}{column} FROM changes WHERE position > ?1 ORDER BY position LIMIT ?2",
                Change::COLUMNS
            ))?;
            let mut rows = statement.query((position.cast_signed(), limit))?;
            let mut changes: Vec<Change> = Vec::new();
            let mut bytes = 0;
            while bytes < max_bytes.unwrap_or(usize::MAX)
                && let Some(row) = rows.next()?
            {
                let change = Change::read(row, max_bytes.is_some())?;
                bytes += change.data.as_ref().map_or(0, Vec::len);
                changes.push(change);
            }
            Ok(Feed {
                changes,
                removed: removed_of(transaction)?,
                last: state_of(transaction)?.position,
                generations: Generations::read(transaction)?,
            })
        })
    }
}
