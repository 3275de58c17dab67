//! The words of a text, folded: lower case, without diacritics.

use std::iter::Peekable;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Letters of a word at most. Longer words are cut to this many letters, so that no word takes long to compare.
pub(crate) const MAX_LETTERS: usize = 64;

/// Calls `visit` with each folded word of a text, in order, until it returns false.
///
/// Words are those of Unicode (UAX #29) that have a letter or a digit, split further at `.`, `_` and `:` next to a letter:
/// `example.com` is two words, and `3.11` is one. A `+` or `#` that follows a word belongs to it, so that `c++` is another
/// word than `c`. Diacritics are removed before the text is split, so that composed and decomposed letters have the same
/// words.
pub(crate) fn each_word(text: &str, mut visit: impl FnMut(&str) -> bool) {
    // Most texts are ASCII, and the tables of Unicode are slow.
    if text.is_ascii() {
        each_word_of(ascii_pieces(text), |word, _| visit(word));
    } else {
        let text: String = without_diacritics(text).collect();
        each_word_of(text.split_word_bounds(), |word, _| visit(word));
    }
}

/// A text in the form NFD without diacritics. Not in the form NFKD, in which the sign of `word™` and the digit of `word¹`
/// would belong to the word.
pub(super) fn without_diacritics(text: &str) -> impl Iterator<Item = char> {
    text.nfd().filter(|letter| !is_diacritic(*letter))
}

pub(super) fn is_diacritic(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}')
}

/// The pieces of an ASCII text: the words, as Unicode splits them, and each character between them.
pub(super) fn ascii_pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let first = *bytes.first()?;
        let mut end = 1;
        while is_part(first) && end < bytes.len() {
            if is_part(bytes[end]) {
                end += 1;
                continue;
            }
            let around = (bytes[end - 1], bytes.get(end + 1).copied().unwrap_or(0));
            let letters = around.0.is_ascii_alphabetic() && around.1.is_ascii_alphabetic();
            let digits = around.0.is_ascii_digit() && around.1.is_ascii_digit();
            let joins = match bytes[end] {
                b'.' | b'\'' => letters || digits,
                b':' => letters,
                b',' | b';' => digits,
                _ => false,
            };
            if !joins {
                break;
            }
            end += 1;
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// Calls `visit` with each folded word of the pieces of a text, and its place in the text, in bytes, until it returns false.
pub(super) fn each_word_of<'a>(
    pieces: impl Iterator<Item = &'a str>,
    mut visit: impl FnMut(&str, Range<usize>) -> bool,
) {
    let mut folded = String::new();
    let (mut pieces, mut end) = (pieces.peekable(), 0);
    while let Some(piece) = pieces.next() {
        let start = end;
        end += piece.len();
        if !piece.chars().any(char::is_alphanumeric) {
            continue;
        }
        // Most words are letters and digits of ASCII, which need not be split further.
        if piece.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            folded.clear();
            folded.push_str(piece);
            folded.make_ascii_lowercase();
            end += push_marks(&mut pieces, &mut folded);
            cut(&mut folded);
            if !visit(&folded, start..end) {
                return;
            }
            continue;
        }
        let mut parts = parts(piece).peekable();
        while let Some((at, part)) = parts.next() {
            folded.clear();
            fold_into(part, &mut folded);
            folded.retain(|letter| letter != '\'');
            let mut place = start + at..start + at + part.len();
            if parts.peek().is_none() {
                end += push_marks(&mut pieces, &mut folded);
                place.end = end;
            }
            cut(&mut folded);
            if folded.contains(char::is_alphanumeric) && !visit(&folded, place) {
                return;
            }
        }
    }
}

/// Appends the marks that belong to the word before them, and returns their bytes.
fn push_marks<'a>(
    pieces: &mut Peekable<impl Iterator<Item = &'a str>>,
    folded: &mut String,
) -> usize {
    let mut bytes = 0;
    while let Some(mark) = pieces.next_if(|next| matches!(*next, "+" | "#" | "＋" | "＃")) {
        fold_into(mark, folded);
        bytes += mark.len();
    }
    bytes
}

/// Splits a word of Unicode at `.`, `_` and `:` next to a letter. Each part has its place in the word, in bytes.
fn parts(word: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = Some((0, word));
    std::iter::from_fn(move || {
        let (start, text) = rest?;
        let mut before = None;
        for (at, letter) in text.char_indices() {
            if matches!(letter, '.' | '_' | ':' | '．' | '＿' | '：') {
                let after = at + letter.len_utf8();
                let (head, tail) = (&text[..at], &text[after..]);
                let near = [before, tail.chars().next()];
                if near.into_iter().flatten().any(char::is_alphabetic) {
                    rest = Some((start + after, tail));
                    return Some((start, head));
                }
            }
            before = Some(letter);
        }
        rest = None;
        Some((start, text))
    })
}

/// A text folded, with white space around it removed and white space inside reduced to single spaces.
pub(crate) fn fold_text(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for part in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        fold_into(part, &mut folded);
    }
    folded
}

/// Appends a text in lower case, without diacritics, and with compatibility characters such as `ﬁ` replaced.
fn fold_into(text: &str, out: &mut String) {
    if text.is_ascii() {
        out.extend(
            text.bytes()
                .map(|byte| char::from(byte.to_ascii_lowercase())),
        );
        return;
    }
    let letters = text.nfkd().filter(|letter| !is_diacritic(*letter));
    for letter in letters.flat_map(char::to_lowercase) {
        match letter {
            'ς' => out.push('σ'),
            'ø' => out.push('o'),
            'ł' => out.push('l'),
            'đ' | 'ð' => out.push('d'),
            'ı' => out.push('i'),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ß' => out.push_str("ss"),
            'þ' => out.push_str("th"),
            '’' => out.push('\''),
            letter => out.push(letter),
        }
    }
}

/// Cuts a word to [`MAX_LETTERS`] letters.
fn cut(word: &mut String) {
    if word.len() > MAX_LETTERS
        && let Some((end, _)) = word.char_indices().nth(MAX_LETTERS)
    {
        word.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| {
            words.push(word.to_owned());
            true
        });
        words
    }

    #[test]
    fn words_are_those_of_unicode_without_case_and_diacritics() {
        for (text, expected) in [
            (
                "The Debian’s GNU/Linux",
                vec!["the", "debians", "gnu", "linux"],
            ),
            (
                "python3.11-dev libgtk-3-0",
                vec!["python3.11", "dev", "libgtk", "3", "0"],
            ),
            ("C++ and c# g++-12", vec!["c++", "and", "c#", "g++", "12"]),
            (
                "Crème BRÛLÉE œuvre ΣΊΣΥΦΟΣ",
                vec!["creme", "brulee", "oeuvre", "σισυφοσ"],
            ),
            ("don't ﬁnd İstanbul", vec!["dont", "find", "istanbul"]),
            (
                "example.com os.path_name 3.11:4 a.b.c.",
                vec![
                    "example", "com", "os", "path", "name", "3.11", "4", "a", "b", "c",
                ],
            ),
            ("Øresund Łódź straße", vec!["oresund", "lodz", "strasse"]),
            ("日本語", vec!["日", "本", "語"]),
            ("e\u{301}_1 é_1", vec!["e", "1", "e", "1"]),
            ("é.\u{301}b e\u{301}:4", vec!["e", "b", "e", "4"]),
            ("ａ．ｂ＿１ Ｃ＋＋", vec!["a", "b", "1", "c++"]),
            ("Windows™ note¹ m²", vec!["windows", "note", "1", "m", "2"]),
            ("+ - ++ #!?", vec![]),
            ("a\u{0}b", vec!["a", "b"]),
            ("\u{301}\u{301}", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn composed_and_decomposed_letters_have_the_same_words() {
        let letters: Vec<char> = "aÅ é1._:’'+ \u{301}ﬁ．＿½ǅ".chars().collect();
        let mut seed = 5_u32;
        for _ in 0..20_000 {
            let mut next = |below: usize| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 16) as usize % below
            };
            let text: String = (0..next(9)).map(|_| letters[next(letters.len())]).collect();
            let expected = words(&text);
            for form in [text.nfc().collect::<String>(), text.nfd().collect()] {
                assert_eq!(words(&form), expected, "{text:?} {form:?}");
            }
        }
    }

    #[test]
    fn ascii_texts_have_the_words_of_unicode() {
        let mut seed = 3_u32;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        const LETTERS: &[u8] = b"abZ019._:;,'+#- \n\t\"@/";
        for round in 0..50_000 {
            let text: String = (0..next(12))
                .map(|_| match next(20) {
                    0 => char::from(next(128) as u8),
                    _ => char::from(LETTERS[next(LETTERS.len() as u32) as usize]),
                })
                .collect();
            let mut expected = Vec::new();
            each_word_of(text.split_word_bounds(), |word, _| {
                expected.push(word.to_owned());
                true
            });
            assert_eq!(words(&text), expected, "round {round}: {text:?}");
        }
    }

    #[test]
    fn a_long_word_is_cut() {
        assert_eq!(words(&"ab".repeat(5_000)), ["ab".repeat(32)]);
        assert_eq!(words(&"é".repeat(10_000)), ["e".repeat(64)]);
        assert_eq!(words(&"д".repeat(10_000)), ["д".repeat(64)]);
    }

    #[test]
    fn the_same_letters_composed_and_decomposed_are_one_word() {
        assert_eq!(words("e\u{301}te\u{301}"), words("été"));
        assert_eq!(words("한국어"), words("\u{1112}\u{1161}\u{11ab}국어"));
        // Marks that are letters of their own in other scripts stay.
        assert_ne!(words("か"), words("が"));
        assert_ne!(words("कि"), words("क"));
    }

    #[test]
    fn a_folded_text_keeps_what_is_no_word() {
        assert_eq!(fold_text("  G++ \n Übung! "), "g++ ubung!");
        assert_eq!(fold_text(" \t"), "");
    }
}
