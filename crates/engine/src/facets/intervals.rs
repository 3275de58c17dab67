//! Writing the intervals of a facet.

use crate::error::Error;
use crate::json::{write_integer, write_string, write_time};

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
