//! The words of a text with their places in it.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;
use unicode_segmentation::UnicodeSegmentation;

use crate::lexical::words::{ascii_pieces, each_word_of, is_diacritic, without_diacritics};

/// Calls `visit` with each folded word of a text, as [`each_word`](crate::lexical::words::each_word) does, and with its place in the text, in UTF-16 code
/// units. A place begins and ends with whole letters, and includes their diacritics.
pub(crate) fn each_word_place(text: &str, mut visit: impl FnMut(&str, Range<usize>)) {
    if text.is_ascii() {
        each_word_of(ascii_pieces(text), |word, place| {
            visit(word, place);
            true
        });
        return;
    }
    let mut folded = String::with_capacity(text.len());
    // Where each letter begins: in `folded`, in bytes, and in the text, in UTF-16 code units.
    let (mut starts, mut place) = (Vec::new(), 0);
    for letter in letters(text) {
        starts.push((folded.len(), place));
        folded.extend(without_diacritics(letter));
        place += letter.encode_utf16().count();
    }
    starts.push((folded.len(), place));
    each_word_of(folded.split_word_bounds(), |word, Range { start, end }| {
        let first = starts.partition_point(|&(at, _)| at <= start) - 1;
        let last = starts.partition_point(|&(at, _)| at < end);
        visit(word, starts[first].1..starts[last].1);
        true
    });
}

/// The letters of a text, each with its combining marks. In the form NFD, marks change their places within a letter only.
fn letters(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |letter: char| {
        let first = std::iter::once(letter).nfd().next().unwrap_or(letter);
        is_diacritic(first) || canonical_combining_class(first) != 0
    };
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut after_first = rest.char_indices().skip(1);
        let end = after_first.find(|&(_, letter)| !is_mark(letter));
        let (letter, after) = rest.split_at(end.map_or(rest.len(), |(end, _)| end));
        rest = after;
        (!letter.is_empty()).then_some(letter)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::words::each_word;

    /// The words of a text, and the part of the text that each is at.
    fn places(text: &str) -> Vec<(String, String)> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut places = Vec::new();
        each_word_place(text, |word, place| {
            let part = String::from_utf16(&units[place]).expect("whole letters");
            places.push((word.to_owned(), part));
        });
        places
    }

    #[test]
    fn the_place_of_a_word_has_its_letters_with_their_diacritics() {
        for (text, expected) in [
            ("The c++ of os.path_name", "The|c++|of|os|path|name"),
            (
                "🎉 Crème, cre\u{301}\u{327}me 𝄞",
                "Crème|cre\u{301}\u{327}me",
            ),
            ("é e\u{301}_1\u{308}: \u{301}x", "é|e\u{301}|1\u{308}|x"),
            (
                "ﬁnd İstanbul ＡＢ＋＋ Debian’s",
                "ﬁnd|İstanbul|ＡＢ＋＋|Debian’s",
            ),
            ("한국어 日本 𝒙² m²", "한국어|日|本|𝒙|²|m|²"),
            ("a\u{200d}b a\u{34f}\u{301}c", "a\u{200d}b|a\u{34f}\u{301}c"),
            ("\u{f40}\u{f74}\u{f73} é", "\u{f40}\u{f74}\u{f73}|é"),
        ] {
            let parts: Vec<String> = places(text).into_iter().map(|(_, part)| part).collect();
            assert_eq!(parts.join("|"), expected, "{text:?}");
        }
    }

    #[test]
    fn words_with_places_are_the_words_of_the_text() {
        let letters: Vec<char> = "aÅ é1._:’'+ \u{301}ﬁ．＿½ǅ🎉𝒙한\u{1161}\u{34f}\u{200d}\u{f74}\u{f73}\u{f80}\u{5b0}\u{5b1}ß"
            .chars()
            .collect();
        let mut seed = 7_u32;
        for _ in 0..50_000 {
            let mut next = |below: usize| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 16) as usize % below
            };
            let text: String = (0..next(12))
                .map(|_| letters[next(letters.len())])
                .collect();
            let found: Vec<String> = places(&text).into_iter().map(|(word, _)| word).collect();
            let mut words = Vec::new();
            each_word(&text, |word| {
                words.push(word.to_owned());
                true
            });
            assert_eq!(found, words, "{text:?}");
            let mut end = 0;
            each_word_place(&text, |_, place| {
                assert!(place.start >= end && place.end > place.start, "{text:?}");
                end = place.end;
            });
        }
    }
}
