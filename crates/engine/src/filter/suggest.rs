//! "Did you mean …?"

/// The known name that `given` is most likely a slip of, as the end of a sentence; empty if none.
pub(super) fn did_you_mean(given: &str, known: &[&str]) -> String {
    let simple = |name: &str| -> Vec<u8> {
        // Longer names than any known one are no slips; this bounds the work.
        name.bytes()
            .filter(u8::is_ascii_alphanumeric)
            .take(40)
            .map(|b| b.to_ascii_lowercase())
            .collect()
    };
    let given = simple(given);
    known
        .iter()
        .map(|name| (distance(&given, &simple(name)), name))
        .filter(|(distance, name)| *distance <= name.len().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map_or_else(String::new, |(_, name)| format!("; did you mean {name:?}?"))
}

/// Levenshtein distance, in bytes.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, byte) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (other, place) in b.iter().zip(1..) {
            let changed = diagonal + usize::from(byte != other);
            diagonal = row[place];
            row[place] = changed.min(row[place] + 1).min(row[place - 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_others_left_alone() {
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
