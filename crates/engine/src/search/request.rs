//! A search request as the engine takes it.

use serde_json::{Map, Value};

use crate::cursor;
use crate::error::Error;
use crate::explain::Explain;
use crate::facets::Facet;
use crate::filter::{Filter, FilterLimits};
use crate::hash::content_hash;
use crate::identity::Variant;
use crate::json::parse_time;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::rank::Position;
use crate::search::masks::FilterKey;

/// Members with a filter; all of them hold.
const FILTER_MEMBERS: [&str; 2] = ["forced_filter", "filter"];

/// Largest page of one request.
pub(super) const MAX_LIMIT: usize = 10_000;

/// A semantic search, parsed and checked.
#[derive(Clone, Debug)]
pub struct Search {
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

/// A window of time, both ends inclusive, milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// First moment inside.
    pub start: i64,
    /// Last moment inside.
    pub end: i64,
}

impl TimeRange {
    /// All of time.
    pub const ALWAYS: Self = Self {
        start: i64::MIN,
        end: i64::MAX,
    };
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
    pub fn parse(json: &str, limits: &Limits) -> Result<Self, Error> {
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
            facets: request.facets()?,
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

/// Reads the members that requests share.
pub(crate) struct RequestReader {
    members: Map<String, Value>,
    limits: FilterLimits,
}

impl RequestReader {
    pub(crate) fn new(json: &str, limits: &Limits) -> Result<Self, Error> {
        match serde_json::from_str(json) {
            Ok(Value::Object(members)) => Ok(Self {
                members,
                limits: limits.filter,
            }),
            Ok(_) => Err(Error::invalid("invalid_request", "", "must be an object")),
            Err(error) => Err(Error::invalid("invalid_json", "", error.to_string())),
        }
    }

    /// Equal for requests with the same filters, `None` without any.
    pub(crate) fn filter_key(&self) -> Option<FilterKey> {
        let members = FILTER_MEMBERS;
        let any = members.iter().any(|member| self.get(member).is_some());
        any.then(|| self.hash_of(|member| members.contains(&member)))
    }

    /// A hash of the members that count.
    fn hash_of(&self, counts: impl Fn(&str) -> bool) -> [u8; 16] {
        let members: Vec<String> = self
            .members
            .iter()
            .filter(|(name, _)| counts(name))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        content_hash(&members.iter().map(String::as_bytes).collect::<Vec<_>>())
    }

    /// A member that is present and not null.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn variant(&self) -> Result<Variant, Error> {
        match self.text("variant")? {
            Some("a") => Ok(Variant::A),
            Some("b") | None => Ok(Variant::B),
            Some(_) => Err(Error::invalid(
                "invalid_request",
                "/variant",
                "must be \"a\" or \"b\"",
            )),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, Error> {
        self.typed(name, "a number", Value::as_f64)
    }

    pub(crate) fn integer(&self, name: &str) -> Result<Option<u64>, Error> {
        self.typed(name, "a whole number of at least 0", Value::as_u64)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, Error> {
        self.typed(name, "a string", Value::as_str)
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, Error> {
        Ok(self
            .typed(name, "true or false", Value::as_bool)?
            .unwrap_or(false))
    }

    pub(crate) fn limit(&self) -> Result<usize, Error> {
        match self.integer("limit")? {
            None => Ok(50),
            Some(limit) if (1..=MAX_LIMIT as u64).contains(&limit) => Ok(limit as usize),
            Some(_) => {
                let detail = format!("must be between 1 and {MAX_LIMIT}");
                Err(Error::invalid(
                    "invalid_request",
                    "/pagination/limit",
                    detail,
                ))
            }
        }
    }

    /// The caller's filter and the forced one, both of which must hold.
    pub(crate) fn filter(&self, variant: Variant) -> Result<Option<Filter>, Error> {
        let mut filters = Vec::new();
        for name in FILTER_MEMBERS {
            filters.extend(self.filter_of(name, variant)?);
        }
        Ok(if filters.len() > 1 {
            Some(Filter::and(filters))
        } else {
            filters.pop()
        })
    }

    /// The filter in one member.
    pub(crate) fn filter_of(&self, name: &str, variant: Variant) -> Result<Option<Filter>, Error> {
        let Some(json) = self.get(name) else {
            return Ok(None);
        };
        let filter = Filter::from_json(
            json.to_string().as_bytes(),
            &self.limits,
            variant.default_condition(),
        );
        filter.map(Some).map_err(|problems| below(name, problems))
    }

    pub(crate) fn facets(&self) -> Result<Vec<Facet>, Error> {
        self.get("facets").map_or(Ok(Vec::new()), Facet::parse_list)
    }

    pub(crate) fn time_range(&self) -> Result<TimeRange, Error> {
        let Some(range) = self.get("time_range") else {
            return Ok(TimeRange::ALWAYS);
        };
        let end_of = |name: &str, absent: i64| match range.get(name) {
            None => Ok(absent),
            Some(value) => value
                .as_str()
                .and_then(|text| parse_time(text).ok())
                .ok_or_else(|| {
                    let pointer = format!("/time_range/{name}");
                    Error::invalid(
                        "invalid_time",
                        pointer,
                        "must be an ISO 8601 date or time, 2026-01-31T12:00:00Z",
                    )
                }),
        };
        let window = TimeRange {
            start: end_of("start_time", i64::MIN)?,
            end: end_of("end_time", i64::MAX)?,
        };
        if window.start > window.end {
            let detail = "start_time is after end_time";
            return Err(Error::invalid(
                "invalid_time",
                "/time_range/start_time",
                detail,
            ));
        }
        Ok(window)
    }

    fn typed<'a, T>(
        &'a self,
        name: &str,
        what: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        self.get(name)
            .map(|value| {
                read(value).ok_or_else(|| {
                    Error::invalid(
                        "invalid_request",
                        format!("/{name}"),
                        format!("must be {what}"),
                    )
                })
            })
            .transpose()
    }
}

fn below(name: &str, problems: Vec<Problem>) -> Error {
    let problems = problems
        .into_iter()
        .map(|problem| Problem {
            pointer: format!("/{name}{}", problem.pointer),
            ..problem
        })
        .collect();
    Error::Invalid {
        code: "invalid_filter",
        problems,
    }
}
