//! The boosts of a request.

use std::borrow::Cow;

use cosift_kernels::Nearness;

use crate::error::Error;
use crate::filter::{Filter, RequestReader, TIME_FORM};
use crate::json::{Json, check_column, parse_duration, parse_time};
use crate::record::{RecordTime, Variant, Weight};

/// The maximal number of boosts of a search.
const MAX_BOOSTS: usize = 8;

/// How far above 1 the sum of weights may be: it begins with that of words, which is rounded to steps of 1e-9.
const SUM_SLACK: f64 = 0.75e-9;

/// What a duration must be, for people.
const DURATION_FORM: &str = "must be milliseconds above 0, or a text such as P30D or PT12H: an ISO 8601 duration of weeks, days, hours, minutes and seconds";

/// What a distance must be, for people.
const DISTANCE_FORM: &str =
    "must be a number above 0; for a column of times, the target is a text, too";

/// A part of a score that depends on the data and the times of a record, and its weight.
#[derive(Clone, Debug)]
pub(crate) struct Boost {
    pub(super) weight: Weight,
    pub(super) by: BoostBy,
}

/// What a boost is computed from.
#[derive(Clone, Debug)]
pub(super) enum BoostBy {
    /// 1 where the filter passes, otherwise 0.
    Filter(Filter),
    /// The nearness of a value; 0 without one.
    Nearness(Measured, Nearness),
}

/// A value of a record that a target is compared with.
#[derive(Clone, Debug)]
pub(super) enum Measured {
    /// A time of the record, in milliseconds.
    Time(RecordTime),
    /// A number of a column.
    Number(String),
    /// A text of a column that is a time, in milliseconds, rounded down.
    TimeText(String),
}

type Members<'a> = [(Cow<'a, str>, Json<'a>)];

impl Boost {
    /// Reads the member `boosts`. Their weights are taken from `left`, the weight that other parts leave.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the pointer of the item, `/search/boosts/2/weight`.
    pub(crate) fn parse(
        request: &RequestReader<'_>,
        variant: Variant,
        left: &mut Weight,
    ) -> Result<Vec<Self>, Error> {
        let items = request.boosts()?;
        if items.len() > MAX_BOOSTS {
            let detail = format!("has {} items, at most {MAX_BOOSTS} are taken", items.len());
            return Err(Error::request("/search/boosts", detail));
        }
        let mut sum = 1.0 - left.value();
        let mut boosts = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let place = format!("search/boosts/{at}");
            let Json::Object(members) = item else {
                return Err(Error::request(format!("/{place}"), "must be an object"));
            };
            let item = Item { members, place };
            let weight = item.weight()?;
            sum += weight;
            if sum > 1.0 + SUM_SLACK {
                let detail = "the weights of boosts and of words are more than 1 together";
                return Err(item.invalid("weight", detail));
            }
            let weight = left.take(weight);
            let by = match member(members, "filter") {
                Some(filter) => {
                    let place = format!("{}/filter", item.place);
                    BoostBy::Filter(request.filter_at(&place, filter, variant)?)
                }
                None => item.nearness()?,
            };
            boosts.push(Self { weight, by });
        }
        Ok(boosts)
    }
}

/// An item of the list, and its place, a pointer without its first slash.
struct Item<'a> {
    members: &'a Members<'a>,
    place: String,
}

impl Item<'_> {
    fn weight(&self) -> Result<f64, Error> {
        match member(self.members, "weight") {
            Some(Json::Number(weight)) if (0.0..=1.0).contains(weight) => Ok(*weight),
            _ => Err(self.invalid("weight", "must be between 0 and 1")),
        }
    }

    fn nearness(&self) -> Result<BoostBy, Error> {
        let target = member(self.members, "target");
        let measured = match (member(self.members, "column"), member(self.members, "time")) {
            (Some(Json::Text(column)), None) => {
                check_column(column)
                    .map_err(|problem| Error::at(format!("/{}/column", self.place), problem))?;
                match target {
                    Some(Json::Text(_)) => Measured::TimeText(column.to_string()),
                    _ => Measured::Number(column.to_string()),
                }
            }
            (None, Some(Json::Text(time))) => match RecordTime::from_name(time) {
                Some(time) => Measured::Time(time),
                None => return Err(self.invalid("time", "is not a time of records")),
            },
            _ => {
                let detail = "must have exactly one of \"filter\", \"column\", \"time\"";
                return Err(Error::request(format!("/{}", self.place), detail));
            }
        };
        let of_times = !matches!(measured, Measured::Number(_));
        let target = match target {
            Some(Json::Number(target)) => *target,
            Some(Json::Text(text)) => {
                parse_time(text)
                    .map_err(|_| self.invalid("target", TIME_FORM))?
                    .milliseconds as f64
            }
            _ => return Err(self.invalid("target", "must be a number or a time")),
        };
        let scale = match member(self.members, "scale") {
            Some(Json::Number(scale)) => Some(*scale),
            Some(Json::Text(text)) if of_times => parse_duration(text).map(|ms| ms as f64),
            _ => None,
        };
        let scale = scale.filter(|&scale| scale > 0.0).ok_or_else(|| {
            self.invalid(
                "scale",
                if of_times {
                    DURATION_FORM
                } else {
                    DISTANCE_FORM
                },
            )
        })?;
        Ok(BoostBy::Nearness(measured, Nearness::new(target, scale)))
    }

    fn invalid(&self, member: &str, detail: &str) -> Error {
        Error::request(format!("/{}/{member}", self.place), detail)
    }
}

fn member<'m, 'a>(members: &'m Members<'a>, name: &str) -> Option<&'m Json<'a>> {
    let mut members = members.iter();
    members.find_map(|(known, json)| (known == name).then_some(json))
}
