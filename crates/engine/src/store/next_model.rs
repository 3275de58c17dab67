//! What the next model makes of the records while a re-embedding runs: stored beside what the current model made, and put in
//! its place by one transaction.
//!
//! A record whose content changes or that is deleted loses its row in the same transaction, so each row is of the present
//! content, and all records have one when there are as many.

use rusqlite::Transaction;

use crate::record::Vectors;
use crate::store::batch::one;
use crate::store::error::StoreError;
use crate::store::hand_over::hand_over;
use crate::store::header::Header;
use crate::store::meta::{
    NEXT_SETTINGS, next_done_of, read_meta, remove_next_meta, write_meta, write_next_done,
    write_settings, write_switch,
};
use crate::store::next_reads::NextReached;
use crate::store::places::{Model, files_of, remove_next};
use crate::store::stamp::{STAMPS, Stamp};
use crate::store::state::{STATE, State};
use crate::store::stored_record::{StoredRecord, encode_vectors, vectors_crc};
use crate::store::vector_file::crc_of;
use crate::store::writer::Store;

/// Bytes of the hash of a record. In the table, its checksum follows.
const HASH_BYTES: usize = 16;

/// Key of the stamp of the index files of the next model.
const STAMP: &str = "next_stamp";

/// What the next model made of a record.
#[derive(Debug)]
pub(crate) struct NextRecord {
    pub(crate) id: u64,
    /// The commit that last wrote the record when it was read.
    pub(crate) version: u64,
    /// Its hash with these vectors.
    pub(crate) hash: [u8; 16],
    pub(crate) vectors: Vectors,
}

impl Store {
    /// Begins a re-embedding with other settings, and discards one that was begun before.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn begin_next(
        &mut self,
        settings: &[u8],
        started_at: i64,
    ) -> Result<(), StoreError> {
        let emptied = self.write(|transaction| {
            let emptied = remove_next(transaction)?;
            write_meta(transaction, NEXT_SETTINGS, settings)?;
            NextReached::begin(started_at).write(transaction)?;
            Ok(emptied)
        })?;
        self.log_drops_files |= emptied;
        Ok(())
    }

    /// Ends the re-embedding, and removes what it made. On a full disk its files are removed first, to make room for the
    /// transaction. If that fails all the same, the next begin starts with no record, because files are missing.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn cancel_next(&mut self) -> Result<(), StoreError> {
        let ended = self.write(|transaction| remove_next_meta(transaction));
        let is_full = matches!(ended, Err(StoreError::DiskFull));
        if is_full || ended.is_ok() && !self.reader.vector_files().is_pinned() {
            let files = files_of(self.connection()?, Model::Next)?;
            self.reader.vector_files().remove(files);
        }
        if is_full {
            self.write(|transaction| remove_next_meta(transaction))?;
        } else {
            ended?;
        }
        self.remove_ended_next()
    }

    /// Removes what a re-embedding made that has ended.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn remove_ended_next(&mut self) -> Result<(), StoreError> {
        let connection = self.connection()?;
        let exists = "SELECT EXISTS (SELECT 1 FROM next_records)";
        let exists: bool = connection.query_row(exists, [], |row| row.get(0))?;
        if exists && read_meta(connection, NEXT_SETTINGS)?.is_none() {
            let emptied = self.write(|transaction| remove_next(transaction))?;
            self.log_drops_files |= emptied;
        }
        Ok(())
    }

    /// Stores what the next model made of records that were read from `before` to `after`. Records that were written
    /// meanwhile are left out. Returns how many records have vectors of the next model; `None` when another re-embedding was
    /// begun, or other records were stored, since `before` was read.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn put_next(
        &mut self,
        (before, after): (NextReached, NextReached),
        records: &[NextRecord],
    ) -> Result<Option<u64>, StoreError> {
        self.write_at(before, |transaction| {
            let mut done = next_done_of(transaction)?;
            for record in records {
                done += u64::from(put(transaction, record)?);
            }
            write_next_done(transaction, done)?;
            after.write(transaction)?;
            Ok(done)
        })
    }

    /// Hands vectors of the next model over to a file, as [`Store::hand_over`] does. Returns false when records were stored
    /// since `reached` was read: then nothing is handed over.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn hand_over_next(
        &mut self,
        reached: NextReached,
        file: u64,
        records: impl Iterator<Item = (u64, usize)>,
    ) -> Result<bool, StoreError> {
        let handed_over = self.write_at(reached, |transaction| {
            hand_over(transaction, Model::Next, file, records)
        })?;
        self.log_drops_files |= handed_over.unwrap_or(false);
        if handed_over.is_some() {
            self.reader.vector_files().settle(file);
        }
        Ok(handed_over.is_some())
    }

    /// Records a stamp for index files of the next model, which the store knows after the switch. `None` when another
    /// re-embedding was begun, or records were stored, since `reached` was read.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn stamp_next(&mut self, reached: NextReached) -> Result<Option<Stamp>, StoreError> {
        self.write_at(reached, |transaction| {
            let stamp = Stamp::new();
            write_meta(transaction, STAMP, &stamp.0)?;
            Ok(stamp)
        })
    }

    /// Runs `body` in one transaction; `None` when another re-embedding was begun, or records were stored, since `reached` was
    /// read.
    ///
    /// # Errors
    /// As [`Store::commit`].
    fn write_at<T>(
        &mut self,
        reached: NextReached,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.write(|transaction| {
            if NextReached::read(transaction)? == Some(reached) {
                body(transaction).map(Some)
            } else {
                Ok(None)
            }
        })
    }

    /// Puts what the next model made in the place of what the current one made, with `settings`, as one commit. Returns false
    /// when records lack vectors of the next model, when another re-embedding was begun or gone on since `reached` was read, and
    /// for a restored store: then nothing changes.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn switch(
        &mut self,
        reached: NextReached,
        settings: &[u8],
    ) -> Result<bool, StoreError> {
        if self.restored.is_some() {
            return Ok(false);
        }
        let before = self.status;
        let changes = before.settings_changes + 1;
        let state = self.write_at(reached, |transaction| {
            let count = "SELECT count(*) FROM next_records";
            let count: i64 = transaction.query_row(count, [], |row| row.get(0))?;
            if count.cast_unsigned() != before.state.tally.records {
                return Ok(None);
            }
            let mut state = State {
                version: before.state.version + 1,
                ..before.state
            };
            write_hashes(transaction, &mut state)?;
            let stamp = read_meta(transaction, STAMP)?.unwrap_or_default();
            transaction.execute_batch(
                "UPDATE records SET place = (SELECT place FROM next_records n WHERE n.id = records.id);
                 DELETE FROM vectors; INSERT INTO vectors SELECT id, vector, crc FROM next_vectors;
                 DELETE FROM passages;
                 INSERT INTO passages SELECT id, places, crc FROM next_records WHERE places IS NOT NULL;
                 DELETE FROM vector_files WHERE NOT next; UPDATE vector_files SET next = 0",
            )?;
            remove_next(transaction)?;
            write_meta(transaction, STAMPS, &stamp)?;
            write_settings(transaction, settings, changes)?;
            write_switch(transaction, state.version)?;
            write_meta(transaction, STATE, &state.to_bytes())?;
            Ok(Some(state))
        })?;
        let Some(state) = state.flatten() else {
            return Ok(false);
        };
        self.status.state = state;
        self.status.settings_changes = changes;
        self.log_drops_files = true;
        self.committed();
        Ok(true)
    }
}

/// Stores what the next model made of a record, and returns whether it did: not if the record was written meanwhile.
fn put(transaction: &Transaction<'_>, record: &NextRecord) -> Result<bool, StoreError> {
    let rowid = record.id.cast_signed();
    let stored = Header::find(transaction, record.id)?;
    let Some(stored) = stored.filter(|stored| stored.version == record.version) else {
        return Ok(false);
    };
    let places = record.vectors.passages.as_ref();
    let places = places.map(|passages| passages.places_to_bytes());
    let crc = places.as_ref().map(|places| crc_of(record.id, places));
    let hash = (record.hash != stored.hash).then(|| {
        let mut sealed = record.hash.to_vec();
        sealed.extend(crc_of(record.id, &record.hash).to_le_bytes());
        sealed
    });
    transaction
        .prepare_cached("INSERT INTO next_records (id, places, crc, hash) VALUES (?1, ?2, ?3, ?4)")?
        .execute((rowid, &places, crc, hash))?;
    let mut vectors = Vec::new();
    encode_vectors(&record.vectors.joined(), &mut vectors);
    transaction
        .prepare_cached("INSERT INTO next_vectors (id, vector, crc) VALUES (?1, ?2, ?3)")?
        .execute((
            rowid,
            &vectors,
            vectors_crc((record.id, record.hash), &vectors, places.as_deref()),
        ))?;
    Ok(true)
}

/// Gives the records that came with a vector, which their hash depends on, the hash that they have without it.
fn write_hashes(transaction: &Transaction<'_>, state: &mut State) -> Result<(), StoreError> {
    let mut changed = transaction.prepare(
        "SELECT n.id, n.hash, c.data, c.key, c.crc FROM next_records n JOIN contents c ON c.id = n.id
         WHERE n.hash IS NOT NULL",
    )?;
    let mut rows = changed.query([])?;
    while let Some(row) = rows.next()? {
        let rowid = row.get::<_, i64>(0)?;
        let id = rowid.cast_unsigned();
        let before = Header::stored(transaction, id)?;
        let sealed: [u8; HASH_BYTES + 4] = row.get(1)?;
        let (hash, crc) = sealed.split_at(HASH_BYTES);
        let data: Vec<u8> = row.get(2)?;
        let key: Option<String> = row.get(3)?;
        let record_with = |header| StoredRecord {
            header,
            key: key.as_deref(),
            data: &data,
            vectors: &[],
            passages: None,
        };
        let is_intact = crc == crc_of(id, hash).to_le_bytes()
            && row.get::<_, i64>(4)? == i64::from(record_with(before).crc());
        one(usize::from(is_intact), StoreError::Damaged { id })?;
        let header = Header {
            hash: hash.try_into().expect("16 bytes"),
            ..before
        };
        transaction
            .prepare_cached("UPDATE records SET hash = ?2 WHERE id = ?1")?
            .execute((rowid, header.hash))?;
        transaction
            .prepare_cached("UPDATE contents SET crc = ?2 WHERE id = ?1")?
            .execute((rowid, record_with(header).crc()))?;
        state.tally.remove(&before);
        state.tally.add(&header);
    }
    Ok(())
}
