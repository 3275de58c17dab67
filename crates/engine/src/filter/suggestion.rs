//! Suggestions for misspelled names.

use strsim::levenshtein;

/// Bytes of a name that are compared. No known name is longer, and the limit bounds the work.
const COMPARED_BYTES: usize = 40;

/// `; did you mean "…"?` with the known name closest to `given`; empty if no known name is close.
pub(super) fn did_you_mean(given: &str, known: &[&str]) -> String {
    // Case and punctuation do not count.
    let simple = |name: &str| -> String {
        name.chars()
            .filter(char::is_ascii_alphanumeric)
            .take(COMPARED_BYTES)
            .map(|letter| letter.to_ascii_lowercase())
            .collect()
    };
    let given = simple(given);
    known
        .iter()
        .map(|name| (levenshtein(&given, &simple(name)), name))
        .filter(|(distance, name)| *distance <= name.len().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map_or_else(String::new, |(_, name)| format!("; did you mean {name:?}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_names_are_recognised_and_others_are_not() {
        let known = ["equals", "not_equals", "greater_than", "is_empty"];
        for (given, expected) in [
            ("equal", "equals"),
            ("Equals", "equals"),
            ("notEquals", "not_equals"),
            ("greater-then", "greater_than"),
            ("isempty", "is_empty"),
        ] {
            assert_eq!(
                did_you_mean(given, &known),
                format!("; did you mean {expected:?}?")
            );
        }
        assert_eq!(did_you_mean("regex", &known), "");
        assert_eq!(did_you_mean(&"equals".repeat(1000), &known), "");
    }
}
