//! A filter-only request as the engine takes it.

use crate::error::Error;
use crate::filter::{Filter, RequestReader};
use crate::limits::Limits;
use crate::record::{PageStart, RecordRow, TimeRange};
use crate::runtime::StopCheck;
use crate::search::common::Common;
use crate::search::listing::cursor::{Cursor, LOST_CURSOR, invalid_cursor};
use crate::search::listing::position::ListingPosition;
use crate::search::listing::sort::Sort;
use crate::snapshot::{Block, Selection, Snapshot};

/// A filter-only request, parsed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) common: Common,
    /// The part of the filter that the key forces.
    pub(crate) forced: Option<Filter>,
    pub(crate) sort: Sort,
    pub(crate) cursor: Option<Cursor>,
    /// Identifies the cursor.
    pub(crate) cursor_hash: [u8; 16],
}

impl Query {
    /// Reads a query from JSON: the members of [`Common`], `sort`, `cursor`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer for each member that is invalid.
    pub(crate) fn parse(json: &str, limits: &Limits) -> Result<Self, Error> {
        let request = RequestReader::new(json, limits)?;
        let common = Common::parse(&request, limits)?;
        let cursor = match request.text("cursor")? {
            None => None,
            Some(text) => Some(Cursor::parse(common.variant, text).ok_or_else(|| {
                invalid_cursor("must be a next_cursor of this operation and variant")
            })?),
        };
        Ok(Self {
            forced: request.filter_of("forced_filter", common.variant)?,
            common,
            sort: Sort::parse(&request)?,
            cursor,
            cursor_hash: request.hash_of(|member| member == "cursor"),
        })
    }

    /// Where the page after `cursor` begins. `rows` are those of the records that the cursor names.
    ///
    /// # Errors
    /// [`Error::Invalid`] when all of them were changed, deleted or hidden; [`Error::Stopped`].
    pub(crate) fn start_of(
        &self,
        cursor: &Cursor,
        snapshot: &Snapshot,
        rows: &[Option<RecordRow>],
        stop_check: &StopCheck<'_>,
    ) -> Result<PageStart<ListingPosition<'static>>, Error> {
        let forced = Selection::bind(snapshot, self.forced.as_ref(), TimeRange::ALWAYS);
        let visible = |record: (&Block, usize)| forced.holds(record, stop_check);
        let sort = self.sort.bind(&snapshot.names);
        let found = cursor.find(snapshot, rows, &sort, visible)?;
        found.ok_or_else(|| invalid_cursor(LOST_CURSOR))
    }
}
