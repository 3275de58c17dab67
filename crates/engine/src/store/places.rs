//! The places of vectors in files: a record has its vectors in the table `vectors` until its block is full, and then in a
//! file.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension};

use crate::store::error::StoreError;
use crate::store::meta::{next_done_of, remove_next_meta, write_next_done};
use crate::store::stored_record::vectors_crc;
use crate::store::vector_files::VectorFiles;

/// A place is the number of a file times this, and the slot of the record in it. The statements of SQL write it as `>> 12`
/// and `& 4095`.
const SLOTS: i64 = 1 << 12;
const _: () = assert!(SLOTS as usize == crate::columns::BLOCK_RECORDS);

/// The place of a record whose vectors are in the table.
pub(super) const IN_TABLE: i64 = i32::MIN as i64;

/// A model whose vectors a store has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model {
    /// That of the database.
    Current,
    /// That of a re-embedding.
    Next,
}

impl Model {
    /// The table with the places of the vectors.
    pub(super) fn places(self) -> &'static str {
        match self {
            Self::Current => "records",
            Self::Next => "next_records",
        }
    }

    /// The table with the vectors that are in no file.
    pub(super) fn vectors(self) -> &'static str {
        match self {
            Self::Current => "vectors",
            Self::Next => "next_vectors",
        }
    }
}

/// What records leave behind in a transaction.
#[derive(Debug, Default)]
pub(super) struct LeftPlaces {
    /// Files that lose records: their numbers, and how many records each loses.
    files: BTreeMap<i64, i64>,
    /// Records that lose what the next model made of them.
    next: u64,
}

impl LeftPlaces {
    /// Removes what models made of a record that gets other content or is deleted.
    pub(super) fn leave(&mut self, transaction: &Connection, id: u64) -> Result<(), StoreError> {
        self.leave_current(transaction, id)?;
        self.leave_next(transaction, id)
    }

    /// Removes what the current model made of a record that gets other vectors.
    pub(super) fn leave_current(
        &mut self,
        transaction: &Connection,
        id: u64,
    ) -> Result<(), StoreError> {
        let rowid = id.cast_signed();
        match place_of(transaction, rowid)? {
            Some(place) if place >= 0 => {
                self.note(place);
                transaction
                    .prepare_cached("UPDATE records SET place = ?2 WHERE id = ?1")?
                    .execute((rowid, IN_TABLE))?;
            }
            _ => {
                transaction
                    .prepare_cached("DELETE FROM vectors WHERE id = ?1")?
                    .execute([rowid])?;
            }
        }
        transaction
            .prepare_cached("DELETE FROM passages WHERE id = ?1")?
            .execute([rowid])?;
        Ok(())
    }

    /// Removes what the next model made of a record.
    fn leave_next(&mut self, transaction: &Connection, id: u64) -> Result<(), StoreError> {
        let rowid = id.cast_signed();
        let next: Option<i64> = transaction
            .prepare_cached("DELETE FROM next_records WHERE id = ?1 RETURNING place")?
            .query_row([rowid], |row| row.get(0))
            .optional()?;
        if let Some(place) = next {
            self.next += 1;
            if place >= 0 {
                self.note(place);
            } else {
                transaction
                    .prepare_cached("DELETE FROM next_vectors WHERE id = ?1")?
                    .execute([rowid])?;
            }
        }
        Ok(())
    }

    /// Notes that the records with ids from `first` to `last` leave their places of the vectors of `model`.
    pub(super) fn note_all(
        &mut self,
        transaction: &Connection,
        model: Model,
        (first, last): (i64, i64),
    ) -> Result<(), StoreError> {
        let mut statement = transaction.prepare_cached(&format!(
            "SELECT place FROM {} WHERE id BETWEEN ?1 AND ?2 AND place >= 0",
            model.places()
        ))?;
        let mut rows = statement.query([first, last])?;
        while let Some(row) = rows.next()? {
            self.note(row.get(0)?);
        }
        Ok(())
    }

    fn note(&mut self, place: i64) {
        *self.files.entry(place / SLOTS).or_default() += 1;
    }

    /// Writes how many records each file has left, and how many the next model has. Returns whether files have none left,
    /// which are not named any more.
    pub(super) fn write(self, transaction: &Connection) -> Result<bool, StoreError> {
        if self.next > 0 {
            let done = next_done_of(transaction)?.saturating_sub(self.next);
            write_next_done(transaction, done)?;
        }
        if self.files.is_empty() {
            return Ok(false);
        }
        let mut leave = transaction
            .prepare_cached("UPDATE vector_files SET living = living - ?2 WHERE number = ?1")?;
        let mut forget = transaction
            .prepare_cached("DELETE FROM vector_files WHERE number = ?1 AND living <= 0")?;
        let mut emptied = 0;
        for (number, left) in self.files {
            leave.execute((number, left))?;
            emptied += forget.execute([number])?;
        }
        Ok(emptied > 0)
    }
}

/// The place of a slot in a file.
pub(super) fn place_in(number: i64, slot: usize) -> i64 {
    number * SLOTS + slot as i64
}

/// The place of a record; `None` where there is no record.
fn place_of(transaction: &Connection, rowid: i64) -> Result<Option<i64>, StoreError> {
    Ok(transaction
        .prepare_cached("SELECT place FROM records WHERE id = ?1")?
        .query_row([rowid], |row| row.get(0))
        .optional()?)
}

/// The number of a file with vectors of `model`, which is named first if it is not yet.
pub(super) fn number_of_named(
    transaction: &Connection,
    model: Model,
    file: u64,
) -> Result<i64, StoreError> {
    let known = transaction
        .prepare_cached("SELECT number FROM vector_files WHERE file = ?1")?
        .query_row([file.cast_signed()], |row| row.get(0))
        .optional()?;
    match known {
        Some(number) => Ok(number),
        None => {
            transaction
                .prepare_cached("INSERT INTO vector_files (file, living, next) VALUES (?1, 0, ?2)")?
                .execute((file.cast_signed(), model == Model::Next))?;
            Ok(transaction.last_insert_rowid())
        }
    }
}

/// The files that are named, and how many records have their place in each.
pub(super) fn named_files(connection: &Connection) -> Result<HashMap<u64, u64>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT file, living FROM vector_files")?;
    let files = statement.query_map([], |row| {
        let (file, living): (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok((file.cast_unsigned(), living.cast_unsigned()))
    })?;
    Ok(files.collect::<rusqlite::Result<_>>()?)
}

/// The files with vectors of a model that are named.
pub(super) fn files_of(connection: &Connection, model: Model) -> Result<Vec<u64>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT file FROM vector_files WHERE next = ?1")?;
    let files = statement.query_map([model == Model::Next], |row| row.get::<_, i64>(0))?;
    files.map(|file| Ok(file?.cast_unsigned())).collect()
}

/// Removes what the next model made. Returns whether files are not named any more.
pub(super) fn remove_next(transaction: &Connection) -> Result<bool, StoreError> {
    transaction.execute_batch("DELETE FROM next_vectors; DELETE FROM next_records")?;
    remove_next_meta(transaction)?;
    Ok(transaction.execute("DELETE FROM vector_files WHERE next", [])? > 0)
}

/// Takes all vectors of a copy of a store from their files into its table, and removes those of the next model. Returns
/// whether this was done: `go_on` is asked after every 4,096 records.
///
/// # Errors
/// [`StoreError::LostVectors`], [`StoreError::DiskFull`]; SQLite's.
pub(super) fn take_vectors(
    copy: &mut Connection,
    files: &VectorFiles,
    go_on: &impl Fn() -> bool,
) -> Result<bool, StoreError> {
    let transaction = copy.transaction()?;
    remove_next(&transaction)?;
    if named_files(&transaction)?.is_empty() {
        transaction.commit()?;
        release_pages(copy)?;
        return Ok(true);
    }
    // Those of the table are added again among the others, because rows in the middle would split pages in halves.
    transaction.execute_batch(
        "CREATE TABLE growing (id INTEGER PRIMARY KEY, vector BLOB, crc INTEGER);
         INSERT INTO growing SELECT id, vector, crc FROM vectors; DELETE FROM vectors",
    )?;
    let mut records = transaction.prepare(
        "SELECT r.id, g.vector, f.file, r.place & 4095, g.crc, r.hash, p.places
         FROM records r NOT INDEXED LEFT JOIN growing g ON g.id = r.id
         LEFT JOIN passages p ON p.id = r.id LEFT JOIN vector_files f ON f.number = r.place >> 12
         ORDER BY r.id",
    )?;
    let mut insert =
        transaction.prepare("INSERT INTO vectors (id, vector, crc) VALUES (?1, ?2, ?3)")?;
    let mut rows = records.query([])?;
    let (mut vectors, mut read) = (Vec::new(), HashMap::new());
    let mut taken = 0_usize;
    while let Some(row) = rows.next()? {
        taken += 1;
        if taken.is_multiple_of(4096) && !go_on() {
            return Ok(false);
        }
        let rowid: i64 = row.get(0)?;
        let id = rowid.cast_unsigned();
        let Some(file) = row.get::<_, Option<i64>>(2)? else {
            let vectors = row.get_ref(1)?.as_blob();
            let vectors = vectors.map_err(|_| StoreError::Damaged { id })?;
            insert.execute((rowid, vectors, row.get::<_, i64>(4)?))?;
            continue;
        };
        vectors.clear();
        let file = file.cast_unsigned();
        read.entry(file)
            .or_insert_with(|| files.file(file))
            .append_record((id, row.get::<_, i64>(3)? as usize), &mut vectors)
            .map_err(|source| StoreError::LostVectors { id, source })?;
        let places = row.get_ref(6)?.as_blob_or_null();
        let places = places.map_err(|_| StoreError::Damaged { id })?;
        let crc = vectors_crc((id, row.get(5)?), &vectors, places);
        insert.execute((rowid, &vectors, crc))?;
    }
    drop(rows);
    drop((records, insert));
    transaction.execute("UPDATE records SET place = ?1", [IN_TABLE])?;
    transaction.execute_batch("DELETE FROM vector_files; DROP TABLE growing")?;
    transaction.commit()?;
    release_pages(copy)?;
    Ok(true)
}

/// Gives the free pages of a file back.
fn release_pages(connection: &Connection) -> Result<(), StoreError> {
    let mut release = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut pages = release.query([])?;
    while pages.next()?.is_some() {}
    Ok(())
}
