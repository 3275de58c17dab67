//! Reads beside the writer.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::{Mutex, MutexGuard};

use rusqlite::{Connection, OptionalExtension, Row, Transaction};

use crate::store::retention::removed_of;
use crate::store::row::{self, COLUMNS};
use crate::store::state::{Tally, state_of};
use crate::store::{Change, StoreError, StoredRecord, schema};

/// Connections kept open between reads: each holds up to 2 MiB of pages.
const IDLE_CONNECTIONS: usize = 4;

/// Reads of one database, from any thread; each call sees one commit and nothing of a later one.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    pool: Arc<Pool>,
}

#[derive(Debug)]
struct Pool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    /// Whether another database is to be at `path`.
    retired: AtomicBool,
}

/// A part of the change feed.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) changes: Vec<Change>,
    /// Place of the last change that is no longer kept, 0 while all are.
    pub(crate) removed: u64,
    /// Place of the last change, 0 before the first.
    pub(crate) last: u64,
}

/// How much of the data of former records a part of the change feed holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FeedData {
    /// None of it.
    None,
    /// About so many bytes at most.
    Bytes(usize),
}

/// What an upsert has to know of a record that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Integer id.
    pub(crate) id: u64,
    /// UUID.
    pub(crate) uuid: [u8; 16],
    /// Hash of the content.
    pub(crate) hash: [u8; 16],
    /// When it was first seen, in milliseconds since 1970 UTC.
    pub(crate) created: i64,
    /// When its content last changed.
    pub(crate) changed: i64,
    /// When it was last seen.
    pub(crate) synced: i64,
}

impl Reader {
    pub(super) fn new(path: &Path) -> Reader {
        Reader {
            pool: Arc::new(Pool {
                path: path.to_owned(),
                idle: Mutex::default(),
                retired: AtomicBool::new(false),
            }),
        }
    }

    /// Lets go of the file, in whose place comes that of a database with the same records but other vectors. Reads
    /// go on, with one or the other, as far as they cannot tell the two apart.
    pub(crate) fn retire(&self) {
        self.pool.retired.store(true, Relaxed);
        self.idle().clear();
    }

    /// Number of the last commit, 0 before the first.
    pub(crate) fn version(&self) -> Result<u64, StoreError> {
        self.read(|transaction| Ok(state_of(transaction)?.version))
    }

    /// What is known of each of `ids`, in their order; `None` where there is no such record.
    pub(crate) fn identities(&self, ids: &[u64]) -> Result<Vec<Option<Identity>>, StoreError> {
        self.identify("id", ids.iter().map(|id| id.cast_signed()))
    }

    /// What is known of the records with each of `uuids`, in their order; `None` where there is no such record.
    #[cfg(test)]
    pub(crate) fn identities_by_uuid(
        &self,
        uuids: &[[u8; 16]],
    ) -> Result<Vec<Option<Identity>>, StoreError> {
        self.identify("uuid", uuids.iter())
    }

    /// Gives every record that a commit after `version` wrote or touched to `each`, until it breaks.
    ///
    /// After version 0, that is all of them, they come in the order of their ids; otherwise by version, then id.
    /// Records deleted since are not among them: see [`Reader::deleted_since`]. After version 0 the records are
    /// compared with the store's count and checksum once all were given.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] at the first record whose checksum fails; [`StoreError::Inconsistent`] at the end when
    /// records are missing or there are too many.
    pub(crate) fn load(
        &self,
        version: u64,
        mut each: impl FnMut(StoredRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let filter = if version == 0 {
            "LEFT JOIN contents c ON c.id = r.id WHERE +r.version > ?1 ORDER BY r.id"
        } else {
            "INDEXED BY versions LEFT JOIN contents c ON c.id = r.id WHERE r.version > ?1 ORDER BY r.version, r.id"
        };
        self.read(|transaction| {
            let mut statement =
                transaction.prepare_cached(&format!("SELECT {COLUMNS} FROM records r {filter}"))?;
            let mut rows = statement.query([version.cast_signed()])?;
            let mut vector = Vec::new();
            let mut tally = Tally::default();
            while let Some(row) = rows.next()? {
                let record = row::read(row, &mut vector)?;
                if version == 0 {
                    tally.add(&(&record).into());
                }
                if each(record).is_break() {
                    return Ok(());
                }
            }
            if version == 0 {
                tally.compare(&state_of(transaction)?)?;
            }
            Ok(())
        })
    }

    /// Gives each of `ids` that exists to `each`, in their order, all of one commit.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] at the first record whose checksum fails.
    pub(crate) fn records(
        &self,
        ids: &[u64],
        mut each: impl FnMut(StoredRecord<'_>),
    ) -> Result<(), StoreError> {
        self.read(|transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM records r LEFT JOIN contents c ON c.id = r.id WHERE r.id = ?1"
            ))?;
            let mut vector = Vec::new();
            for id in ids {
                let mut rows = statement.query([id.cast_signed()])?;
                if let Some(row) = rows.next()? {
                    each(row::read(row, &mut vector)?);
                }
            }
            Ok(())
        })
    }

    /// The data of a record, as JSON; `None` where there is no such record.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    #[cfg(test)]
    pub(crate) fn data(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let mut data = None;
        self.records(&[id], |record| data = Some(record.data.to_vec()))?;
        Ok(data)
    }

    /// The Q30 components of a record's vector; `None` where there is no such record, and of a store that is retired.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub(crate) fn vector(&self, id: u64) -> Result<Option<Vec<i32>>, StoreError> {
        if self.pool.retired.load(Relaxed) {
            return Ok(None);
        }
        let mut vector = None;
        self.records(&[id], |record| vector = Some(record.vector.to_vec()))?;
        Ok(vector)
    }

    /// Gives the id of every record that a commit after `version` deleted to `each`, in the order of deletion.
    ///
    /// A record created anew under its old id is among them too: apply deletions before [`Reader::load`].
    pub(crate) fn deleted_since(
        &self,
        version: u64,
        mut each: impl FnMut(u64),
    ) -> Result<(), StoreError> {
        self.read(|transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT id FROM changes INDEXED BY deletions WHERE kind = 3 AND version > ?1 ORDER BY version, position",
            )?;
            let mut rows = statement.query([version.cast_signed()])?;
            while let Some(row) = rows.next()? {
                each(row.get::<_, i64>(0)?.cast_unsigned());
            }
            Ok(())
        })
    }

    /// Up to `limit` entries of the change feed after `position`, in order.
    pub(crate) fn changes(&self, position: u64, limit: usize) -> Result<Vec<Change>, StoreError> {
        Ok(self
            .feed(position, limit, FeedData::Bytes(usize::MAX))?
            .changes)
    }

    /// As [`Reader::changes`], with where the feed begins and ends. Returns fewer than `limit` entries when their
    /// data exceeds the bytes of `data`, but at least one entry where there is one.
    pub(crate) fn feed(
        &self,
        position: u64,
        limit: usize,
        data: FeedData,
    ) -> Result<Feed, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(|transaction| {
            let (column, max_bytes) = match data {
                FeedData::None => ("NULL", usize::MAX),
                FeedData::Bytes(max_bytes) => ("data", max_bytes),
            };
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT position, version, id, uuid, kind, at, {column} FROM changes
                 WHERE position > ?1 ORDER BY position LIMIT ?2"
            ))?;
            let mut rows = statement.query((position.cast_signed(), limit))?;
            let mut changes: Vec<Change> = Vec::new();
            let mut bytes = 0;
            while bytes < max_bytes
                && let Some(row) = rows.next()?
            {
                let change = Change::from_row(row)?;
                bytes += change.data.as_ref().map_or(0, Vec::len);
                changes.push(change);
            }
            Ok(Feed {
                changes,
                removed: removed_of(transaction)?,
                last: state_of(transaction)?.position,
            })
        })
    }

    /// Number of records.
    pub(crate) fn count(&self) -> Result<u64, StoreError> {
        self.read(|transaction| {
            let count: i64 =
                transaction.query_row("SELECT count(*) FROM records", [], |row| row.get(0))?;
            Ok(count.cast_unsigned())
        })
    }

    /// What [`Store::set_meta`](super::Store::set_meta) keeps under `key`; the settings are under `settings`.
    pub(crate) fn meta(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|transaction| read_meta(transaction, key))
    }

    fn identify(
        &self,
        column: &str,
        keys: impl Iterator<Item: rusqlite::ToSql>,
    ) -> Result<Vec<Option<Identity>>, StoreError> {
        self.read(|transaction| {
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT id, uuid, hash, created, changed, synced FROM records WHERE {column} = ?1"
            ))?;
            keys.map(|key| Ok(statement.query_row([key], Identity::from_row).optional()?))
                .collect()
        })
    }

    /// Runs `read` in one transaction, so that all of its statements see the same commit.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let kept = self.idle().pop();
        let mut connection = kept.map_or_else(|| schema::open_reader(&self.pool.path), Ok)?;
        let result = read(&connection.transaction()?);
        let mut idle = self.idle();
        if idle.len() < IDLE_CONNECTIONS && !self.pool.retired.load(Relaxed) {
            idle.push(connection);
        }
        result
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        let idle = self.pool.idle.lock();
        idle
    }
}

impl Identity {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Identity> {
        Ok(Identity {
            id: row.get::<_, i64>(0)?.cast_unsigned(),
            uuid: row.get(1)?,
            hash: row.get(2)?,
            created: row.get(3)?,
            changed: row.get(4)?,
            synced: row.get(5)?,
        })
    }
}

/// The entries of the change feed that `which` chooses and orders.
pub(super) fn read_changes(
    connection: &Connection,
    which: &str,
    parameters: (i64, i64),
) -> Result<Vec<Change>, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT position, version, id, uuid, kind, at, data FROM changes WHERE {which}"
    ))?;
    let changes = statement.query_map(parameters, Change::from_row)?;
    Ok(changes.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn read_meta(connection: &Connection, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}
