//! The writes of a commit, and the statements that apply them.

use rusqlite::{CachedStatement, Connection, OptionalExtension};

use crate::store::change::{Change, ChangeKind, INSERT};
use crate::store::error::StoreError;
use crate::store::header::{Header, INSERT_RECORD, UPDATE_RECORD};
use crate::store::places::LeftPlaces;
use crate::store::state::State;
use crate::store::stored_record::{StoredRecord, encode_vectors, vectors_crc};
use crate::store::vector_file::crc_of;

/// The statements of one commit, prepared once.
pub(super) struct Batch<'t> {
    transaction: &'t Connection,
    state: State,
    insert_record: CachedStatement<'t>,
    insert_content: CachedStatement<'t>,
    update_record: CachedStatement<'t>,
    update_content: CachedStatement<'t>,
    touch: CachedStatement<'t>,
    /// Reads what the change feed keeps of a record that is changed or deleted.
    former: CachedStatement<'t>,
    log: CachedStatement<'t>,
    delete_record: CachedStatement<'t>,
    delete_content: CachedStatement<'t>,
    insert_vectors: CachedStatement<'t>,
    insert_passages: CachedStatement<'t>,
    left: LeftPlaces,
    vectors: Vec<u8>,
}

impl<'t> Batch<'t> {
    /// Begins the commit after `state`.
    pub(super) fn begin(
        transaction: &'t Connection,
        state: State,
    ) -> Result<Batch<'t>, StoreError> {
        let prepare = |sql| transaction.prepare_cached(sql);
        Ok(Batch {
            transaction,
            state: State {
                version: state.version + 1,
                ..state
            },
            insert_record: prepare(INSERT_RECORD)?,
            insert_content: prepare(
                "INSERT INTO contents (id, data, crc, key) VALUES (?1, ?2, ?3, ?4)",
            )?,
            update_record: prepare(UPDATE_RECORD)?,
            update_content: prepare(
                "UPDATE contents SET data = ?2, crc = ?3, key = ?4 WHERE id = ?1",
            )?,
            touch: prepare("UPDATE records SET synced = ?2, version = ?3 WHERE id = ?1")?,
            former: prepare("SELECT data, key FROM contents WHERE id = ?1")?,
            log: prepare(INSERT)?,
            delete_record: prepare("DELETE FROM records WHERE id = ?1")?,
            delete_content: prepare("DELETE FROM contents WHERE id = ?1")?,
            insert_vectors: prepare("INSERT INTO vectors (id, vector, crc) VALUES (?1, ?2, ?3)")?,
            insert_passages: prepare("INSERT INTO passages (id, places, crc) VALUES (?1, ?2, ?3)")?,
            left: LeftPlaces::default(),
            vectors: Vec::new(),
        })
    }

    /// Applies one write. Later writes of the batch see its effect.
    ///
    /// # Errors
    /// [`StoreError::Taken`], [`StoreError::Missing`]: the record is not as the write says.
    pub(super) fn apply(&mut self, write: &Write<'_>) -> Result<(), StoreError> {
        let version = self.state.version.cast_signed();
        match *write {
            Write::Put { record, kind } => {
                let header = Header {
                    version: self.state.version,
                    ..record.header
                };
                let id = header.id;
                encode_vectors(record.vectors, &mut self.vectors);
                // Before the new content, because the change keeps the former content.
                let before = match kind {
                    PutKind::Created => None,
                    PutKind::Changed => Some(self.leave(&header, record.data)?),
                };
                let (write, kind, error) = match kind {
                    PutKind::Created => (
                        &mut self.insert_record,
                        ChangeKind::Created,
                        StoreError::Taken { id },
                    ),
                    PutKind::Changed => (
                        &mut self.update_record,
                        ChangeKind::Changed,
                        StoreError::Missing { id },
                    ),
                };
                one(write.execute(header.values())?, error)?;
                self.state.tally.add(&header);
                self.state.next_id = self.state.next_id.max(id + 1);
                self.log(Change {
                    position: self.state.position + 1,
                    version: self.state.version,
                    id,
                    uuid: header.uuid,
                    key: record.key.map(str::to_owned),
                    kind,
                    at: header.changed,
                    data: before,
                })?;
                let content = match kind {
                    ChangeKind::Created => &mut self.insert_content,
                    _ => &mut self.update_content,
                };
                let rowid = id.cast_signed();
                let values = (rowid, record.data, record.crc(), record.key);
                one(content.execute(values)?, StoreError::Damaged { id })?;
                if let Some(places) = record.passages {
                    let values = (rowid, places, crc_of(id, places));
                    self.insert_passages.execute(values)?;
                }
                let crc = vectors_crc((id, header.hash), &self.vectors, record.passages);
                self.insert_vectors.execute((rowid, &self.vectors, crc))?;
                Ok(())
            }
            Write::Touch { id, synced } => {
                let row = Header::stored(self.transaction, id)?;
                self.touch.execute((id.cast_signed(), synced, version))?;
                self.state.tally.remove(&row);
                self.state.tally.add(&Header {
                    synced,
                    version: self.state.version,
                    ..row
                });
                Ok(())
            }
            Write::Delete { id, at } => {
                let rowid = id.cast_signed();
                let row = Header::stored(self.transaction, id)?;
                self.state.tally.remove(&row);
                self.left.leave(self.transaction, id)?;
                let (data, key) = former(&mut self.former, id)?;
                self.log(Change {
                    position: self.state.position + 1,
                    version: self.state.version,
                    id,
                    uuid: row.uuid,
                    key,
                    kind: ChangeKind::Deleted,
                    at,
                    data: Some(data),
                })?;
                self.delete_content.execute([rowid])?;
                self.delete_record.execute([rowid])?;
                Ok(())
            }
        }
    }

    /// Removes the vectors of a record that gets the header and the data, and returns its former data. With the same data and
    /// hash, it keeps what the next model made of it.
    fn leave(&mut self, header: &Header, data: &[u8]) -> Result<Vec<u8>, StoreError> {
        let row = Header::stored(self.transaction, header.id)?;
        self.state.tally.remove(&row);
        let (before, _) = former(&mut self.former, header.id)?;
        if before == data && row.hash == header.hash {
            self.left.leave_current(self.transaction, header.id)?;
        } else {
            self.left.leave(self.transaction, header.id)?;
        }
        Ok(before)
    }

    fn log(&mut self, change: Change) -> Result<(), StoreError> {
        self.state.position = change.position;
        change.insert(&mut self.log)?;
        Ok(())
    }

    /// Ends the batch. Returns the state of the store once this is committed, and whether vector files are not named any
    /// more then.
    ///
    /// # Errors
    /// SQLite's.
    pub(super) fn end(self) -> Result<(State, bool), StoreError> {
        Ok((self.state, self.left.write(self.transaction)?))
    }
}

/// The data and the key of a record.
fn former(
    statement: &mut CachedStatement<'_>,
    id: u64,
) -> Result<(Vec<u8>, Option<String>), StoreError> {
    statement
        .query_row([id.cast_signed()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?
        .ok_or(StoreError::Damaged { id })
}

/// Returns `error` unless a statement changed exactly one row.
pub(super) fn one(rows: usize, error: StoreError) -> Result<(), StoreError> {
    if rows == 1 { Ok(()) } else { Err(error) }
}

/// One write of a commit. Times are milliseconds since 1970 UTC.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Write<'a> {
    /// Writes a whole record.
    Put {
        record: StoredRecord<'a>,
        /// Whether it must be new or must exist.
        kind: PutKind,
    },
    /// Sets *synced* of an unchanged record.
    Touch {
        /// Integer id.
        id: u64,
        /// When it was last seen.
        synced: i64,
    },
    /// Deletes a record.
    Delete {
        /// Integer id.
        id: u64,
        /// When it is deleted.
        at: i64,
    },
}

/// Whether a put record is a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PutKind {
    /// Neither its id nor its UUID is in use.
    Created,
    /// It exists, with this id and this UUID.
    Changed,
}
