//! Facets as a request asks for them.

use serde_json::{Map, Value};

use crate::error::Error;
use crate::facets::intervals::Calendar;
use crate::filter::RequestReader;
use crate::json::check_column;
use crate::record::{RecordTime, ValidationCode, ValidationError, ValidationErrors};

/// The maximum number of facets of a request.
const MAX_FACETS: usize = 16;
/// The maximum number of values that a facet lists.
const MAX_VALUES: u64 = 100;
/// Values that a facet lists by default.
const DEFAULT_VALUES: usize = 10;

/// One way of counting the matches of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Facet {
    /// The most frequent values of a column.
    Values {
        /// The column's name.
        column: String,
        /// How many values to list, 1..=100.
        limit: usize,
    },
    /// The numbers of a column by intervals `[k * interval, (k + 1) * interval)`.
    Histogram {
        /// The column's name.
        column: String,
        /// Width of an interval, above 0.
        interval: f64,
    },
    /// One of the records' times by calendar interval, UTC.
    Times {
        /// Which time.
        time: RecordTime,
        /// The interval.
        interval: Calendar,
    },
}

impl Facet {
    /// The facets of a request; empty for a request without facets.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer.
    pub(crate) fn of(request: &RequestReader<'_>) -> Result<Vec<Self>, Error> {
        request
            .get("facets")
            .map_or(Ok(Vec::new()), Self::parse_list)
    }

    /// Reads the request member `facets`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every validation error, pointers beginning with `/facets`.
    pub(crate) fn parse_list(json: &Value) -> Result<Vec<Self>, Error> {
        let mut problems = ValidationErrors::default();
        let mut facets = Vec::new();
        match json {
            Value::Array(list) if (1..=MAX_FACETS).contains(&list.len()) => {
                for (at, json) in list.iter().enumerate() {
                    let from = problems.len();
                    facets.extend(parse(json, &mut problems));
                    problems.point(from, at);
                }
            }
            _ => problems.push(wrong(format!("must be a list of 1 to {MAX_FACETS} facets"))),
        }
        problems.point(0, "facets");
        problems.or(facets).map_err(|problems| Error::Invalid {
            code: "invalid_request",
            problems,
        })
    }
}

fn parse(json: &Value, problems: &mut ValidationErrors) -> Option<Facet> {
    let Value::Object(members) = json else {
        problems.push(ValidationError::new(
            ValidationCode::WrongType,
            "must be an object",
        ));
        return None;
    };
    let mut reader = MemberReader { members, problems };
    if members.contains_key("time") {
        reader.allow(&["time", "interval"]);
        let time = reader.one_of("time", &RecordTime::ALL);
        let interval = reader.one_of("interval", &Calendar::ALL);
        return Some(Facet::Times {
            time: time?,
            interval: interval?,
        });
    }
    let kind = reader.optional("type", "\"values\" or \"histogram\"", |value| {
        value
            .as_str()
            .filter(|name| matches!(*name, "values" | "histogram"))
    });
    if kind == Some("histogram") {
        reader.allow(&["column", "type", "interval"]);
        let column = reader.column();
        let positive = |value: &Value| value.as_f64().filter(|interval| *interval > 0.0);
        let interval = reader.required("interval", "a number above 0", positive);
        return Some(Facet::Histogram {
            column: column?,
            interval: interval?,
        });
    }
    reader.allow(&["column", "type", "limit"]);
    let column = reader.column();
    let limit = reader.optional(
        "limit",
        &format!("a whole number of 1 to {MAX_VALUES}"),
        |value| {
            value
                .as_u64()
                .filter(|limit| (1..=MAX_VALUES).contains(limit))
        },
    );
    Some(Facet::Values {
        column: column?,
        limit: limit.map_or(DEFAULT_VALUES, |limit| limit as usize),
    })
}

/// Reads the members of one facet, and collects the validation errors.
struct MemberReader<'a> {
    members: &'a Map<String, Value>,
    problems: &'a mut ValidationErrors,
}

impl<'a> MemberReader<'a> {
    fn allow(&mut self, names: &[&str]) {
        for name in self
            .members
            .keys()
            .filter(|name| !names.contains(&name.as_str()))
        {
            let detail = format!("this facet has no such member; it has {}", names.join(", "));
            self.problems
                .push(ValidationError::new(ValidationCode::UnknownMember, detail).within(name));
        }
    }

    fn required<T>(
        &mut self,
        name: &str,
        what: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        if !self.members.contains_key(name) {
            self.problems.push(ValidationError::new(
                ValidationCode::MissingMember,
                format!("{name} is missing: {what}"),
            ));
        }
        self.optional(name, what, read)
    }

    fn optional<T>(
        &mut self,
        name: &str,
        what: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let read = read(self.members.get(name)?);
        if read.is_none() {
            self.problems
                .push(wrong(format!("must be {what}")).within(name));
        }
        read
    }

    fn one_of<T: Copy>(&mut self, name: &str, known: &[(T, &str)]) -> Option<T> {
        let names: Vec<String> = known
            .iter()
            .map(|(_, name)| format!("\"{name}\""))
            .collect();
        self.required(name, &names.join(", "), |value| {
            let text = value.as_str()?;
            known
                .iter()
                .find(|(_, name)| *name == text)
                .map(|(value, _)| *value)
        })
    }

    fn column(&mut self) -> Option<String> {
        let column = self.required("column", "a column name", Value::as_str)?;
        match check_column(column) {
            Ok(()) => Some(column.to_owned()),
            Err(problem) => {
                self.problems.push(problem.within("column"));
                None
            }
        }
    }
}

fn wrong(detail: String) -> ValidationError {
    ValidationError::new(ValidationCode::InvalidValue, detail)
}
