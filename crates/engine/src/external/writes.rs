//! Upserts and patches of records that a store outside of the engine keeps.

use std::collections::HashMap;

use serde_json::json;

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::external::reads::reference;
use crate::external::row::{ExternalRow, published_of};
use crate::external::rules::ExternalRules;
use crate::external::vectors::ExternalVectors;
use crate::record::{Data, OwnedValue, RecordId, RecordUuid};
use crate::store::{Header, PutKind, Write};
use crate::write::{
    Committed, Context, Deletion, Embedded, Format, Patch, Prepared, PreparedPatch, RecordRef,
    Stage, add_patched_text, add_texts, find_known, parse, parse_data, stage_commit,
    unapplied_patch,
};

/// A write of a commit. The writes of a commit are in order, and a record may have several.
#[derive(Clone, Debug)]
pub enum ExternalChange {
    /// Store the row, which is new or has other content than before.
    Put(Box<ExternalPut>),
    /// Set only the time of the last sync.
    Touch {
        /// The integer id.
        id: u64,
        /// Milliseconds since 1970.
        synced: i64,
    },
}

/// A record that a commit stores.
#[derive(Clone, Debug)]
pub struct ExternalPut {
    /// Whether the record is new.
    pub created: bool,
    /// The record as it is now, without its vectors.
    pub row: ExternalRow,
    /// Its vectors.
    pub vectors: ExternalVectors,
    /// The JSON text of its data before; absent for a new record.
    pub before: Option<Vec<u8>>,
}

/// How the numbers of records with a column changed, by the type of their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnChange {
    /// The name.
    pub name: String,
    /// Strings, numbers, booleans, nulls, lists.
    pub counts: [i64; 5],
}

/// What a commit writes.
#[derive(Debug)]
pub struct ExternalWrites {
    /// What the caller is told.
    pub committed: Committed,
    /// The writes, in order.
    pub changes: Vec<ExternalChange>,
    /// The columns whose counts change.
    pub columns: Vec<ColumnChange>,
    /// The id of the next new record without one.
    pub next_id: u64,
}

impl ExternalRules {
    /// Parses and checks records. Their texts are those of [`Self::find_texts`].
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Dimensions`].
    pub fn prepare(&self, body: &[u8], vectors: &[f32], format: Format) -> Result<Prepared, Error> {
        let (records, problems) = parse(&self.settings, body, vectors, format, &self.limits)?;
        Ok(Prepared::new(self.epoch, records, problems))
    }

    /// Parses a patch of one record. Its text is that of [`Self::find_texts`].
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::RecordNotFound`].
    pub fn prepare_patch(&self, record: &str, form: &str, body: &[u8]) -> Result<Prepared, Error> {
        let patch = Patch::parse(
            &self.id,
            record,
            form,
            body,
            self.settings.flatten,
            &self.limits,
        )?;
        let patch = unapplied_patch(&self.settings, patch, &self.limits);
        Ok(Prepared::new(self.epoch, patch, Vec::new()))
    }

    /// The stored records that the other calls need, JSON: `{"identities","whole"}`. The identities are `{"id"}` and
    /// `{"uuid"}`; with `whole`, data and vectors are needed, otherwise those of [`Self::kept`].
    pub fn needs(&self, prepared: &Prepared) -> String {
        let prepared = prepared.lock();
        let identities: Vec<_> = prepared.references().map(reference).collect();
        json!({ "identities": identities, "whole": prepared.patch.is_some() }).to_string()
    }

    /// The ids of the stored records that `stage` stores again with the same content, so that it needs their data and vectors.
    pub fn kept(&self, prepared: &Prepared, rows: &[ExternalRow]) -> Vec<u64> {
        let ids: HashMap<_, _> = rows.iter().map(|row| (row.header.id, row)).collect();
        let uuids: HashMap<_, _> = rows.iter().map(|row| (row.header.uuid, row)).collect();
        let prepared = prepared.lock();
        let kept = prepared.records.iter().filter_map(|record| {
            let by_id = record.new.id.and_then(|id| ids.get(&id));
            let row = by_id.or_else(|| uuids.get(&record.new.uuid?))?;
            let Header {
                id,
                hash,
                created,
                changed,
                ..
            } = row.header;
            let is_kept =
                record.is_same(&hash) && record.renews(row.key.is_some(), created, changed);
            is_kept.then_some(id)
        });
        kept.collect()
    }

    /// Compares prepared records with the stored records of their identities, and finds the texts to embed.
    ///
    /// # Errors
    /// [`Error::RecordNotFound`] for a patch of a record that is not there; [`Error::Invalid`].
    pub fn find_texts(&self, prepared: &Prepared, rows: &[ExternalRow]) -> Result<(), Error> {
        let published = published_of(rows, 0)?;
        let mut prepared = prepared.lock();
        if let Some(PreparedPatch { patch, .. }) = &prepared.patch {
            let row = patch.record.find(&published);
            let row = row.ok_or_else(|| patch.not_found())?;
            return add_patched_text(&mut prepared, &published.snapshot.data_of(row));
        }
        if self.settings.model.is_some() {
            let known = find_known(&published, &prepared);
            let hashes = rows
                .iter()
                .map(|row| (row.header.id, row.header.hash))
                .collect();
            add_texts(&mut prepared, &known, &hashes);
        }
        Ok(())
    }

    /// Compares prepared records with the stored records of their identities, and returns what the commit writes.
    ///
    /// `next_id` is the id of the next new record, `now` the time of the commit in milliseconds, `names` are all columns
    /// of the database.
    ///
    /// # Errors
    /// [`Error::Stale`] when texts must be embedded again; [`Error::Dimensions`], [`Error::IdentityConflict`],
    /// [`Error::Invalid`], [`Error::RecordNotFound`]; [`Error::DatabaseNotFound`] for records of an earlier database of
    /// the same id.
    pub fn stage(
        &self,
        prepared: &Prepared,
        rows: &[ExternalRow],
        embedded: &Embedded,
        next_id: u64,
        now: i64,
        names: &[String],
    ) -> Result<ExternalWrites, Error> {
        if prepared.epoch != self.epoch {
            let id = self.id.clone();
            return Err(Error::DatabaseNotFound { id });
        }
        let published = published_of(rows, 0)?;
        let stored = rows.iter().map(|row| (row.header.id, row.header)).collect();
        let by_id: HashMap<_, _> = rows.iter().map(|row| (row.header.id, row)).collect();
        let context = Context {
            settings: &self.settings,
            published: &published,
            stored: &stored,
            vectors: &|id| {
                let row = by_id.get(&id.0).ok_or(Error::Stale)?;
                row.vectors(self.settings.dimensions)
            },
            uuids: &self.uuids,
            now,
        };
        let mut all_names = ColumnNames::default();
        names.iter().for_each(|name| {
            all_names.insert(name);
        });
        let mut stage = Stage::new(next_id, all_names);
        let committed = stage_commit(&mut stage, &context, &mut prepared.lock(), embedded)?;
        let mut next_id = next_id;
        let mut columns = Columns::default();
        let mut data: HashMap<u64, &[u8]> = rows
            .iter()
            .map(|row| (row.header.id, &row.data[..]))
            .collect();
        let writes = stage.store_writes();
        let mut changes = Vec::with_capacity(writes.len());
        for write in &writes {
            if let Write::Put { record, .. } = *write {
                let (id, new) = (record.header.id, record.data);
                next_id = next_id.max(id + 1);
                let before = data.insert(id, new);
                columns.count(before, -1);
                columns.count(Some(new), 1);
                changes.extend(change(write, before));
            } else {
                changes.extend(change(write, None));
            }
        }
        Ok(ExternalWrites {
            committed,
            changes,
            columns: columns.finish(),
            next_id,
        })
    }

    /// How the counts of columns change when a deletion, given as JSON, deletes rows.
    ///
    /// # Errors
    /// [`Error::Invalid`] when a row is not as the deletion requires.
    pub fn stage_deletion(
        &self,
        deletion: &str,
        rows: &[ExternalRow],
    ) -> Result<Vec<ColumnChange>, Error> {
        let is = |row: &ExternalRow, record| match record {
            RecordRef::Id(RecordId(id)) => row.header.id == id,
            RecordRef::Uuid(RecordUuid(uuid)) => row.header.uuid == uuid,
        };
        Deletion::parse(deletion, &self.limits)?.check(|record| {
            let Header { id, changed, .. } = rows.iter().find(|row| is(row, record))?.header;
            Some((RecordId(id), changed))
        })?;
        let mut columns = Columns::default();
        for row in rows {
            columns.count(Some(&row.data), -1);
        }
        Ok(columns.finish())
    }
}

fn change(write: &Write<'_>, before: Option<&[u8]>) -> Option<ExternalChange> {
    match *write {
        Write::Put { record, kind } => {
            let vectors = record.vectors().ok()?;
            let vectors = ExternalVectors::from(&vectors);
            Some(ExternalChange::Put(Box::new(ExternalPut {
                created: kind == PutKind::Created,
                row: ExternalRow {
                    header: record.header,
                    key: record.key.map(str::to_owned),
                    data: record.data.to_vec(),
                    vector: Vec::new(),
                    passages: None,
                },
                vectors,
                before: before.map(<[u8]>::to_vec),
            })))
        }
        Write::Touch { id, synced } => Some(ExternalChange::Touch { id, synced }),
        Write::Delete { .. } => None,
    }
}

/// The changes of the counts of columns, with the places of the columns, which are in the order of their first values.
#[derive(Default)]
struct Columns {
    changes: Vec<ColumnChange>,
    places: HashMap<Box<str>, usize>,
}

impl Columns {
    /// Counts the values of a record, each as `by`.
    fn count(&mut self, data: Option<&[u8]>, by: i64) {
        let data = data.and_then(|data| parse_data(data).ok());
        for (name, value) in data.as_ref().map_or(&[][..], Data::cells) {
            let kind = match value {
                OwnedValue::Text(_) => 0,
                OwnedValue::Number(_) => 1,
                OwnedValue::Boolean(_) => 2,
                OwnedValue::Null => 3,
                OwnedValue::List(_) => 4,
            };
            let place = *self.places.entry(name.clone()).or_insert_with(|| {
                self.changes.push(ColumnChange {
                    name: name.to_string(),
                    counts: [0; 5],
                });
                self.changes.len() - 1
            });
            self.changes[place].counts[kind] += by;
        }
    }

    fn finish(mut self) -> Vec<ColumnChange> {
        self.changes.retain(|change| change.counts != [0; 5]);
        self.changes
    }
}
