//! Writes the commits of another store into a store that follows it, such as one with the vectors of another model.

use std::borrow::Borrow;

use rusqlite::Transaction;

use crate::record::Vectors;
use crate::store::batch::one;
use crate::store::change::{ChangeKind, INSERT};
use crate::store::commit_range::{CommitRange, CopiedRecord};
use crate::store::error::StoreError;
use crate::store::header::{Header, INSERT_RECORD, UPDATE_RECORD};
use crate::store::meta::{write_clock, write_meta};
use crate::store::places::LeftPlaces;
use crate::store::state::{STATE, State, Tally};
use crate::store::stored_record::{
    COLUMNS, JOINS, StoredRecord, VectorsRead, encode_vectors, read,
};
use crate::store::vector_files::VectorFiles;
use crate::store::writer::Store;

impl Store {
    /// Writes a range of commits that begins where this store ends, or nothing; it is durable when it returns. A record
    /// that comes without vectors keeps the vectors that this store has. Returns by how many the number of records grew.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn copy_commits(
        &mut self,
        range: &CommitRange,
        records: &[(impl Borrow<CopiedRecord>, Option<Vectors>)],
    ) -> Result<i64, StoreError> {
        let before = self.status.state;
        let reader = self.reader.clone();
        let files = reader.vector_files();
        let (state, emptied) = self.write(|transaction| {
            let mut tally = before.tally;
            let mut left = LeftPlaces::default();
            for change in &range.changes {
                change.insert(&mut transaction.prepare_cached(INSERT)?)?;
                if change.kind == ChangeKind::Deleted {
                    delete(transaction, change.id, &mut tally, &mut left)?;
                }
            }
            for (record, vectors) in records {
                let (record, vectors) = (record.borrow(), vectors.as_ref());
                put(transaction, record, vectors, &mut tally, &mut left, files)?;
            }
            let last = range.changes.last();
            let state = State {
                version: range.version,
                position: last.map_or(before.position, |change| change.position),
                next_id: range.next_id,
                tally,
            };
            write_meta(transaction, STATE, &state.to_bytes())?;
            range.feed.write(transaction)?;
            write_clock(transaction, range.clock)?;
            Ok((state, left.write(transaction)?))
        })?;
        self.log_drops_files |= emptied;
        self.status.state = state;
        self.committed();
        let (before, after) = (before.tally.records, self.status.state.tally.records);
        Ok(after.cast_signed() - before.cast_signed())
    }
}

/// Deletes a record, if it exists: a record may be created and deleted within one range.
fn delete(
    transaction: &Transaction<'_>,
    id: u64,
    tally: &mut Tally,
    left: &mut LeftPlaces,
) -> Result<(), StoreError> {
    let Some(row) = Header::find(transaction, id)? else {
        return Ok(());
    };
    tally.remove(&row);
    left.leave(transaction, id)?;
    for sql in [
        "DELETE FROM contents WHERE id = ?1",
        "DELETE FROM records WHERE id = ?1",
    ] {
        transaction
            .prepare_cached(sql)?
            .execute([id.cast_signed()])?;
    }
    Ok(())
}

fn put(
    transaction: &Transaction<'_>,
    record: &CopiedRecord,
    vectors: Option<&Vectors>,
    tally: &mut Tally,
    left: &mut LeftPlaces,
    files: &VectorFiles,
) -> Result<(), StoreError> {
    let header = &record.header;
    let id = header.id;
    if let Some(row) = Header::find(transaction, id)? {
        tally.remove(&row);
    }
    tally.add(header);
    let key = record.key.as_deref();
    let row = header.values();
    let (rowid, uuid, hash, created, changed, synced, version) = row;
    let mut bytes = Vec::new();
    let passages = match vectors {
        Some(vectors) => {
            encode_vectors(&vectors.joined(), &mut bytes);
            let several = vectors.passages.as_ref();
            several.map(|passages| passages.places_to_bytes())
        }
        None => {
            // Most such records were only touched: then the content need not be written again.
            let touched = transaction
                .prepare_cached(
                    "UPDATE records SET synced = ?6, version = ?7
                     WHERE id = ?1 AND uuid = ?2 AND hash = ?3 AND created = ?4 AND changed = ?5
                     AND (SELECT key FROM contents WHERE id = ?1) IS ?8",
                )?
                .execute((rowid, uuid, hash, created, changed, synced, version, key))?;
            if touched == 1 {
                return Ok(());
            }
            let mut statement = transaction.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM records r {JOINS} WHERE r.id = ?1"
            ))?;
            let mut rows = statement.query([rowid])?;
            let row = rows.next()?.ok_or(StoreError::Damaged { id })?;
            let mut vectors = VectorsRead::default();
            let before = read(row, files, &mut vectors)?;
            encode_vectors(before.vectors, &mut bytes);
            before.passages.map(<[u8]>::to_vec)
        }
    };
    let stored = StoredRecord {
        header: *header,
        key,
        data: &record.data,
        vectors: &[],
        passages: passages.as_deref(),
    };
    let content = (rowid, stored.data, stored.crc(&bytes), key, &passages);
    if transaction.prepare_cached(INSERT_RECORD)?.execute(row)? == 0 {
        one(
            transaction.prepare_cached(UPDATE_RECORD)?.execute(row)?,
            StoreError::Missing { id },
        )?;
    }
    transaction
        .prepare_cached(
            "INSERT INTO contents (id, data, crc, key, passages) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE
             SET data = excluded.data, crc = excluded.crc, key = excluded.key, passages = excluded.passages",
        )?
        .execute(content)?;
    if vectors.is_some() {
        left.leave(transaction, id)?;
        transaction
            .prepare_cached("INSERT INTO vectors (id, vector) VALUES (?1, ?2)")?
            .execute((rowid, bytes))?;
    }
    Ok(())
}
