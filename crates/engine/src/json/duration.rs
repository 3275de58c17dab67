//! Durations as ISO 8601 text.

/// The designators of the parts of a duration with their milliseconds, in their order; those after `T` are in the second
/// list. Years and months are missing, because they have no fixed length.
const OF_DATE: [(char, u64); 2] = [('W', 604_800_000), ('D', 86_400_000)];
const OF_TIME: [(char, u64); 3] = [('H', 3_600_000), ('M', 60_000), ('S', 1_000)];

/// Digits of a part at most.
const MAX_DIGITS: usize = 9;

/// Parses a duration of weeks, days, hours, minutes and seconds, such as `P30D`, `PT12H` or `P1DT6H30M`, into
/// milliseconds. Each part is a whole number of up to nine digits. `None` for any other text.
pub(crate) fn parse_duration(text: &str) -> Option<u64> {
    let text = text.strip_prefix('P')?;
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    if date.is_empty() && time.is_none() || time == Some("") {
        return None;
    }
    Some(sum_of(date, &OF_DATE)? + sum_of(time.unwrap_or_default(), &OF_TIME)?)
}

fn sum_of(mut rest: &str, parts: &[(char, u64)]) -> Option<u64> {
    let mut sum = 0;
    for &(designator, milliseconds) in parts {
        let Some((number, after)) = rest.split_once(designator) else {
            continue;
        };
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || number.len() > MAX_DIGITS {
            return None;
        }
        sum += number.parse::<u64>().ok()? * milliseconds;
        rest = after;
    }
    rest.is_empty().then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn durations_of_fixed_length_are_read() {
        for (text, expected) in [
            ("P30D", 30 * 86_400_000),
            ("P2W", 14 * 86_400_000),
            ("P1W1D", 8 * 86_400_000),
            ("PT12H", 12 * 3_600_000),
            (
                "P1DT6H30M15S",
                86_400_000 + 6 * 3_600_000 + 30 * 60_000 + 15_000,
            ),
            ("PT0S", 0),
            ("P999999999W", 999_999_999 * 604_800_000),
        ] {
            assert_eq!(parse_duration(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_durations() {
        for text in [
            "",
            "P",
            "PT",
            "P1",
            "1D",
            "P1Y",
            "P1M",
            "PT1D",
            "P1DT",
            "P1D1W",
            "P-1D",
            "P+1D",
            "P1.5D",
            "PD",
            "p1d",
            "P1D ",
            "P1H",
            "P1000000000D",
            "PT1S1M",
            "P１D",
        ] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
