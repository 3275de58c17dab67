//! A stage: what a transaction will write, and how records look after its earlier writes.

use std::collections::{HashMap, HashSet};

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::record::{
    Data, MAX_RECORD_ID, OwnedValue, RecordId, RecordKey, RecordRow, RecordUuid, Vectors,
};
use crate::snapshot::{NewRow, Published, Times};
use crate::store::{PutKind, Write};
use crate::write::deletion::RecordRef;
use crate::write::prepared::{PreparedRecord, PreparedRecords};
use crate::write::snapshot_builder::CommitChanges;
use crate::write::staged::{
    Comparison, Context, StagedRecord, StagedRow, StagedWrite, Status, Upserted,
};

/// The writes of a group of commits, or of a deletion, before they are made durable.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    writes: Vec<StagedWrite>,
    /// Rows that `Put` writes refer to. Only the last row of a record enters memory.
    rows: Vec<NewRow>,
    /// Published rows whose records were only synced, with the time.
    touched: Vec<(RecordRow, i64)>,
    /// Rows that are deleted, or replaced by a new row of the same record.
    removed: Vec<RecordRow>,
    records: HashMap<RecordId, StagedRecord>,
    uuids: HashMap<RecordUuid, RecordId>,
    /// Ids that callers chose for records of the stage. No other record gets them.
    reserved: HashSet<u64>,
    next_id: u64,
    /// The columns of the database, with those that the records of the stage add.
    pub(crate) names: ColumnNames,
}

impl Stage {
    pub(crate) fn new(next_id: u64, names: ColumnNames) -> Self {
        Self {
            next_id,
            names,
            ..Self::default()
        }
    }

    /// Compares a record with the record of the same identity, which an earlier write of the stage may have made.
    ///
    /// # Errors
    /// [`Error::IdentityConflict`], with a pointer within the record, when its identities belong to different records.
    pub(crate) fn compare(
        &mut self,
        context: &Context<'_>,
        record: &PreparedRecord,
    ) -> Result<Comparison, Error> {
        let id = record.new.id.map(RecordId);
        let uuid = record.new.uuid.map(RecordUuid);
        let key = record.new.key.as_ref();
        // The member that the UUID comes from, and its name in a sentence.
        let (member, name) = match key {
            Some(_) => ("key", "key"),
            None => ("uuid", "UUID"),
        };
        let by_id = id.filter(|&id| self.find_id(context, id));
        let by_uuid = uuid.and_then(|uuid| self.find_uuid(context, uuid));
        let conflict = |member: &str, detail: String| {
            Err(Error::IdentityConflict {
                pointer: format!("/{member}"),
                detail,
            })
        };
        let of_other = |member, RecordId(given), RecordId(owner)| {
            let detail = format!("the {name} belongs to record {owner}, not to record {given}");
            conflict(member, detail)
        };
        let found = match (by_id, by_uuid, id) {
            (None, None, _) => return Ok(Comparison::New),
            (Some(given), Some(owner), _) if given != owner => {
                return of_other(member, given, owner);
            }
            (None, Some(owner), Some(given)) => return of_other("id", given, owner),
            (Some(found), ..) | (None, Some(found), None) => found,
        };
        let staged = &self.records[&found];
        if let Some(uuid) = uuid.filter(|&uuid| uuid != staged.uuid) {
            let detail = match key {
                Some(_) => format!(
                    "record {} has UUID {}, and the key belongs to UUID {uuid}",
                    found.0, staged.uuid
                ),
                None => format!("record {} has UUID {}, not {uuid}", found.0, staged.uuid),
            };
            return conflict(member, detail);
        }
        // SHA-1, from which the UUIDs of keys are made, has known collisions.
        if key.is_some() && staged.key.is_some() && key != staged.key.as_ref() {
            let detail = format!("record {} has another key with the same UUID", found.0);
            return conflict("key", detail);
        }
        Ok(if !record.is_same(&staged.hash) {
            Comparison::Different(found)
        } else if record.renews(
            staged.key.is_some(),
            staged.times.created,
            staged.times.changed,
        ) {
            Comparison::Renewed(found)
        } else {
            Comparison::Same(found)
        })
    }

    /// Whether a record of a commit is one that the stage stores.
    pub(super) fn has_put(&self, prepared: &PreparedRecords) -> bool {
        let is_put = |id| {
            let staged = self.records.get(&id);
            staged.is_some_and(|staged| matches!(staged.row, StagedRow::New(_)))
        };
        let has_put = |record| match record {
            RecordRef::Id(id) => is_put(id),
            RecordRef::Uuid(uuid) => self.uuids.get(&uuid).is_some_and(|&id| is_put(id)),
        };
        !self.rows.is_empty() && prepared.references().any(has_put)
    }

    /// Finds the record of an identity, which an earlier write of the stage may have made.
    pub(super) fn find(&mut self, context: &Context<'_>, record: RecordRef) -> Option<RecordId> {
        match record {
            RecordRef::Id(id) => self.find_id(context, id).then_some(id),
            RecordRef::Uuid(uuid) => self.find_uuid(context, uuid),
        }
    }

    /// The data of a record that was found, with the earlier writes of the stage applied.
    pub(super) fn data_of(&self, context: &Context<'_>, id: RecordId) -> Data {
        match self.records[&id].row {
            StagedRow::Published(row) => context.published.snapshot.data_of(row),
            StagedRow::New(at) => {
                let cells = self.rows[at].cells.iter();
                let named =
                    cells.map(|(column, value)| (self.names.name(*column).into(), value.clone()));
                Data::new(named.collect())
            }
        }
    }

    /// The vectors of a record that was found, in Q30.
    ///
    /// # Errors
    /// [`Error::Stale`] when the record has no vectors in the store; [`Error::Store`].
    pub(super) fn vectors_of(&self, context: &Context<'_>, id: RecordId) -> Result<Vectors, Error> {
        match self.records[&id].row {
            StagedRow::Published(_) => (context.vectors)(id),
            StagedRow::New(at) => Ok(self.rows[at].vectors.clone()),
        }
    }

    /// The content hash of a record that was found, with the earlier writes of the stage applied.
    pub(super) fn hash_of(&self, id: RecordId) -> [u8; 16] {
        self.records[&id].hash
    }

    /// The times of a record that was found, with the earlier writes of the stage applied.
    pub(super) fn times_of(&self, id: RecordId) -> Times {
        self.records[&id].times
    }

    /// Stages a record with the same content: only its time of last sync is updated.
    pub(crate) fn touch(&mut self, id: RecordId, synced: i64) -> Upserted {
        let staged = self.records.get_mut(&id).expect("the record was found");
        staged.times.synced = synced;
        match staged.row {
            StagedRow::Published(row) => self.touched.push((row, synced)),
            StagedRow::New(at) => self.rows[at].times.synced = synced,
        }
        let touch = Write::Touch { id: id.0, synced };
        self.writes.push(StagedWrite::Other(touch));
        Upserted {
            id,
            uuid: staged.uuid,
            key: staged.key.clone(),
            status: Status::Unchanged,
        }
    }

    /// Stages a record that is new or has other content. `vectors` are in Q30, with `dimensions` values each.
    pub(crate) fn put(
        &mut self,
        context: &Context<'_>,
        compared: &Comparison,
        record: &PreparedRecord,
        vectors: Vectors,
    ) -> Upserted {
        let new = &record.new;
        let before = compared.record().map(|id| self.records[&id].times.synced);
        let synced = new.synced_after(before, context.now);
        let (id, uuid, key, times, status) = match compared {
            Comparison::Same(id) | Comparison::Renewed(id) | Comparison::Different(id) => {
                let before = &self.records[id];
                if let StagedRow::Published(row) = before.row {
                    self.removed.push(row);
                }
                // Conditions tell contents apart by this time, so a record that is written back with its old one gets another.
                let is_other =
                    |time: &i64| new.condition.is_none() || *time != before.times.changed;
                let times = Times {
                    created: new.created.unwrap_or(before.times.created),
                    changed: new.changed.filter(is_other).unwrap_or(context.now),
                    synced,
                };
                let key = before.key.clone().or_else(|| new.key.clone());
                (*id, before.uuid, key, times, Status::Changed)
            }
            Comparison::New => {
                let id = RecordId(new.id.unwrap_or(self.next_id));
                let uuid = RecordUuid(new.uuid.unwrap_or_else(|| context.uuids.lock().make()));
                let created = new.created.unwrap_or(context.now);
                let changed = new.changed.or(new.created).unwrap_or(context.now);
                (
                    id,
                    uuid,
                    new.key.clone(),
                    Times {
                        created,
                        changed,
                        synced,
                    },
                    Status::Created,
                )
            }
        };
        self.next_id = self.next_id.max(id.0 + 1);
        self.skip_reserved();
        let cells: Vec<(_, OwnedValue)> = new
            .data
            .cells()
            .iter()
            .map(|(name, value)| (self.names.insert(name), value.clone()))
            .collect();
        let at = self.rows.len();
        let passages = vectors.passages.as_ref();
        let passages = passages.map(|passages| (passages.places_to_bytes(), vectors.joined()));
        self.rows.push(NewRow {
            id,
            uuid,
            key: key.clone(),
            times,
            cells,
            vectors,
        });
        let kind = match status {
            Status::Created => PutKind::Created,
            Status::Changed | Status::Unchanged => PutKind::Changed,
        };
        self.writes.push(StagedWrite::Put {
            row: at,
            kind,
            json: record.json.clone(),
            passages,
            hash: record.hash,
        });
        self.records.insert(
            id,
            StagedRecord {
                uuid,
                key: key.clone(),
                hash: record.hash,
                times,
                row: StagedRow::New(at),
            },
        );
        self.uuids.insert(uuid, id);
        Upserted {
            id,
            uuid,
            key,
            status,
        }
    }

    /// Reserves the ids that the records of a request come with. Otherwise a record without an id could get the id of
    /// a later record, which would then replace it.
    pub(crate) fn reserve(&mut self, records: &[PreparedRecord]) {
        self.reserved.extend(
            records
                .iter()
                .filter_map(|record| record.new.id)
                .filter(|&id| id >= self.next_id),
        );
        self.skip_reserved();
    }

    fn skip_reserved(&mut self) {
        while self.reserved.contains(&self.next_id) {
            self.next_id += 1;
        }
    }

    /// Whether the next new record without an id would get one that is too large.
    pub(crate) fn out_of_ids(&self) -> bool {
        self.next_id > MAX_RECORD_ID
    }

    /// Stages the deletion of a published record.
    pub(crate) fn delete(&mut self, id: RecordId, row: RecordRow, at: i64) {
        let delete = Write::Delete { id: id.0, at };
        self.writes.push(StagedWrite::Other(delete));
        self.removed.push(row);
    }

    /// The writes as the store takes them.
    pub(crate) fn store_writes(&self) -> Vec<Write<'_>> {
        let writes = self.writes.iter();
        writes.map(|write| write.for_store(&self.rows)).collect()
    }

    /// What the stage changes in memory.
    pub(crate) fn into_changes(self, version: u64) -> CommitChanges {
        let mut is_last = vec![false; self.rows.len()];
        for record in self.records.values() {
            if let StagedRow::New(at) = record.row {
                is_last[at] = true;
            }
        }
        let rows = self.rows.into_iter().zip(is_last);
        let rows = rows.filter_map(|(row, is_last)| is_last.then_some(row));
        CommitChanges {
            version,
            names: self.names,
            rows: rows.collect(),
            touched: self.touched,
            removed: self.removed,
        }
    }

    /// Enters a published record into `records`; returns whether a record has this id.
    fn find_id(&mut self, context: &Context<'_>, id: RecordId) -> bool {
        if self.records.contains_key(&id) {
            return true;
        }
        let Published { snapshot, index } = context.published;
        let (Some(row), Some(stored)) = (index.find_id(snapshot, id), context.stored.get(&id.0))
        else {
            return false;
        };
        let (block, slot) = snapshot.at(row);
        let uuid = block.uuid(slot);
        let record = StagedRecord {
            uuid,
            key: block.key(slot).and_then(RecordKey::new),
            hash: stored.hash,
            times: block.times(slot),
            row: StagedRow::Published(row),
        };
        self.records.insert(id, record);
        self.uuids.insert(uuid, id);
        true
    }

    /// Enters the published record with this UUID into `records`, and returns its id.
    fn find_uuid(&mut self, context: &Context<'_>, uuid: RecordUuid) -> Option<RecordId> {
        if let Some(&id) = self.uuids.get(&uuid) {
            return Some(id);
        }
        let Published { snapshot, index } = context.published;
        let id = snapshot.id_of(index.find_uuid(snapshot, uuid)?);
        self.find_id(context, id).then_some(id)
    }
}
