//! The change feed: records created, changed and deleted, in order of commit.

use crate::columns::{ColumnNames, ColumnsBuilder};
use crate::database::Database;
use crate::error::Error;
use crate::filter::{Filter, Watch};
use crate::identity::{RecordId, RecordUuid, Variant};
use crate::json::{parse_data, write_integer, write_time};
use crate::limits::Limits;
use crate::search::{RequestReader, TimeRange};
use crate::select::Selection;
use crate::store::{Change, ChangeKind};

/// Changes of one answer at most.
const MAX_LIMIT: u64 = 1_000;

/// A request for changes.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    after: u64,
    limit: usize,
    forced: Option<Filter>,
}

impl Changes {
    /// Reads a request from JSON: `after`, `limit`, `forced_filter`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer for whatever does not fit.
    pub(crate) fn parse(json: &str, limits: &Limits) -> Result<Self, Error> {
        let request = RequestReader::new(json, limits)?;
        let limit = request.integer("limit")?.unwrap_or(100);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Error::invalid(
                "invalid_request",
                "/limit",
                format!("must be between 1 and {MAX_LIMIT}"),
            ));
        }
        let after = request.integer("after")?.unwrap_or(0);
        Ok(Self {
            after,
            limit: limit as usize,
            forced: request.filter(Variant::B)?,
        })
    }

    /// The changes after the position, as JSON: `changes`, `position` to go on from, `has_more`.
    ///
    /// A forced filter hides the records that do not satisfy it: living ones by their data now,
    /// deleted ones by their last data.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn run(&self, database: &Database) -> Result<Vec<u8>, Error> {
        let found = database.reader.changes(self.after, self.limit + 1)?;
        let more = found.len() > self.limit;
        let found = &found[..found.len().min(self.limit)];
        let position = found.last().map_or(self.after, |change| change.position);
        let mut out = b"{\"changes\":[".to_vec();
        let mut written = 0;
        for change in found {
            if self.shows(database, change) {
                if written > 0 {
                    out.push(b',');
                }
                written += 1;
                write_change(change, &mut out);
            }
        }
        out.extend_from_slice(
            format!("],\"position\":{position},\"has_more\":{more}}}").as_bytes(),
        );
        Ok(out)
    }

    fn shows(&self, database: &Database, change: &Change) -> bool {
        let Some(forced) = &self.forced else {
            return true;
        };
        if let Some(data) = &change.data {
            let Ok(data) = parse_data(data) else {
                return false;
            };
            let mut names = ColumnNames::default();
            let mut builder = ColumnsBuilder::default();
            builder.push_data(&data, &mut names);
            let held = forced
                .bind(&names)
                .matches(&builder.finish(), 0, &Watch::never());
            return held == Ok(true);
        }
        database.with_published(|published| {
            let row = published
                .index
                .find_id(&published.snapshot, RecordId(change.id));
            let selection = Selection::bind(&published.snapshot, Some(forced), TimeRange::ALWAYS);
            row.is_some_and(|row| {
                selection.holds(published.snapshot.at(row), &Watch::never()) == Ok(true)
            })
        })
    }
}

fn write_change(change: &Change, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"position\":");
    write_integer(change.position, out);
    let kind = match change.kind {
        ChangeKind::Created => "created",
        ChangeKind::Changed => "changed",
        ChangeKind::Deleted => "deleted",
    };
    out.extend_from_slice(
        format!(",\"kind\":\"{kind}\",\"id\":{},\"uuid\":\"", change.id).as_bytes(),
    );
    RecordUuid(change.uuid).write(out);
    out.extend_from_slice(b"\",\"at\":\"");
    write_time(change.at, out);
    out.extend_from_slice(b"\"}");
}
