//! What the requests of searches and listings have in common.

use serde_json::{Value, json};

use crate::error::Error;
use crate::facets::Facet;
use crate::filter::{Filter, FilterKey, RequestReader};
use crate::limits::Limits;
use crate::record::{TimeRange, Variant};
use crate::search::explain::Explain;

/// The common part of a request, parsed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    /// The variant of the interface: decides ids, time names, the order of ties, and the cursor.
    pub(crate) variant: Variant,
    /// Records of a page at most.
    pub(crate) limit: usize,
    /// Bytes of the records of a page at most.
    pub(crate) page_bytes: usize,
    /// The filter of the caller and the forced filter of the key, joined.
    pub(crate) filter: Option<Filter>,
    /// Equal for requests with the same filters, `None` without a filter.
    pub(crate) filter_key: Option<FilterKey>,
    /// Range of the time at which records were last synced.
    pub(crate) time_range: TimeRange,
    /// Whether to count all matches.
    pub(crate) total: bool,
    /// The facets to count the matches by.
    pub(crate) facets: Vec<Facet>,
    /// The filters to explain, if the request asks to explain.
    pub(crate) explain: Option<Explain>,
    /// The map, if the request asks for it instead of a page.
    pub(crate) map: Option<MapRequest>,
    /// Equal for requests that differ in cursor and page size only.
    pub(crate) request_hash: [u8; 16],
}

/// Asks for the points of the first matches instead of a page.
#[derive(Clone, Debug)]
pub(crate) struct MapRequest {
    /// The columns whose values a point has.
    pub(crate) columns: Vec<String>,
}

impl Common {
    /// Reads `variant`, `limit`, `filter`, `forced_filter`, `time_range`, `total`, `facets`, `explain` and `map`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer for each member that is invalid.
    pub(crate) fn parse(request: &RequestReader<'_>, limits: &Limits) -> Result<Self, Error> {
        let variant = request.variant()?;
        Ok(Self {
            variant,
            limit: request.limit()?,
            page_bytes: limits.page_bytes,
            filter: request.filter(variant)?,
            filter_key: request.filter_key(),
            time_range: request.time_range()?,
            total: request.flag("total")?,
            facets: Facet::of(request)?,
            explain: Explain::parse(request, variant)?,
            map: MapRequest::of(request)?,
            request_hash: request.hash_of(|member| !["cursor", "limit"].contains(&member)),
        })
    }

    /// Whether every match must be found, not just those of the page.
    pub(crate) fn counts_all(&self) -> bool {
        self.total || !self.facets.is_empty()
    }

    /// The records that the response explains, at most.
    pub(crate) fn explained(&self) -> usize {
        self.explain.as_ref().map_or(0, |_| self.limit)
    }

    /// What a store outside of the engine needs to select the records.
    pub(crate) fn plan(&self) -> Value {
        let TimeRange { start, end } = self.time_range;
        json!({
            "start": (start != i64::MIN).then_some(start),
            "end": (end != i64::MAX).then_some(end),
            "total": self.total,
            "facets": !self.facets.is_empty(),
            "explain": self.explain.is_some(),
            "map": self.map.is_some(),
        })
    }
}

impl MapRequest {
    /// Reads the member `map`, `{"columns"}`; `None` for a request that asks for a page.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer.
    pub(crate) fn of(request: &RequestReader<'_>) -> Result<Option<Self>, Error> {
        let Some(map) = request.get("map") else {
            return Ok(None);
        };
        let names = map.get("columns").and_then(Value::as_array);
        let names = names.and_then(|names| names.iter().map(Value::as_str).collect());
        let names: Vec<&str> = names.ok_or_else(|| {
            let detail = "must be a list of column names";
            Error::request("/columns", detail)
        })?;
        let columns = names.into_iter().map(str::to_owned).collect();
        Ok(Some(Self { columns }))
    }
}
