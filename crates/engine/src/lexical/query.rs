//! The text of a search, parsed for its exact words.

use crate::lexical::term::{OF_COLUMNS, OF_UNFINISHED_WORDS, OF_WORDS, Term};
use crate::lexical::words::{each_word, fold_text};

/// Words of a query that count. The words after them do not, unless a column equals the whole text.
pub(crate) const MAX_WORDS: usize = 64;

/// Letters at most of a column, or of a query, that is compared as a whole other than for equality.
pub(crate) const MAX_NAME_LETTERS: usize = 48;

/// The parsed text of a search.
#[derive(Clone, Debug)]
pub(crate) struct LexicalQuery {
    /// The text, folded.
    pub(crate) text: String,
    /// The distinct words.
    pub(crate) terms: Vec<Term>,
    /// The sum of their weights.
    pub(crate) weight: u64,
    /// Each two words that follow each other.
    pub(crate) pairs: Vec<Pair>,
    /// The sum of the weights of the pairs.
    pub(crate) pairs_weight: u64,
    /// The words written as one.
    pub(crate) joined: String,
    /// The same as a term, unless it is too long.
    pub(crate) name: Option<Term>,
}

/// Two words of a text that follow each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The index of the first word in the terms.
    pub(crate) first: usize,
    /// The index of the second word in the terms.
    pub(crate) second: usize,
    /// The two words, a bit each.
    pub(crate) terms: u64,
    /// The sum of the weights of the two words.
    pub(crate) weight: u64,
}

impl LexicalQuery {
    /// `None` for a text without words: it matches no record. `is_unfinished`: the last word is the beginning of one.
    pub(crate) fn parse(text: &str, is_unfinished: bool) -> Option<Self> {
        let mut words: Vec<String> = Vec::new();
        let mut joined = String::new();
        each_word(text, |word| {
            joined.push_str(word);
            if words.len() < MAX_WORDS {
                words.push(word.to_owned());
            }
            true
        });
        let last = words.last()?.clone();
        let mut terms: Vec<Term> = Vec::new();
        let places: Vec<usize> = words
            .iter()
            .map(|word| {
                let known = terms.iter().position(|term| term.word == *word);
                known.unwrap_or_else(|| {
                    let is_last = *word == last;
                    let grades = match is_last && is_unfinished {
                        true => &OF_UNFINISHED_WORDS,
                        false => &OF_WORDS,
                    };
                    terms.push(Term::new(word, grades, is_last));
                    terms.len() - 1
                })
            })
            .collect();
        let pair = |places: &[usize]| Pair {
            first: places[0],
            second: places[1],
            terms: 1 << places[0] | 1 << places[1],
            weight: u64::from(terms[places[0]].weight) + u64::from(terms[places[1]].weight),
        };
        let pairs: Vec<Pair> = places.windows(2).map(pair).collect();
        Some(Self {
            text: fold_text(text),
            weight: terms.iter().map(|term| u64::from(term.weight)).sum(),
            pairs_weight: pairs.iter().map(|pair| pair.weight).sum(),
            pairs,
            name: is_name(&joined).then(|| Term::new(&joined, &OF_COLUMNS, true)),
            terms,
            joined,
        })
    }
}

/// The number of words of a text that count.
pub(crate) fn count_words(text: &str) -> usize {
    let mut count = 0;
    each_word(text, |_| {
        count += 1;
        count < MAX_WORDS
    });
    count
}

/// Whether words written as one are short enough to be compared as a whole.
pub(crate) fn is_name(joined: &str) -> bool {
    joined.len() <= MAX_NAME_LETTERS || joined.chars().count() <= MAX_NAME_LETTERS
}
