//! A search request as the engine takes it.

use crate::error::Error;
use crate::facets::Facet;
use crate::filter::{Filter, FilterKey, RequestReader};
use crate::limits::Limits;
use crate::record::{Position, TimeRange, Variant, cursor};
use crate::search::explain::Explain;

/// A semantic search, parsed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// Which interface asked: decides ids, time names, tie order and cursor.
    pub variant: Variant,
    /// Smallest score that passes, 0..=1.
    pub threshold: f64,
    /// Records a page.
    pub limit: usize,
    /// Bytes of the records on a page.
    pub(crate) page_bytes: usize,
    /// What records must satisfy, the caller's filter and the key's forced one together.
    pub filter: Option<Filter>,
    /// Window on the time of last sight.
    pub time_range: TimeRange,
    /// Where the page before ended.
    pub cursor: Option<Position>,
    /// Whether to count all matches.
    pub total: bool,
    /// What to count the matches by.
    pub(crate) facets: Vec<Facet>,
    /// Whether a few matches may be missed for speed.
    pub approximate: bool,
    /// What it takes to tell how the search ran, if asked to.
    pub(crate) explain: Option<Explain>,
    /// Fingerprint of the model that made the query's vector, if the caller tells; within, `None` is no model.
    pub(crate) embedded_by: Option<Option<String>>,
    /// Equal for requests that differ in cursor and page size alone.
    pub(crate) alike: [u8; 16],
    /// Equal for requests with the same filters, `None` without any.
    pub(crate) filter_key: Option<FilterKey>,
}

impl Search {
    /// Whether every match must be found, not just those of the page.
    pub(crate) fn counts_all(&self) -> bool {
        self.total || !self.facets.is_empty()
    }

    /// Reads a search from JSON: `variant`, `threshold`, `limit`, `filter`, `forced_filter`,
    /// `time_range`, `cursor`, `total`, `facets`, `approximate`, `explain`, `embedded_by`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer for whatever does not fit.
    pub(crate) fn parse(json: &str, limits: &Limits) -> Result<Self, Error> {
        let request = RequestReader::new(json, limits)?;
        let variant = request.variant()?;
        let threshold = request.number("threshold")?.unwrap_or(0.2);
        if !(0.0..=1.0).contains(&threshold) {
            return Err(Error::invalid(
                "invalid_request",
                "/search/threshold",
                "must be between 0 and 1",
            ));
        }
        let cursor = match request.text("cursor")? {
            None => None,
            Some(text) => {
                Some(cursor::parse(variant, text).ok_or_else(|| invalid_cursor(variant))?)
            }
        };
        let search = Self {
            variant,
            threshold,
            limit: request.limit()?,
            page_bytes: limits.page_bytes,
            filter: request.filter(variant)?,
            time_range: request.time_range()?,
            cursor,
            total: request.flag("total")?,
            facets: Facet::of(&request)?,
            approximate: request.flag("approximate")?,
            explain: Explain::parse(&request, variant)?,
            embedded_by: request
                .members
                .get("embedded_by")
                .map(|by| by.as_str().map(str::to_owned)),
            alike: request.hash_of(|member| !["cursor", "limit"].contains(&member)),
            filter_key: request.filter_key(),
        };
        if search.approximate && search.counts_all() {
            return Err(not_approximate(
                "total and facets count every match: leave them out, or search without approximate",
            ));
        }
        Ok(search)
    }
}

/// A search that can't be approximate.
pub(crate) fn not_approximate(detail: &str) -> Error {
    Error::invalid("invalid_request", "/approximate", detail)
}

fn invalid_cursor(variant: Variant) -> Error {
    let shape = match variant {
        Variant::A => "a relevance score and a UUID joined by |",
        Variant::B => "a relevance score and an integer id joined by _",
    };
    Error::invalid(
        "invalid_cursor",
        "/pagination/cursor",
        format!("must be a next_cursor of this service: {shape}"),
    )
}
