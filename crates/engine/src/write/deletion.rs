//! A request to delete records.

use serde_json::Value;

use crate::columns::Mask;
use crate::error::Error;
use crate::filter::{BoundFilter, Filter, RequestReader, TIME_FORM};
use crate::json::parse_time;
use crate::limits::Limits;
use crate::record::{
    RecordId, RecordRow, RecordUuid, TimeRange, Variant, parse_integer_id, parse_key_reference,
};
use crate::snapshot::{Published, Snapshot};
use crate::write::condition::{Condition, IF_CHANGED_AT};

/// The records to delete: by identity, by filter and time range, or by their last write. A forced filter restricts the
/// first two.
#[derive(Clone, Debug)]
pub(crate) struct Deletion {
    /// The records that the deletion names; `None` when a filter or a time range selects them.
    pub(crate) ids: Option<Vec<RecordRef>>,
    /// What records must be like, each with its place in `ids`.
    conditions: Vec<(usize, Condition)>,
    /// The mark of the last write before which the records were written; `None` for other deletions.
    pub(super) unwritten: Option<Unwritten>,
    /// The epoch of the database, in hexadecimal.
    epoch: Option<String>,
    max: Option<u64>,
    /// The state of a sync to store.
    pub(super) state: Option<SyncState>,
    pub(super) filter: Option<Filter>,
    pub(crate) time_range: TimeRange,
}

/// The records that no commit after `version` wrote or touched. With `prefix`, only those whose keys begin with it.
#[derive(Clone, Debug)]
pub(crate) struct Unwritten {
    pub(crate) version: u64,
    pub(crate) prefix: Option<String>,
}

impl Unwritten {
    fn of(value: &Value) -> Option<Self> {
        Some(Self {
            version: value.get("version")?.as_u64()?,
            prefix: value
                .get("prefix")
                .and_then(Value::as_str)
                .map(str::to_owned),
        })
    }
}

/// What a sync keeps between its rounds. It is stored in the commit of a deletion.
#[derive(Clone, Debug)]
pub(crate) struct SyncState {
    pub(crate) name: String,
    /// JSON.
    pub(crate) text: String,
}

/// Bytes of a [`SyncState`].
const MAX_SYNC_STATE: usize = 1 << 20;

impl SyncState {
    /// # Errors
    /// [`Error::Invalid`] for a state that is too large.
    fn of(value: &Value) -> Result<Option<Self>, Error> {
        let text = |member| value.get(member).and_then(Value::as_str);
        let (Some(name), Some(text)) = (text("name"), text("text")) else {
            return Ok(None);
        };
        if text.len() > MAX_SYNC_STATE {
            let detail = format!("the state of a sync has more than {MAX_SYNC_STATE} bytes");
            return Err(Error::request("/state", detail));
        }
        let (name, text) = (name.to_owned(), text.to_owned());
        Ok(Some(Self { name, text }))
    }
}

/// A record by one of its identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordRef {
    Id(RecordId),
    Uuid(RecordUuid),
}

impl RecordRef {
    /// Reads an identity in a path: an integer, a UUID, or `key:` and a key.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let uuid = || RecordUuid::parse(text).or_else(|| parse_key_reference(text));
        parse_integer_id(text)
            .map(|id| Self::Id(RecordId(id)))
            .or_else(|| uuid().map(Self::Uuid))
    }

    /// Reads an identity in a request: an integer, or a text as in a path.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(id) => {
                parse_integer_id(&id.as_u64()?.to_string()).map(|id| Self::Id(RecordId(id)))
            }
            Value::String(text) => Self::parse(text),
            _ => None,
        }
    }

    /// The row of the record, if it is there.
    pub(crate) fn find(self, published: &Published) -> Option<RecordRow> {
        match self {
            Self::Id(id) => published.index.find_id(&published.snapshot, id),
            Self::Uuid(uuid) => published.index.find_uuid(&published.snapshot, uuid),
        }
    }
}

impl Deletion {
    /// Reads a deletion from JSON: `ids`, or `filter` and `time_range`; and `forced_filter`. Or `unwritten`, an object with
    /// `version` and perhaps `prefix`. With `epoch`, a database of another epoch is not found. With `max`, a deletion of more records is refused. With `state`, an object
    /// with `name` and `text`, the commit also stores the state of a sync.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer for whatever does not fit.
    pub(crate) fn parse(json: &str, limits: &Limits) -> Result<Self, Error> {
        let request = RequestReader::new(json, limits)?;
        let mut conditions = Vec::new();
        let mut read = |(at, given): (usize, &Value)| {
            let id = match given.get("id") {
                Some(id) => {
                    conditions.push((at, read_condition(at, given)?));
                    id
                }
                None => given,
            };
            read_id(at, id)
        };
        let ids = match request.get("ids") {
            None => None,
            Some(Value::Array(ids)) => {
                let ids = ids.iter().enumerate().map(&mut read);
                Some(ids.collect::<Result<Vec<_>, _>>()?)
            }
            Some(_) => {
                return Err(Error::request("/ids", "must be an array"));
            }
        };
        let unwritten = request.get("unwritten").and_then(Unwritten::of);
        let chosen = request.has_filter() || request.get("time_range").is_some();
        if (ids.is_some() || unwritten.is_some()) == chosen {
            return Err(Error::request(
                "",
                "give either ids, or a filter or time_range or both",
            ));
        }
        let state = request.get("state").map(SyncState::of).transpose()?;
        Ok(Self {
            ids,
            conditions,
            unwritten,
            epoch: request.text("epoch")?.map(str::to_owned),
            max: request.integer("max")?,
            state: state.flatten(),
            filter: request.filter(Variant::B)?,
            time_range: request.time_range()?,
        })
    }

    /// Checks the conditions on ids. `find` returns the id of a record that is deleted, and when its content last changed.
    ///
    /// # Errors
    /// [`Error::Invalid`], with pointers such as `/ids/3/if_changed_at`.
    pub(crate) fn check(
        &self,
        find: impl Fn(RecordRef) -> Option<(RecordId, i64)>,
    ) -> Result<(), Error> {
        let Some(ids) = &self.ids else { return Ok(()) };
        let check = |&(at, condition): &(usize, Condition)| {
            let problem = condition.check(Some(find(ids[at])?)).err()?;
            Some(problem.within(at).within("ids"))
        };
        let problems: Vec<_> = self.conditions.iter().filter_map(check).collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(Error::invalid_records(problems))
    }

    /// Whether the deletion is of the database of this epoch.
    pub(crate) fn is_of(&self, epoch: &str) -> bool {
        self.epoch.as_deref().is_none_or(|given| given == epoch)
    }

    /// Checks how many records are deleted.
    ///
    /// # Errors
    /// [`Error::DeletionRefused`].
    pub(super) fn check_number(&self, records: usize) -> Result<(), Error> {
        let missing = records as u64;
        match self.max.filter(|&max| missing > max) {
            Some(max) => Err(Error::DeletionRefused { missing, max }),
            None => Ok(()),
        }
    }

    /// The filter bound to the columns of a snapshot, if the deletion has a filter.
    pub(super) fn bind_filter(&self, snapshot: &Snapshot) -> Option<BoundFilter> {
        let filter = self.filter.as_ref()?;
        Some(filter.bind(&snapshot.names))
    }

    /// The rows of the ids that are there, if the deletion names ids.
    pub(super) fn rows_of_ids(&self, published: &Published) -> Option<Vec<RecordRow>> {
        let ids = self.ids.as_ref()?;
        Some(ids.iter().filter_map(|id| id.find(published)).collect())
    }

    /// The records that are deleted if they pass the filter: one mask for each block of `snapshot`. `named` are the
    /// rows of the ids, if the deletion names ids.
    pub(super) fn candidates(&self, snapshot: &Snapshot, named: Option<&[RecordRow]>) -> Vec<Mask> {
        let TimeRange { start, end } = self.time_range;
        let mut masks: Vec<Mask> = match named {
            None => {
                let blocks = snapshot.blocks.iter();
                blocks.map(|block| (*block.alive).clone()).collect()
            }
            Some(rows) => {
                let mut masks = vec![Mask::empty(); snapshot.blocks.len()];
                for (at, slot) in rows.iter().filter_map(|&row| snapshot.locate(row)) {
                    masks[at].set(slot);
                }
                masks
            }
        };
        if self.time_range != TimeRange::ALWAYS {
            for (block, mask) in snapshot.blocks.iter().zip(&mut masks) {
                *mask = block.synced.mask_between(start, end, mask);
            }
        }
        masks
    }
}

fn read_condition(at: usize, given: &Value) -> Result<Condition, Error> {
    let time = given.get(IF_CHANGED_AT).and_then(Value::as_str);
    let time = time.and_then(|text| parse_time(text).ok());
    let refused = || {
        let pointer = format!("/ids/{at}/{IF_CHANGED_AT}");
        Error::invalid("invalid_time", pointer, TIME_FORM)
    };
    time.map(|time| Condition::ChangedAt(time.milliseconds))
        .ok_or_else(refused)
}

fn read_id(at: usize, id: &Value) -> Result<RecordRef, Error> {
    RecordRef::of(id).ok_or_else(|| {
        Error::request(
            format!("/ids/{at}"),
            "must be an integer id, a UUID, or key:<key>",
        )
    })
}
