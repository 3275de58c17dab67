//! A filter-only request as the engine takes it.

use crate::error::Error;
use crate::filter::{Filter, RequestReader};
use crate::limits::Limits;
use crate::search::common::Common;
use crate::search::listing::cursor::{Cursor, invalid_cursor};
use crate::search::listing::sort::Sort;

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
}
