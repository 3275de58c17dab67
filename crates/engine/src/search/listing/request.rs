//! A filter-only request as the engine takes it.

use crate::error::Error;
use crate::facets::Facet;
use crate::filter::{Filter, FilterKey, RequestReader};
use crate::limits::Limits;
use crate::record::{TimeRange, Variant};
use crate::search::explain::Explain;
use crate::search::listing::cursor::{Cursor, invalid_cursor};
use crate::search::listing::sort::Sort;
use crate::search::map::MapRequest;

/// A filter-only request, parsed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) variant: Variant,
    pub(crate) limit: usize,
    pub(crate) page_bytes: usize,
    /// The filter of the caller and the forced filter of the key, joined.
    pub(crate) filter: Option<Filter>,
    /// The part of `filter` that the key forces.
    pub(crate) forced: Option<Filter>,
    pub(crate) filter_key: Option<FilterKey>,
    pub(crate) time_range: TimeRange,
    pub(crate) sort: Sort,
    pub(crate) cursor: Option<Cursor>,
    /// Identifies the cursor.
    pub(crate) cursor_hash: [u8; 16],
    /// Equal for requests that differ in cursor and page size only.
    pub(crate) request_hash: [u8; 16],
    pub(crate) total: bool,
    pub(crate) facets: Vec<Facet>,
    pub(crate) explain: Option<Explain>,
    /// The map, if the request asks for it instead of a page.
    pub(crate) map: Option<MapRequest>,
}

impl Query {
    /// Whether all matches must be counted.
    pub(crate) fn counts_all(&self) -> bool {
        self.total || !self.facets.is_empty()
    }

    /// Reads a query from JSON: `variant`, `limit`, `filter`, `forced_filter`, `time_range`, `sort`,
    /// `cursor`, `total`, `facets`, `explain`, `map`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer for each member that is invalid.
    pub(crate) fn parse(json: &str, limits: &Limits) -> Result<Self, Error> {
        let request = RequestReader::new(json, limits)?;
        let variant = request.variant()?;
        let cursor = match request.text("cursor")? {
            None => None,
            Some(text) => Some(Cursor::parse(variant, text).ok_or_else(|| {
                invalid_cursor("must be a next_cursor of this operation and variant")
            })?),
        };
        Ok(Self {
            variant,
            limit: request.limit()?,
            page_bytes: limits.page_bytes,
            filter: request.filter(variant)?,
            forced: request.filter_of("forced_filter", variant)?,
            filter_key: request.filter_key(),
            time_range: request.time_range()?,
            sort: Sort::parse(&request)?,
            cursor,
            cursor_hash: request.hash_of(|member| member == "cursor"),
            request_hash: request.hash_of(|member| !["cursor", "limit"].contains(&member)),
            total: request.flag("total")?,
            facets: Facet::of(&request)?,
            explain: Explain::parse(&request, variant)?,
            map: MapRequest::of(&request)?,
        })
    }
}
