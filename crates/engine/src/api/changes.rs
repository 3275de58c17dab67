//! The change feed: records created, changed and deleted, in order of commit.

use std::sync::Arc;

use crate::api::database::Database;
use crate::columns::{ColumnNames, ColumnsBuilder};
use crate::error::Error;
use crate::filter::{Filter, RequestReader};
use crate::json::{write_integer, write_key, write_time};
use crate::limits::Limits;
use crate::record::{RecordId, RecordUuid, TimeRange, Variant, hexadecimal};
use crate::runtime::{StopCheck, StopFlag};
use crate::snapshot::Selection;
use crate::store::{Change, ChangeKind};
use crate::write::parse_data;

/// The maximum number of changes in a response.
const MAX_LIMIT: u64 = 1_000;

/// The maximum number of changes that one call reads, including changes that a forced filter hides.
const MAX_READ: usize = 10_000;

/// Changes that are read from the store at a time.
const BATCH: usize = 1_000;

/// Approximate bytes of former data that are read from the store at a time.
const BATCH_BYTES: usize = 4 << 20;

/// Approximate bytes of former data that one call reads. The limit is low because they are parsed on a thread that
/// other queries wait for.
const MAX_READ_BYTES: usize = 16 << 20;

/// A request for changes.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    after: u64,
    limit: usize,
    /// What an earlier response named as its epoch, if the caller knows it.
    epoch: Option<String>,
    forced: Option<Filter>,
}

impl Changes {
    /// Reads a request from JSON: `after`, `limit`, `epoch`, `forced_filter`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer to the member that is not valid.
    pub(crate) fn parse(json: &str, limits: &Limits) -> Result<Self, Error> {
        let request = RequestReader::new(json, limits)?;
        let limit = request.integer("limit")?.unwrap_or(100);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Error::request(
                "/limit",
                format!("must be between 1 and {MAX_LIMIT}"),
            ));
        }
        let after = request.integer("after")?.unwrap_or(0);
        Ok(Self {
            after,
            limit: limit as usize,
            epoch: request.text("epoch")?.map(str::to_owned),
            forced: request.filter(Variant::B)?,
        })
    }

    /// Reads the changes after the position, as JSON: `changes`, `position` for the next call, `has_more`, `epoch`.
    ///
    /// A forced filter hides records that did not pass it before the change and do not pass it now. A record that
    /// passed it before is shown as `deleted`, so that the reader of the feed removes it.
    ///
    /// # Errors
    /// [`Error::FeedRestarted`] and [`Error::ChangesRemoved`] when the feed does not have the changes after the
    /// position; [`Error::Stopped`]; [`Error::Store`].
    pub(crate) fn run(&self, database: &Database, stop: &StopFlag) -> Result<Vec<u8>, Error> {
        let stop_check = &StopCheck::new(stop);
        let mut out = b"{\"changes\":[".to_vec();
        let (mut position, mut read, mut written, mut more) = (self.after, 0, 0, true);
        let (mut bytes, mut epoch) = (0, database.epoch);
        while more && written < self.limit && read < MAX_READ && bytes < MAX_READ_BYTES {
            let (count, data) = match self.forced {
                None => (self.limit, None),
                Some(_) => (BATCH, Some(BATCH_BYTES)),
            };
            let feed = database.reader.feed(position, count, data)?;
            let continues = self.epoch.as_ref().is_none_or(|epoch| {
                parse_epoch(epoch).is_some_and(|id| feed.generations.contain(id, self.after))
            });
            if !continues || self.after > feed.last {
                return Err(Error::FeedRestarted {
                    id: database.id.clone(),
                    epoch: hexadecimal(feed.generations.at(feed.last)),
                });
            }
            if self.after < feed.removed {
                return Err(Error::ChangesRemoved {
                    id: database.id.clone(),
                    removed: feed.removed,
                });
            }
            for change in &feed.changes {
                if written == self.limit {
                    break;
                }
                position = change.position;
                read += 1;
                bytes += change.data.as_ref().map_or(0, Vec::len);
                if let Some(kind) = self.kind(database, change, stop_check)? {
                    if written > 0 {
                        out.push(b',');
                    }
                    written += 1;
                    write_change(change, kind, &mut out);
                }
            }
            more = position < feed.last && !feed.changes.is_empty();
            epoch = feed.generations.at(position);
        }
        out.extend_from_slice(
            format!(
                "],\"position\":{position},\"has_more\":{more},\"epoch\":\"{}\"}}",
                hexadecimal(epoch)
            )
            .as_bytes(),
        );
        Ok(out)
    }

    /// The kind that the response shows for a change; `None` when the forced filter hides the change.
    fn kind(
        &self,
        database: &Database,
        change: &Change,
        stop_check: &StopCheck<'_>,
    ) -> Result<Option<ChangeKind>, Error> {
        let Some(forced) = &self.forced else {
            return Ok(Some(change.kind));
        };
        if change.kind != ChangeKind::Deleted {
            let (snapshot, row) = {
                let published = database.published().read();
                let snapshot = Arc::clone(&published.snapshot);
                let row = published.index.find_id(&snapshot, RecordId(change.id));
                (snapshot, row)
            };
            if let Some(row) = row {
                let selection = Selection::bind(&snapshot, Some(forced), TimeRange::ALWAYS);
                if selection.holds(snapshot.at(row), stop_check)? {
                    return Ok(Some(change.kind));
                }
            }
        }
        let passed = match &change.data {
            Some(data) => passes(forced, data, stop_check)?,
            None => false,
        };
        Ok(passed.then_some(ChangeKind::Deleted))
    }
}

/// Whether stored data passes a filter.
fn passes(filter: &Filter, data: &[u8], stop_check: &StopCheck<'_>) -> Result<bool, Error> {
    let Ok(data) = parse_data(data) else {
        return Ok(false);
    };
    let mut names = ColumnNames::default();
    let mut builder = ColumnsBuilder::default();
    builder.push_data(&data, &mut names);
    Ok(filter
        .bind(&names)
        .matches(&builder.finish(), 0, stop_check)?)
}

/// The generation that the epoch of a response names.
fn parse_epoch(text: &str) -> Option<[u8; 16]> {
    u128::from_str_radix(text, 16).ok().map(u128::to_be_bytes)
}

fn write_change(change: &Change, kind: ChangeKind, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"position\":");
    write_integer(change.position, out);
    let kind = match kind {
        ChangeKind::Created => "created",
        ChangeKind::Changed => "changed",
        ChangeKind::Deleted => "deleted",
    };
    out.extend_from_slice(format!(",\"kind\":\"{kind}\",\"id\":{}", change.id).as_bytes());
    write_key(change.key.as_deref(), out);
    out.extend_from_slice(b",\"uuid\":\"");
    RecordUuid(change.uuid).write(out);
    out.extend_from_slice(b"\",\"at\":\"");
    write_time(change.at, out);
    out.extend_from_slice(b"\"}");
}
