//! Calendar intervals, UTC, and the intervals of a facet as JSON.

use std::collections::BTreeMap;

use crate::columns::{Integers, Mask};
use crate::error::Error;
use crate::facets::buckets::Buckets;
use crate::json::{civil_from_days, days_from_civil, write_integer, write_string, write_time};

/// The maximum number of intervals of one facet in a response.
const MAX_INTERVALS: usize = 10_000;

/// Appends `,"buckets":[{"from":…,"count":…}]`; `at` is the facet's place in the request.
///
/// # Errors
/// [`Error::Invalid`] when there are more intervals than a response holds.
pub(crate) fn write_intervals<T>(
    at: usize,
    counts: impl IntoIterator<Item = (T, u64), IntoIter: ExactSizeIterator>,
    write_start: impl Fn(T, &mut Vec<u8>),
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let counts = counts.into_iter();
    if counts.len() > MAX_INTERVALS {
        let detail = format!(
            "the matches fall into {} intervals; a facet has at most {MAX_INTERVALS}: take a longer one",
            counts.len()
        );
        return Err(invalid_interval(at, detail));
    }
    out.extend_from_slice(b",\"buckets\":[");
    for (place, (start, count)) in counts.enumerate() {
        out.extend_from_slice(if place > 0 {
            b",{\"from\":"
        } else {
            b"{\"from\":"
        });
        write_start(start, out);
        write_member("count", count, out);
        out.push(b'}');
    }
    out.push(b']');
    Ok(())
}

/// The error of a facet whose interval does not fit the matches.
pub(crate) fn invalid_interval(at: usize, detail: String) -> Error {
    Error::request(format!("/facets/{at}/interval"), detail)
}

/// Appends a time as a JSON string.
pub(crate) fn write_quoted_time(time: i64, out: &mut Vec<u8>) {
    out.push(b'"');
    write_time(time, out);
    out.push(b'"');
}

/// Appends a member that is a count.
pub(crate) fn write_member(name: &str, count: u64, out: &mut Vec<u8>) {
    out.push(b',');
    write_string(name, out);
    out.push(b':');
    write_integer(count, out);
}

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// Milliseconds from the start of 1970 to its first Monday.
const MONDAY: i64 = 4 * DAY;

/// An interval that times are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calendar {
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// Seven days from Monday; the first week of year 0 begins with the year.
    Week,
    /// A month of the Gregorian calendar.
    Month,
    /// A year of the Gregorian calendar.
    Year,
}

impl Calendar {
    /// All intervals with their names.
    pub(crate) const ALL: [(Self, &'static str); 6] = [
        (Self::Minute, "minute"),
        (Self::Hour, "hour"),
        (Self::Day, "day"),
        (Self::Week, "week"),
        (Self::Month, "month"),
        (Self::Year, "year"),
    ];

    pub(crate) fn name(self) -> &'static str {
        // `ALL` lists the intervals in the order of the enum.
        Self::ALL[self as usize].1
    }

    /// Counts the times of the rows of `within`. Months and years are counted by day, because their lengths differ.
    pub(crate) fn count(self, times: &Integers, within: &Mask, buckets: &mut Buckets) {
        // A closure for each, so that every division is by a constant.
        match self {
            Self::Minute => buckets.count(times, within, |time| time.div_euclid(60_000)),
            Self::Hour => buckets.count(times, within, |time| time.div_euclid(HOUR)),
            Self::Day | Self::Month | Self::Year => {
                buckets.count(times, within, |time| time.div_euclid(DAY))
            }
            Self::Week => buckets.count(times, within, |time| (time - MONDAY).div_euclid(7 * DAY)),
        }
    }

    /// The counts of [`Calendar::count`] by the first millisecond of each interval.
    pub(crate) fn counted(self, buckets: &mut Buckets) -> BTreeMap<i64, u64> {
        let mut counts = BTreeMap::new();
        for (bucket, count) in buckets.counted() {
            *counts.entry(self.start(bucket)).or_default() += count;
        }
        counts
    }

    fn start(self, bucket: i64) -> i64 {
        match self {
            Self::Minute => bucket * 60_000,
            Self::Hour => bucket * HOUR,
            Self::Day => bucket * DAY,
            // The first week of year 0 begins before the first time that a record can have.
            Self::Week => (bucket * 7 * DAY + MONDAY).max(days_from_civil(0, 1, 1) * DAY),
            Self::Month => {
                let (year, month, _) = civil_from_days(bucket);
                days_from_civil(year, month, 1) * DAY
            }
            Self::Year => days_from_civil(civil_from_days(bucket).0, 1, 1) * DAY,
        }
    }
}
