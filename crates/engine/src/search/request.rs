//! A search request as the engine takes it.

use crate::error::Error;
use crate::facets::Facet;
use crate::filter::{Filter, FilterKey, RequestReader};
use crate::limits::Limits;
use crate::record::{LexicalWeight, Position, TimeRange, Variant, cursor};
use crate::search::explain::Explain;
use crate::search::map::MapRequest;

/// A semantic search, parsed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// The variant of the interface: decides ids, time names, the order of ties, and the cursor.
    pub variant: Variant,
    /// The lowest score of a match, 0..=1.
    pub threshold: f64,
    /// Records of a page at most.
    pub limit: usize,
    /// Bytes of the records of a page at most.
    pub(crate) page_bytes: usize,
    /// The filter of the caller and the forced filter of the key, joined.
    pub filter: Option<Filter>,
    /// Range of the time at which records were last synced.
    pub time_range: TimeRange,
    /// The position at which the page before ended.
    pub cursor: Option<Position>,
    /// Whether to count all matches.
    pub total: bool,
    /// The facets to count the matches by.
    pub(crate) facets: Vec<Facet>,
    /// Whether the search may miss a few matches to be faster.
    pub approximate: bool,
    /// The exact words that scores take into account, if the request asks for it.
    pub(crate) lexical: Option<LexicalRequest>,
    /// Whether the request asks for the best passages of results.
    pub(crate) passages: bool,
    /// The filters to explain, if the request asks to explain.
    pub(crate) explain: Option<Explain>,
    /// The map, if the request asks for it instead of a page.
    pub(crate) map: Option<MapRequest>,
    /// Fingerprint of the model that made the query's vector, if the caller states it; `Some(None)` is no model.
    pub(crate) embedded_by: Option<Option<String>>,
    /// Equal for requests that differ in cursor and page size only.
    pub(crate) request_hash: [u8; 16],
    /// Equal for requests with the same filters, `None` without a filter.
    pub(crate) filter_key: Option<FilterKey>,
}

/// The exact words of a search.
#[derive(Clone, Debug)]
pub(crate) struct LexicalRequest {
    pub(crate) weight: LexicalWeight,
    pub(crate) text: String,
}

impl Search {
    /// Whether every match must be found, not just those of the page.
    pub(crate) fn counts_all(&self) -> bool {
        self.total || !self.facets.is_empty()
    }

    /// Whether results show their best passage, which `explain` asks for, too.
    pub(crate) fn shows_passages(&self) -> bool {
        self.passages || self.explain.is_some()
    }

    /// Reads a search from JSON: `variant`, `threshold`, `limit`, `filter`, `forced_filter`,
    /// `time_range`, `cursor`, `total`, `facets`, `approximate`, `lexical`, `passages`, `explain`, `map`,
    /// `embedded_by`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer for each member that is invalid.
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
            lexical: LexicalRequest::parse(&request)?,
            passages: request.flag("passages")?,
            explain: Explain::parse(&request, variant)?,
            map: MapRequest::of(&request)?,
            embedded_by: request
                .members
                .get("embedded_by")
                .map(|by| by.as_str().map(str::to_owned)),
            request_hash: request.hash_of(|member| !["cursor", "limit"].contains(&member)),
            filter_key: request.filter_key(),
        };
        if search.approximate && search.counts_all() {
            return Err(not_approximate(
                "total and facets count every match: leave them out, or search without approximate",
            ));
        }
        if search.approximate && search.lexical.is_some() {
            return Err(not_approximate(
                "the approximate index knows no words: leave lexical out, or search without approximate",
            ));
        }
        Ok(search)
    }
}

impl LexicalRequest {
    /// Reads the member `lexical`, an object with `weight` and `text`. A weight of 0 is the same as none.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    fn parse(request: &RequestReader<'_>) -> Result<Option<Self>, Error> {
        let invalid = |detail: &str| Error::invalid("invalid_request", "/search/lexical", detail);
        let Some(lexical) = request.members.get("lexical") else {
            return Ok(None);
        };
        let weight = lexical["weight"].as_f64();
        let weight = weight.filter(|weight| (0.0..=1.0).contains(weight));
        let weight = weight.ok_or_else(|| invalid("must be between 0 and 1"))?;
        let text = lexical["text"].as_str();
        let text = text.ok_or_else(|| invalid("needs the text of the search"))?;
        Ok(LexicalWeight::new(weight).map(|weight| Self {
            weight,
            text: text.to_owned(),
        }))
    }
}

/// The error of a search with a lexical weight in a database without the setting.
pub(crate) fn not_lexical() -> Error {
    let detail = "the database does not know its words: switch that on with \"lexical\": true in its settings, or search without lexical";
    Error::invalid("invalid_request", "/search/lexical", detail)
}

/// The error of a search that can't be approximate.
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
