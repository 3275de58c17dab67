//! Which records a deletion takes.

use serde_json::Value;

use crate::cursor::parse_integer_id;
use crate::database::Published;
use crate::error::Error;
use crate::filter::Filter;
use crate::identity::{RecordId, RecordRow, RecordUuid, Variant};
use crate::limits::Limits;
use crate::search::{RequestReader, TimeRange};
use crate::select::Selection;

/// Records to delete: by identity, or by filter and time range. A forced filter narrows both.
#[derive(Clone, Debug)]
pub struct Deletion {
    ids: Option<Vec<RecordRef>>,
    filter: Option<Filter>,
    time_range: TimeRange,
}

/// A record named by either of its identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordRef {
    Id(RecordId),
    Uuid(RecordUuid),
}

impl RecordRef {
    /// Reads an identity as it stands in a path: an integer or a UUID.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let uuid = || RecordUuid::parse(text).map(Self::Uuid);
        parse_integer_id(text).map(|id| Self::Id(RecordId(id))).or_else(uuid)
    }

    pub(crate) fn find(self, published: &Published) -> Option<RecordRow> {
        match self {
            Self::Id(id) => published.index.find_id(&published.snapshot, id),
            Self::Uuid(uuid) => published.index.find_uuid(&published.snapshot, uuid),
        }
    }
}

impl Deletion {
    /// Reads a deletion from JSON: `ids`, or `filter` and `time_range`; and `forced_filter`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer for whatever does not fit.
    pub fn parse(json: &str, limits: &Limits) -> Result<Self, Error> {
        let request = RequestReader::new(json, limits)?;
        let ids = match request.get("ids") {
            None => None,
            Some(Value::Array(ids)) => Some(ids.iter().enumerate().map(read_id).collect::<Result<Vec<_>, _>>()?),
            Some(_) => return Err(Error::invalid("invalid_request", "/ids", "must be an array")),
        };
        let chosen = request.get("filter").is_some() || request.get("time_range").is_some();
        if ids.is_some() == chosen {
            return Err(Error::invalid("invalid_request", "", "give either ids, or a filter or time_range or both"));
        }
        Ok(Self { ids, filter: request.filter(Variant::B)?, time_range: request.time_range()? })
    }

    /// The records that are there and satisfy everything.
    pub(crate) fn find(&self, published: &Published) -> Vec<(RecordId, RecordRow)> {
        let snapshot = &published.snapshot;
        let selection = Selection::bind(snapshot, self.filter.as_ref(), self.time_range);
        let mut rows: Vec<RecordRow> = match &self.ids {
            Some(ids) => {
                let found = ids.iter().filter_map(|id| id.find(published));
                found.filter(|&row| selection.holds(snapshot.at(row))).collect()
            }
            None => {
                let blocks = snapshot.blocks.iter();
                blocks.flat_map(|block| selection.mask(block).iter().map(|slot| block.row(slot)).collect::<Vec<_>>()).collect()
            }
        };
        rows.sort_unstable();
        rows.dedup();
        rows.into_iter()
            .map(|row| {
                let (block, slot) = snapshot.at(row);
                (block.id(slot), row)
            })
            .collect()
    }
}

fn read_id((at, id): (usize, &Value)) -> Result<RecordRef, Error> {
    let read = match id {
        Value::Number(_) => id.as_u64().and_then(|id| parse_integer_id(&id.to_string())).map(|id| RecordRef::Id(RecordId(id))),
        Value::String(text) => RecordRef::parse(text),
        _ => None,
    };
    read.ok_or_else(|| Error::invalid("invalid_request", format!("/ids/{at}"), "must be an integer id or a UUID"))
}
