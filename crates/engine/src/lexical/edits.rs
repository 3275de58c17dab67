//! The edit distance of two words.

/// Typos of a match at most.
const MAX_TYPOS: usize = 2;

/// The cells of a row that are computed, and one at each end.
const BAND: usize = 2 * MAX_TYPOS + 3;

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other
/// (optimal string alignment), if it is at most `max`, which is at most [`MAX_TYPOS`].
pub(crate) fn distance_within<T: PartialEq>(a: &[T], b: &[T], max: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > max {
        return None;
    }
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    let same = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (a, b) = (&a[..a.len() - same], &b[..b.len() - same]);
    if a.len().min(b.len()) == 0 {
        // Within `max`, because the lengths are.
        return Some(a.len().max(b.len()));
    }
    // Cells further than `max` from the diagonal are above `max`, so a row has the cells `i - max..=i + max` of the table,
    // between two that are too far.
    let far = max as u8 + 1;
    let (mut before, mut last) = ([far; BAND], [far; BAND]);
    for (cell, at) in last[1 + max..].iter_mut().zip(0..=max as u8) {
        *cell = at;
    }
    for i in 1..=a.len() {
        let mut row = [far; BAND];
        let mut least = far;
        for j in i.saturating_sub(max)..=(i + max).min(b.len()) {
            let at = 1 + j + max - i;
            row[at] = if j == 0 {
                i as u8
            } else {
                let replaced = last[at] + u8::from(a[i - 1] != b[j - 1]);
                let swapped = if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    before[at] + 1
                } else {
                    far
                };
                replaced
                    .min(last[at + 1] + 1)
                    .min(row[at - 1] + 1)
                    .min(swapped)
            };
            least = least.min(row[at]);
        }
        if least >= far {
            return None;
        }
        before = last;
        last = row;
    }
    let distance = last[1 + b.len() + max - a.len()];
    Some(usize::from(distance)).filter(|&distance| distance <= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: &str, b: &str, max: usize) -> Option<usize> {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        distance_within(&a, &b, max)
    }

    #[test]
    fn a_swap_of_neighbours_counts_once() {
        for (a, b, expected) in [
            ("firefox", "firefox", Some(0)),
            ("firefox", "firefxo", Some(1)),
            ("firefox", "irefox", Some(1)),
            ("firefox", "firrefox", Some(1)),
            ("firefox", "farefox", Some(1)),
            ("firefox", "firefoxes", Some(2)),
            ("firefox", "friefxo", Some(2)),
            ("firefox", "chrome", None),
            ("ab", "ba", Some(1)),
            ("", "ab", Some(2)),
            ("", "abc", None),
            ("größe", "grösse", Some(2)),
        ] {
            assert_eq!(distance(a, b, 2), expected, "{a} {b}");
            assert_eq!(distance(b, a, 2), expected, "{b} {a}");
        }
    }

    #[test]
    fn the_band_finds_what_the_whole_table_finds() {
        let mut seed = 9_u32;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        for _ in 0..20_000 {
            let mut word = || -> String {
                let len = next(9);
                (0..len).map(|_| char::from(b'a' + next(3) as u8)).collect()
            };
            let (a, b) = (word(), word());
            let expected = strsim::osa_distance(&a, &b);
            for max in 0..3 {
                let found = distance(&a, &b, max);
                assert_eq!(found, Some(expected).filter(|&d| d <= max), "{a} {b} {max}");
            }
        }
    }
}
