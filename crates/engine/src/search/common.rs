//! What the requests of searches and listings have in common.

use serde_json::{Value, json};

use crate::columns::{ColumnId, ColumnNames};
use crate::error::Error;
use crate::facets::Facet;
use crate::filter::{Filter, FilterKey, RequestReader};
use crate::limits::Limits;
use crate::record::{TimeRange, Variant};
use crate::search::distinct::Distinct;
use crate::search::explain::Explain;
use crate::settings::Settings;

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
    /// The column whose values are distinct among the results.
    pub(crate) distinct: Option<Distinct>,
    /// The filters to explain, if the request asks to explain.
    pub(crate) explain: Option<Explain>,
    /// Whether the request asks for the points of the first matches instead of a page.
    pub(crate) map: bool,
    /// The columns that results show in their data; `None` for all.
    pub(crate) columns: Option<Vec<String>>,
    /// Whether results show their vectors.
    pub(crate) vectors: bool,
    /// What the cursor of the next page ends with.
    pub(crate) cursor_suffix: Option<String>,
    /// The default values of the database that the caller has applied.
    defaults: Option<Value>,
    /// Equal for requests that find the same records, and differ in cursor, page size and what results show only.
    pub(crate) request_hash: [u8; 16],
}

/// Members of a request that do not decide which records it finds.
const UNCOUNTED: [&str; 8] = [
    "cursor",
    "cursor_suffix",
    "defaults",
    "limit",
    "page_bytes",
    "columns",
    "vectors",
    "highlights",
];

impl Common {
    /// Reads `variant`, `limit`, `page_bytes`, `filter`, `forced_filter`, `time_range`, `total`, `facets`, `distinct`,
    /// `explain`, `map`, `columns`, `vectors`, `cursor_suffix` and `defaults`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer for each member that is invalid.
    pub(crate) fn parse(request: &RequestReader<'_>, limits: &Limits) -> Result<Self, Error> {
        let variant = request.variant()?;
        Ok(Self {
            variant,
            limit: request.limit()?,
            page_bytes: (request.integer("page_bytes")?)
                .map_or(limits.page_bytes, |bytes| bytes as usize),
            filter: request.filter(variant)?,
            filter_key: request.filter_key(),
            time_range: request.time_range()?,
            total: request.flag("total")?,
            facets: Facet::of(request)?,
            distinct: Distinct::parse(request)?,
            explain: Explain::parse(request, variant)?,
            map: request.flag("map")?,
            columns: request.list("columns", "a list of column names", |name| {
                name.as_str().map(str::to_owned)
            })?,
            vectors: request.flag("vectors")?,
            cursor_suffix: request.text("cursor_suffix")?.map(str::to_owned),
            defaults: request.get("defaults").cloned(),
            request_hash: request.hash_of(|member| !UNCOUNTED.contains(&member)),
        })
    }

    /// Checks that the request was made for a database with these settings.
    ///
    /// # Errors
    /// [`Error::Stale`] for other default values.
    pub(crate) fn check(&self, settings: &Settings) -> Result<(), Error> {
        settings.check_defaults(self.defaults.as_ref())
    }

    /// Whether every match must be found, not just those of the page.
    pub(crate) fn counts_all(&self) -> bool {
        self.total || !self.facets.is_empty()
    }

    /// Whether results show how many matches have their value.
    pub(crate) fn shows_groups(&self) -> bool {
        self.distinct
            .as_ref()
            .is_some_and(|distinct| distinct.counts)
    }

    /// The records that the response explains, at most.
    pub(crate) fn explained(&self) -> usize {
        self.explain.as_ref().map_or(0, |_| self.limit)
    }

    /// The columns that results show in their data, as far as there are any of the name; `None` for all.
    pub(crate) fn shown_columns(&self, names: &ColumnNames) -> Option<Vec<ColumnId>> {
        let columns = self.columns.as_ref()?.iter();
        let mut shown: Vec<ColumnId> = columns.filter_map(|name| names.id(name)).collect();
        shown.sort_unstable();
        Some(shown)
    }

    /// Whether the response is made from the vectors of its records.
    pub(crate) fn writes_vectors(&self) -> bool {
        self.map || self.vectors
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
            "map": self.map,
            "vectors": self.vectors,
        })
    }
}
