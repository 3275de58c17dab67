//! Times as ISO 8601 text.

use std::fmt;
use std::io::Write;

use crate::json::calendar::{civil_from_days, days_from_civil, days_in};

const DAY: i64 = 86_400_000;

/// The text is not a time. The message says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidTime(&'static str);

impl fmt::Display for InvalidTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for InvalidTime {}

/// A time with all digits that were given. Stored times have milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant {
    /// Milliseconds since 1970, UTC, rounded down.
    pub(crate) milliseconds: i64,
    /// The rest, below 1,000,000.
    nanoseconds: i64,
}

impl Instant {
    /// The first millisecond that is not before the time.
    pub(crate) fn rounded_up(self) -> i64 {
        self.milliseconds + i64::from(self.nanoseconds > 0)
    }
}

/// Parses a date (`2026-01-02`, midnight UTC) or a date and time with its offset
/// (`2026-01-02T03:04:05.678Z`, `…T03:04+02:00`).
///
/// A fraction has up to nine digits. Years are 0000 to 9999.
///
/// # Errors
/// [`InvalidTime`] for any other form, a day or time that does not exist, and leap seconds.
pub(crate) fn parse_time(text: &str) -> Result<Instant, InvalidTime> {
    const FORM: InvalidTime =
        InvalidTime("expected an ISO 8601 date, or date and time with Z or an offset");
    let mut scan = Scan {
        rest: text.as_bytes(),
    };
    let year = scan.digits(4).ok_or(FORM)?;
    scan.take(b'-').ok_or(FORM)?;
    let month = scan.digits(2).ok_or(FORM)?;
    scan.take(b'-').ok_or(FORM)?;
    let day = scan.digits(2).ok_or(FORM)?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return Err(InvalidTime("no such day"));
    }
    let date = days_from_civil(year, month, day) * DAY;
    if scan.rest.is_empty() {
        return Ok(Instant {
            milliseconds: date,
            nanoseconds: 0,
        });
    }
    scan.take(b'T').ok_or(FORM)?;
    let hour = scan.digits(2).ok_or(FORM)?;
    scan.take(b':').ok_or(FORM)?;
    let minute = scan.digits(2).ok_or(FORM)?;
    let (mut second, mut fraction) = (0, 0);
    if scan.take(b':').is_some() {
        second = scan.digits(2).ok_or(FORM)?;
        if scan.take(b'.').is_some() {
            fraction = scan.nanoseconds().ok_or(FORM)?;
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return Err(InvalidTime("no such time of day"));
    }
    let offset = scan
        .offset()
        .ok_or(InvalidTime("a time needs Z or an offset such as +02:00"))?;
    if !scan.rest.is_empty() {
        return Err(FORM);
    }
    let seconds = (hour * 60 + minute - offset) * 60 + second;
    let milliseconds = date + seconds * 1_000 + fraction / 1_000_000;
    if (days_from_civil(0, 1, 1) * DAY..days_from_civil(10_000, 1, 1) * DAY).contains(&milliseconds)
    {
        Ok(Instant {
            milliseconds,
            nanoseconds: fraction % 1_000_000,
        })
    } else {
        Err(InvalidTime("outside the years 0000 to 9999"))
    }
}

struct Scan<'a> {
    rest: &'a [u8],
}

impl Scan<'_> {
    fn take(&mut self, byte: u8) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[byte])?;
        Some(())
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        digits.iter().try_fold(0, |value, byte| {
            byte.is_ascii_digit()
                .then(|| value * 10 + i64::from(byte - b'0'))
        })
    }

    fn nanoseconds(&mut self) -> Option<i64> {
        let count = self
            .rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if !(1..=9).contains(&count) {
            return None;
        }
        Some(self.digits(count)? * 10_i64.pow(9 - count as u32))
    }

    /// The offset in minutes east of UTC.
    fn offset(&mut self) -> Option<i64> {
        if self.take(b'Z').is_some() {
            return Some(0);
        }
        let sign = if self.take(b'-').is_some() {
            -1
        } else {
            self.take(b'+')?;
            1
        };
        let hours = self.digits(2)?;
        self.take(b':')?;
        let minutes = self.digits(2)?;
        (hours <= 23 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
    }
}

/// A time as responses have it, from milliseconds since 1970.
pub fn time_text(ms: i64) -> String {
    let mut out = Vec::new();
    write_time(ms, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Appends milliseconds since 1970 as `2026-01-02T03:04:05.678Z`, the format of JavaScript's `toISOString`.
pub(crate) fn write_time(milliseconds: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil_from_days(milliseconds.div_euclid(DAY));
    let time = milliseconds.rem_euclid(DAY) as u32;
    if (0..=9999).contains(&year) {
        let year = year as u32;
        let mut text = *b"0000-00-00T";
        put_two(&mut text[0..2], year / 100);
        put_two(&mut text[2..4], year % 100);
        put_two(&mut text[5..7], month as u32);
        put_two(&mut text[8..10], day as u32);
        out.extend_from_slice(&text);
    } else {
        // The format of JavaScript. `parse_time` does not accept such years.
        write!(out, "{year:+07}-{month:02}-{day:02}T").expect("writing to memory");
    }
    let mut text = *b"00:00:00.000Z";
    put_two(&mut text[0..2], time / 3_600_000);
    put_two(&mut text[3..5], time / 60_000 % 60);
    put_two(&mut text[6..8], time / 1000 % 60);
    put_two(&mut text[9..11], time / 10 % 100);
    text[11] = b'0' + (time % 10) as u8;
    out.extend_from_slice(&text);
}

/// Writes a number below 100 with two digits.
fn put_two(digits: &mut [u8], value: u32) {
    digits[0] = b'0' + (value / 10) as u8;
    digits[1] = b'0' + (value % 10) as u8;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(milliseconds: i64) -> String {
        let mut out = Vec::new();
        write_time(milliseconds, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn known_times_read_and_write() {
        for (text, milliseconds, canonical) in [
            ("1970-01-01", 0, "1970-01-01T00:00:00.000Z"),
            (
                "2026-01-02T03:04:05.678Z",
                1_767_323_045_678,
                "2026-01-02T03:04:05.678Z",
            ),
            (
                "2026-01-02T03:04:05.6789999Z",
                1_767_323_045_678,
                "2026-01-02T03:04:05.678Z",
            ),
            (
                "2026-01-02T03:04:05.6Z",
                1_767_323_045_600,
                "2026-01-02T03:04:05.600Z",
            ),
            (
                "2026-01-02T03:04+05:30",
                1_767_303_240_000,
                "2026-01-01T21:34:00.000Z",
            ),
            (
                "2024-02-29T23:59:59-00:00",
                1_709_251_199_000,
                "2024-02-29T23:59:59.000Z",
            ),
            (
                "0000-01-01",
                -62_167_219_200_000,
                "0000-01-01T00:00:00.000Z",
            ),
            (
                "9999-12-31T23:59:59.999Z",
                253_402_300_799_999,
                "9999-12-31T23:59:59.999Z",
            ),
        ] {
            let parsed = parse_time(text).map(|time| time.milliseconds);
            assert_eq!(parsed, Ok(milliseconds), "{text}");
            assert_eq!(written(milliseconds), canonical);
        }
        assert_eq!(written(253_402_300_800_000), "+010000-01-01T00:00:00.000Z");
        assert_eq!(written(-62_167_219_200_001), "-000001-12-31T23:59:59.999Z");
        assert_eq!(written(-1), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn digits_below_a_millisecond_are_rounded_and_compared() {
        let parse = |text| parse_time(text).expect("a time");
        let second = parse("1969-12-31T23:59:58Z");
        let later = parse("1969-12-31T23:59:58.000000001Z");
        assert_eq!((later.milliseconds, later.rounded_up()), (-2_000, -1_999));
        assert_eq!((second.milliseconds, second.rounded_up()), (-2_000, -2_000));
        assert!(second < later && later < parse("1969-12-31T23:59:58.0000001Z"));
    }

    #[test]
    fn invalid_times_are_refused() {
        for text in [
            "",
            "2026",
            "2026-1-2",
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-01-02T03:04:05",
            "2026-01-02 03:04:05Z",
            "2026-01-02T24:00:00Z",
            "2026-01-02T03:04:60Z",
            "2026-01-02T03:04:05.Z",
            "2026-01-02T03:04:05.1234567890Z",
            "2026-01-02T03:04:05+25:00",
            "2026-01-02T03:04:05Zz",
            "0000-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "+2026-01-02",
            "２026-01-02",
        ] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
