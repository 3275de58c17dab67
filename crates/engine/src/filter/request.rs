//! The members that several kinds of requests have.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::filter::ast::{Condition, Filter};
use crate::filter::parse::{TIME_FORM, max_json_depth};
use crate::json::{self, Instant, Json, parse_time};
use crate::limits::{FilterLimits, Limits};
use crate::record::{TimeRange, ValidationError, Variant, content_hash};

/// The members with a filter. A record must pass all of them.
const FILTER_MEMBERS: [&str; 2] = ["forced_filter", "filter"];

/// The member with boosts. It is not parsed with the others, because its filters may be nested deeply.
const BOOSTS: &str = "boosts";

/// The maximal page size.
const MAX_LIMIT: usize = 10_000;

/// Identifies the filters of a request.
pub(crate) type FilterKey = [u8; 16];

/// Reads the members that several kinds of requests have.
pub(crate) struct RequestReader<'a> {
    /// All members except filters and boosts.
    pub(crate) members: BTreeMap<String, Value>,
    /// The JSON texts of these members and of the boosts, sorted by name.
    texts: Vec<(String, &'a str)>,
    filters: Vec<FilterText<'a>>,
    limits: FilterLimits,
}

/// A filter that is present and not null. A filter may be long, so it is parsed once, straight from its text.
struct FilterText<'a> {
    /// The name of its member.
    name: String,
    json: &'a str,
    hash: [u8; 16],
}

impl<'a> RequestReader<'a> {
    pub(crate) fn new(json: &'a str, limits: &Limits) -> Result<Self, Error> {
        let invalid = |error: serde_json::Error| {
            if error.is_data() {
                Error::request("", "must be an object")
            } else {
                Error::invalid("invalid_json", "", error.to_string())
            }
        };
        let texts: BTreeMap<String, &'a RawValue> = serde_json::from_str(json).map_err(invalid)?;
        let mut reader = Self {
            members: BTreeMap::new(),
            texts: Vec::with_capacity(texts.len()),
            filters: Vec::new(),
            limits: limits.filter,
        };
        for (name, text) in texts {
            let json = text.get();
            if name == BOOSTS {
                reader.texts.push((name, json));
            } else if !FILTER_MEMBERS.contains(&name.as_str()) {
                let value = serde_json::from_str(json).map_err(invalid)?;
                reader.texts.push((name.clone(), json));
                reader.members.insert(name, value);
            } else if json != "null" {
                let hash = content_hash(&[json.as_bytes()]);
                reader.filters.push(FilterText { name, json, hash });
            }
        }
        Ok(reader)
    }

    /// Equal for requests with the same filters, `None` without any.
    pub(crate) fn filter_key(&self) -> Option<FilterKey> {
        let any = !self.filters.is_empty();
        any.then(|| self.hash_of(|member| FILTER_MEMBERS.contains(&member)))
    }

    /// A hash of the names and JSON texts of the members whose names `counts` accepts. Equal requests that are written
    /// differently may have different hashes.
    pub(crate) fn hash_of(&self, counts: impl Fn(&str) -> bool) -> [u8; 16] {
        let texts = self.texts.iter();
        let texts = texts.map(|(name, text)| (name, text.as_bytes()));
        let filters = self.filters.iter();
        let filters = filters.map(|filter| (&filter.name, &filter.hash[..]));
        let counted = texts.chain(filters).filter(|(name, _)| counts(name));
        let parts: Vec<_> = counted
            .flat_map(|(name, text)| [name.as_bytes(), text])
            .collect();
        content_hash(&parts)
    }

    /// Whether the request has a filter of its own.
    pub(crate) fn has_filter(&self) -> bool {
        self.filters.iter().any(|filter| filter.name == "filter")
    }

    /// A member that is present and not null.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn variant(&self) -> Result<Variant, Error> {
        let name = self.text("form")?.unwrap_or("integer");
        Variant::named(name).ok_or_else(|| {
            let detail = "must be \"uuid\", \"integer\" or \"both\"";
            Error::request("/form", detail)
        })
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
                Err(Error::request("/pagination/limit", detail))
            }
        }
    }

    /// The filter of the caller and the forced filter of the key, combined.
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

    /// The filter of one member.
    pub(crate) fn filter_of(&self, name: &str, variant: Variant) -> Result<Option<Filter>, Error> {
        let Some(text) = self.filters.iter().find(|filter| filter.name == name) else {
            return Ok(None);
        };
        let filter = Filter::from_json(
            text.json.as_bytes(),
            &self.limits,
            Condition::default_of(variant),
        );
        filter.map(Some).map_err(|problems| below(name, problems))
    }

    /// The items of the member `boosts`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for JSON that is nested too deeply, and for a value that is no list.
    pub(crate) fn boosts(&self) -> Result<Vec<Json<'a>>, Error> {
        let Some((_, text)) = self.texts.iter().find(|(name, _)| name == BOOSTS) else {
            return Ok(Vec::new());
        };
        // A filter is within a list and an object.
        let json = json::parse(text.as_bytes(), 2 + max_json_depth(&self.limits));
        match json.map_err(|problem| below("search/boosts", vec![problem]))? {
            Json::Null => Ok(Vec::new()),
            Json::Array(items) => Ok(items),
            _ => Err(Error::request("/search/boosts", "must be a list")),
        }
    }

    /// A filter at `place`, a pointer without its first slash.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer to the rule.
    pub(crate) fn filter_at(
        &self,
        place: &str,
        json: &Json<'_>,
        variant: Variant,
    ) -> Result<Filter, Error> {
        let filter = Filter::parse(json, &self.limits, Condition::default_of(variant));
        filter.map_err(|problems| below(place, problems))
    }

    pub(crate) fn time_range(&self) -> Result<TimeRange, Error> {
        let Some(range) = self.get("time_range") else {
            return Ok(TimeRange::ALWAYS);
        };
        let bound = |name: &str| {
            let parse = |value: &Value| {
                let time = value.as_str().and_then(|text| parse_time(text).ok());
                time.ok_or_else(|| {
                    let pointer = format!("/time_range/{name}");
                    Error::invalid("invalid_time", pointer, TIME_FORM)
                })
            };
            range.get(name).map(parse).transpose()
        };
        let (start, end) = (bound("start_time")?, bound("end_time")?);
        if let (Some(start), Some(end)) = (start, end)
            && start > end
        {
            let detail = "start_time is after end_time";
            return Err(Error::invalid(
                "invalid_time",
                "/time_range/start_time",
                detail,
            ));
        }
        Ok(TimeRange {
            start: start.map_or(i64::MIN, Instant::rounded_up),
            end: end.map_or(i64::MAX, |end| end.milliseconds),
        })
    }

    /// The elements of a list that `read` takes, if the request has the list.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer; it says that the member must be `what`.
    pub(crate) fn list<T>(
        &self,
        name: &str,
        what: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<Vec<T>>, Error> {
        self.typed(name, what, |list| {
            list.as_array()?.iter().map(read).collect()
        })
    }

    fn typed<'v, T>(
        &'v self,
        name: &str,
        what: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        self.get(name)
            .map(|value| {
                read(value)
                    .ok_or_else(|| Error::request(format!("/{name}"), format!("must be {what}")))
            })
            .transpose()
    }
}

/// Prefixes the pointers of problems with the name of the member, or with the place of the filter.
fn below(name: &str, problems: Vec<ValidationError>) -> Error {
    let problems = problems
        .into_iter()
        .map(|problem| ValidationError {
            pointer: format!("/{name}{}", problem.pointer),
            ..problem
        })
        .collect();
    Error::Invalid {
        code: "invalid_filter",
        problems,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn hash(json: &str) -> [u8; 16] {
        let request = RequestReader::new(json, &Limits::default()).expect("a request");
        request.hash_of(|name| name != "cursor")
    }

    #[test]
    fn requests_have_one_hash_if_only_the_order_of_members_or_a_member_that_does_not_count_differs()
    {
        let one =
            hash(r#"{"threshold":0.2,"lexical":{"weight":1,"text":"a"},"filter":{"rules":[]}}"#);
        let same = r#" {"cursor":"x", "filter":{"rules":[]}, "lexical":{"weight":1,"text":"a"}, "threshold":0.2}"#;
        assert_eq!(one, hash(same));
        for other in [
            r#"{"threshold":0.3,"lexical":{"weight":1,"text":"a"},"filter":{"rules":[]}}"#,
            r#"{"threshold":0.2,"lexical":{"weight":1,"text":"b"},"filter":{"rules":[]}}"#,
            r#"{"threshold":0.2,"lexical":{"weight":1,"text":"a"},"filter":{"rules":[],"condition":"OR"}}"#,
            r#"{"threshold":0.2,"lexical":{"weight":1,"text":"a"},"forced_filter":{"rules":[]}}"#,
            r#"{"threshold":0.2,"lexical":{"weight":1,"text":"a"}}"#,
        ] {
            assert_ne!(one, hash(other), "{other}");
        }
    }
}
