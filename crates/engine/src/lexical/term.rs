//! A word of a query, and how well a word of a record matches it.

use crate::lexical::edits::distance_within;
use crate::lexical::weights::{is_known, weight};

/// The grade of a match that could not be better.
pub(crate) const FULL: u32 = 1_000;

/// From this many letters on, a word may differ by one typo.
const ONE_TYPO_FROM: usize = 4;

/// From this many letters on, a word may differ by two typos.
const TWO_TYPOS_FROM: usize = 8;

/// From this many letters on, a word may have an `s` at its end that the other lacks.
const PLURAL_FROM: usize = 3;

/// From this many letters on, the last word of a query may be the beginning of a word.
const PREFIX_FROM: usize = 2;

/// The grades of matches that are not exact, 0 to [`FULL`].
#[derive(Debug)]
pub(crate) struct Grades {
    /// One of the words has an `s` at its end that the other lacks.
    plural: u32,
    /// The word begins with that of the query: the first grade, plus the second times the part of its letters that the
    /// query has.
    prefix: [u32; 2],
    /// One typo.
    one_typo: u32,
    /// Two typos.
    two_typos: u32,
}

/// Grades of single words.
pub(crate) static OF_WORDS: Grades = Grades {
    plural: 850,
    prefix: [0, 800],
    one_typo: 800,
    two_typos: 600,
};

/// Grades of the last word of a query that is still being typed. Any word that begins with it is a better match than one
/// with a typo, and a worse one than the whole word.
pub(crate) static OF_UNFINISHED_WORDS: Grades = Grades {
    plural: 850,
    prefix: [500, 300],
    one_typo: 480,
    two_typos: 400,
};

/// Grades of whole columns, whose words are written as one.
pub(crate) static OF_COLUMNS: Grades = Grades {
    plural: 800,
    prefix: [0, 300],
    one_typo: 800,
    two_typos: 600,
};

/// A folded word of a query.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) word: String,
    pub(crate) letters: Vec<char>,
    pub(crate) weight: u32,
    grades: &'static Grades,
    /// Typos that a match may have.
    pub(crate) typos: usize,
    /// Whether a longer word that begins with this one matches.
    pub(crate) is_prefix: bool,
    /// The word, and the other forms that match it as a plural or a singular: with an `s` at its end, and without the one
    /// that it has. Each with its [`hash`].
    spellings: Vec<(String, u32)>,
}

/// The hash of a word in a dictionary (FNV-1a, its bits mixed).
pub(super) fn hash(word: &str) -> u32 {
    let hash = word.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    hash ^ hash >> 15
}

impl Term {
    /// `may_continue`: the word may be the beginning of another.
    pub(crate) fn new(word: &str, grades: &'static Grades, may_continue: bool) -> Self {
        let letters: Vec<char> = word.chars().collect();
        // A word of the vocabulary is spelled correctly, and a number with another digit is another number.
        let is_exact = is_known(word) || letters.iter().all(char::is_ascii_digit);
        let typos = match letters.len() {
            _ if is_exact => 0,
            TWO_TYPOS_FROM.. => 2,
            ONE_TYPO_FROM.. => 1,
            _ => 0,
        };
        let longer = (letters.len() >= PLURAL_FROM).then(|| format!("{word}s"));
        let shorter = word.strip_suffix('s');
        let shorter = shorter.filter(|_| letters.len() > PLURAL_FROM);
        let spellings = std::iter::once(word.to_owned())
            .chain(longer)
            .chain(shorter.map(str::to_owned));
        Self {
            spellings: spellings
                .map(|word| {
                    let hash = hash(&word);
                    (word, hash)
                })
                .collect(),
            word: word.to_owned(),
            weight: weight(word),
            grades,
            typos,
            is_prefix: may_continue && letters.len() >= PREFIX_FROM,
            letters,
        }
    }

    /// The word, its plural and its singular, each with its [`hash`].
    pub(super) fn spellings(&self) -> impl Iterator<Item = (&str, u32)> {
        let spellings = self.spellings.iter();
        spellings.map(|(word, hash)| (word.as_str(), *hash))
    }

    /// How well a folded word matches: [`FULL`] if it is equal, 0 if it does not match.
    pub(crate) fn grade(&self, word: &str) -> u32 {
        if word == self.word {
            return FULL;
        }
        // Most words are ruled out by their length or their first letters.
        if self.typos == 0 && word.as_bytes().first() != self.word.as_bytes().first() {
            return 0;
        }
        if self.is_plural(word) {
            return self.grades.plural;
        }
        self.prefix_grade(word).max(self.typo_grade(word))
    }

    fn is_plural(&self, word: &str) -> bool {
        let (longer, shorter) = if word.len() > self.word.len() {
            (word, &*self.word)
        } else {
            (&*self.word, word)
        };
        longer.strip_suffix('s') == Some(shorter) && shorter.chars().nth(PLURAL_FROM - 1).is_some()
    }

    fn prefix_grade(&self, word: &str) -> u32 {
        if !self.is_prefix || !word.starts_with(&*self.word) {
            return 0;
        }
        let [least, by_length] = self.grades.prefix;
        least + by_length * self.letters.len() as u32 / word.chars().count() as u32
    }

    fn typo_grade(&self, word: &str) -> u32 {
        // A letter has at most four bytes.
        if self.typos == 0 || word.len().abs_diff(self.word.len()) > 4 * self.typos {
            return 0;
        }
        // A word with other digits, such as that of another version, is another word.
        if !digits(word).eq(digits(&self.word)) {
            return 0;
        }
        let distance = if word.is_ascii() && self.word.is_ascii() {
            distance_within(self.word.as_bytes(), word.as_bytes(), self.typos)
        } else {
            let letters: Vec<char> = word.chars().collect();
            distance_within(&self.letters, &letters, self.typos)
        };
        match distance {
            Some(0 | 1) => self.grades.one_typo,
            Some(_) => self.grades.two_typos,
            None => 0,
        }
    }
}

fn digits(word: &str) -> impl Iterator<Item = u8> {
    word.bytes().filter(u8::is_ascii_digit)
}
