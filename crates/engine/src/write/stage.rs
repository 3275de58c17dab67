//! One commit in the making: what it will write, and how records look within it.

use std::collections::{HashMap, HashSet};

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::record::{MAX_RECORD_ID, OwnedValue, RecordId, RecordRow, RecordUuid, UuidMaker};
use crate::snapshot::{NewRow, Published, Times};
use crate::store::Identity;
use crate::write::prepare::PreparedRecord;

/// What an upsert did to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It was not there before.
    Created,
    /// Its content is another one.
    Changed,
    /// Only its time of last sight moved.
    Unchanged,
}

impl Status {
    /// As the interface names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// A record of an upsert, settled.
#[derive(Clone, Copy, Debug)]
pub struct Upserted {
    /// Its integer identity.
    pub id: RecordId,
    /// Its UUID.
    pub uuid: RecordUuid,
    /// What happened.
    pub status: Status,
}

/// A write of the commit, in order.
#[derive(Debug)]
pub(crate) enum StagedWrite {
    Put {
        row: usize,
        created: bool,
        json: Vec<u8>,
        hash: [u8; 16],
    },
    Touch {
        id: RecordId,
        synced: i64,
    },
    Delete {
        id: RecordId,
        at: i64,
    },
}

/// A commit in the making.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    pub(crate) writes: Vec<StagedWrite>,
    /// Rows that `Put` writes refer to; only the last of a record enters memory.
    pub(crate) rows: Vec<NewRow>,
    pub(crate) touches: Vec<(RecordRow, i64)>,
    /// Rows that are deleted, or replaced by a new row of the same record.
    pub(crate) gone: Vec<RecordRow>,
    pub(crate) records: HashMap<RecordId, StagedRecord>,
    uuids: HashMap<RecordUuid, RecordId>,
    /// Ids that callers give to records of the commit: no other record gets them.
    given: HashSet<u64>,
    next_id: u64,
}

/// A record as it is within the commit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StagedRecord {
    uuid: RecordUuid,
    hash: [u8; 16],
    times: Times,
    pub(crate) row: StagedRow,
}

/// Where the newest state of a staged record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StagedRow {
    /// In memory, before this commit.
    Published(RecordRow),
    /// In the commit's rows.
    New(usize),
}

/// What the stage reads while it settles records.
pub(crate) struct Context<'a> {
    pub(crate) published: &'a Published,
    /// Stored hashes by id of the records that the commit may change.
    pub(crate) stored: &'a HashMap<u64, Identity>,
    pub(crate) now: i64,
}

/// How a record stands before an upsert.
pub(crate) enum Standing {
    /// Neither identity is known.
    New,
    /// It is there, with the same content.
    Same(RecordId),
    /// It is there, with other content.
    Other(RecordId),
}

impl Stage {
    pub(crate) fn new(next_id: u64) -> Self {
        Self {
            next_id,
            ..Self::default()
        }
    }

    /// Whether a record is new, the same or another, seen from within the commit.
    ///
    /// # Errors
    /// [`Error::IdentityConflict`] when its identities belong to different records.
    pub(crate) fn standing(
        &mut self,
        context: &Context<'_>,
        at: usize,
        record: &PreparedRecord,
    ) -> Result<Standing, Error> {
        let id = record.new.id.map(RecordId);
        let uuid = record.new.uuid.map(RecordUuid);
        let by_id = id.filter(|&id| self.know_id(context, id));
        let by_uuid = uuid.and_then(|uuid| self.know_uuid(context, uuid));
        let conflict = |member: &str, detail: String| {
            Err(Error::IdentityConflict {
                pointer: format!("/records/{at}/{member}"),
                detail,
            })
        };
        let known = match (by_id, by_uuid) {
            (None, None) => return Ok(Standing::New),
            (Some(a), Some(b)) if a != b => {
                return conflict(
                    "uuid",
                    format!("belongs to record {}, not to record {}", b.0, a.0),
                );
            }
            (None, Some(b)) => match id {
                Some(a) => {
                    return conflict(
                        "id",
                        format!("the UUID belongs to record {}, not {}", b.0, a.0),
                    );
                }
                None => b,
            },
            (Some(a), _) => a,
        };
        let staged = &self.records[&known];
        if let Some(uuid) = uuid.filter(|&uuid| uuid != staged.uuid) {
            return conflict(
                "uuid",
                format!("record {} has UUID {}, not {uuid}", known.0, staged.uuid),
            );
        }
        Ok(if record.is_same(&staged.hash) {
            Standing::Same(known)
        } else {
            Standing::Other(known)
        })
    }

    /// Stages a record that is the same: only its time of last sight moves.
    pub(crate) fn touch(
        &mut self,
        context: &Context<'_>,
        id: RecordId,
        record: &PreparedRecord,
    ) -> Upserted {
        let synced = record.new.synced.unwrap_or(context.now);
        let staged = self.records.get_mut(&id).expect("its standing was settled");
        staged.times.synced = synced;
        match staged.row {
            StagedRow::Published(row) => self.touches.push((row, synced)),
            StagedRow::New(at) => self.rows[at].times.synced = synced,
        }
        self.writes.push(StagedWrite::Touch { id, synced });
        Upserted {
            id,
            uuid: staged.uuid,
            status: Status::Unchanged,
        }
    }

    /// Stages a record that is new or has other content.
    pub(crate) fn put(
        &mut self,
        context: &Context<'_>,
        standing: &Standing,
        record: &PreparedRecord,
        vector: Vec<i32>,
        names: &mut ColumnNames,
        uuids: &mut UuidMaker,
    ) -> Upserted {
        let new = &record.new;
        let synced = new.synced.unwrap_or(context.now);
        let (id, uuid, times, status) = match standing {
            Standing::Same(id) | Standing::Other(id) => {
                let before = self.records[id];
                if let StagedRow::Published(row) = before.row {
                    self.gone.push(row);
                }
                let times = Times {
                    created: new.created.unwrap_or(before.times.created),
                    changed: new.changed.unwrap_or(context.now),
                    synced,
                };
                (*id, before.uuid, times, Status::Changed)
            }
            Standing::New => {
                let id = RecordId(new.id.unwrap_or(self.next_id));
                let uuid = RecordUuid(new.uuid.unwrap_or_else(|| uuids.make()));
                let created = new.created.unwrap_or(context.now);
                let changed = new.changed.or(new.created).unwrap_or(context.now);
                (
                    id,
                    uuid,
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
        self.skip_given();
        let cells: Vec<(_, OwnedValue)> = new
            .data
            .cells()
            .iter()
            .map(|(name, value)| (names.insert(name), value.clone()))
            .collect();
        let at = self.rows.len();
        self.rows.push(NewRow {
            id,
            uuid,
            times,
            cells,
            vector,
        });
        let created = status == Status::Created;
        self.writes.push(StagedWrite::Put {
            row: at,
            created,
            json: record.json.clone(),
            hash: record.hash,
        });
        self.records.insert(
            id,
            StagedRecord {
                uuid,
                hash: record.hash,
                times,
                row: StagedRow::New(at),
            },
        );
        self.uuids.insert(uuid, id);
        Upserted { id, uuid, status }
    }

    /// Notes the ids that the records of a request bring along.
    ///
    /// Without it, a record without an id could get that of a later one, which would then replace it.
    pub(crate) fn reserve(&mut self, records: &[PreparedRecord]) {
        self.given.extend(
            records
                .iter()
                .filter_map(|record| record.new.id)
                .filter(|&id| id >= self.next_id),
        );
        self.skip_given();
    }

    fn skip_given(&mut self) {
        while self.given.contains(&self.next_id) {
            self.next_id += 1;
        }
    }

    /// Whether the next new record without an id would get one that is too large.
    pub(crate) fn out_of_ids(&self) -> bool {
        self.next_id > MAX_RECORD_ID
    }

    /// Stages the deletion of a published record.
    pub(crate) fn delete(&mut self, id: RecordId, row: RecordRow, at: i64) {
        self.writes.push(StagedWrite::Delete { id, at });
        self.gone.push(row);
    }

    fn know_id(&mut self, context: &Context<'_>, id: RecordId) -> bool {
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
            hash: stored.hash,
            times: block.times(slot),
            row: StagedRow::Published(row),
        };
        self.records.insert(id, record);
        self.uuids.insert(uuid, id);
        true
    }

    fn know_uuid(&mut self, context: &Context<'_>, uuid: RecordUuid) -> Option<RecordId> {
        if let Some(&id) = self.uuids.get(&uuid) {
            return Some(id);
        }
        let Published { snapshot, index } = context.published;
        let (block, slot) = snapshot.at(index.find_uuid(snapshot, uuid)?);
        let id = block.id(slot);
        self.know_id(context, id).then_some(id)
    }
}
