//! The lexical score: how well a record has the words of a query. It depends on the two alone.

use crate::columns::Columns;
use crate::lexical::query::{LexicalQuery, MAX_NAME_LETTERS, MAX_WORDS, is_name};
use crate::lexical::term::FULL;
use crate::lexical::text_columns::TextColumns;
use crate::lexical::words::{each_word, fold_text};
use crate::record::{SCORE_STEPS, Score};

/// The part of a word's grade that counts, in thousandths, by how often the record has its best match. An exact word
/// counts more than any number of other matches, because `plural` is below the first of these factors.
const FREQUENCY: [u64; 5] = [0, 950, 980, 990, 1_000];

/// The parts of words and of phrases in the score of the words, in thousandths. The parts sum to 1,000.
const SHARES_OF_WORDS: [u64; 2] = [800, 200];

/// The parts of the words and of the whole column in the score, in thousandths. The parts sum to 1,000.
const SHARES: [u64; 2] = [600, 400];

/// The grade of a column that has the words of the query, but is not the same text.
pub(crate) const SAME_WORDS: u32 = 950;

/// The part of the grade of a column as a whole that counts, in thousandths, by the place of the column among those with
/// words. The last part is that of all further columns. A first column, usually a name, wins against an equal later one.
pub(crate) const PLACES: [u32; 3] = [1_000, 900, 800];

/// Records of up to this many words are not longer than others.
const SHORT_WORDS: u64 = 16;

/// The score of the words of a record with `n` words more than [`SHORT_WORDS`] is multiplied by
/// `LENGTH / (LENGTH + n)`, where `n` is at most [`MAX_LENGTH`].
const LENGTH: u64 = 1_600;

/// Words of a record that its length counts.
pub(crate) const MAX_LENGTH: u64 = 255;

/// What a record has of a query.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Evidence {
    /// The sum over the words of the query: weight, times grade, times frequency.
    pub(crate) words: u64,
    /// The sum over the pairs of the query: weight, times grade.
    pub(crate) pairs: u64,
    /// The grade of the best column as a whole.
    pub(crate) whole: u32,
    /// The number of words of the record.
    pub(crate) length: u64,
}

/// The function that computes the lexical scores of a text: from the texts of a record's columns how well the record has the
/// words of the text, in steps of 1e-9. `is_unfinished`: the last word is the beginning of one. Each column may have the part
/// of its matches that counts, in thousandths.
///
/// ```
/// use cosift_engine::lexical_scorer;
///
/// let score = lexical_scorer("GCC", false);
/// assert_eq!(score(&[("gcc", None), ("The GNU Compiler Collection", None)]), 1_000_000_000);
/// assert!(score(&[("gcc-doc", None)]) > score(&[("a guide to gcc", None)]));
/// assert!(score(&[("gcc", Some(1_000))]) > score(&[("gcc", Some(500))]));
/// assert_eq!(score(&[("rustc", None)]), 0);
/// ```
pub fn lexical_scorer(text: &str, is_unfinished: bool) -> impl Fn(&[(&str, Option<u32>)]) -> u32 {
    let query = LexicalQuery::parse(text, is_unfinished);
    move |columns| {
        query.as_ref().map_or(0, |query| {
            let mut matches = Matches::default();
            for (column, part) in columns {
                matches.add_column(query, u64::MAX, column, *part);
            }
            query.combine(&matches.evidence(query)).0
        })
    }
}

/// The grade of a match in a column, of whose matches `part` thousandths count.
pub(crate) fn counted(grade: u32, part: Option<u32>) -> u32 {
    grade * part.unwrap_or(FULL) / FULL
}

/// How often a record has the best match of a word, as a factor in thousandths.
pub(crate) fn frequency(count: usize) -> u64 {
    FREQUENCY[count.min(FREQUENCY.len() - 1)]
}

impl LexicalQuery {
    /// The lexical score of a record of a block. `found` has a bit for each term that the record may match; the others
    /// are not compared.
    pub(crate) fn score(
        &self,
        columns: &Columns,
        of: &TextColumns,
        slot: usize,
        found: u64,
    ) -> Score {
        let mut matches = Matches::default();
        of.each_text(columns, slot, |id, text| {
            matches.add_column(self, found, text, of.part_of(id));
        });
        self.combine(&matches.evidence(self))
    }

    /// The lexical score of a text alone.
    pub(crate) fn score_of(&self, text: &str) -> Score {
        let mut matches = Matches::default();
        matches.add_column(self, u64::MAX, text, None);
        self.combine(&matches.evidence(self))
    }

    /// The score of what a record has. It does not decrease when `words`, `pairs` or `whole` rise, or `length` falls.
    pub(crate) fn combine(&self, evidence: &Evidence) -> Score {
        if evidence.whole == FULL {
            return Score(SCORE_STEPS);
        }
        const THOUSAND: u64 = 1_000;
        let steps = u64::from(SCORE_STEPS);
        // Weights are below 2^16, and there are at most 64 words: the products stay below 2^63.
        let words = evidence.words * (steps / (THOUSAND * THOUSAND)) / self.weight.max(1);
        // The square, because one word of four tells less than a quarter of what all four tell.
        let words = words * words / steps;
        let pairs = evidence.pairs * (steps / THOUSAND);
        // A single word is its own phrase.
        let pairs = pairs.checked_div(self.pairs_weight).unwrap_or(words);
        let [of_words, of_phrases] = SHARES_OF_WORDS;
        let body = (of_words * words + of_phrases * pairs) / THOUSAND;
        let beyond = evidence.length.min(MAX_LENGTH).saturating_sub(SHORT_WORDS);
        let body = body * LENGTH / (LENGTH + beyond);
        let whole = u64::from(evidence.whole) * (steps / THOUSAND);
        let [of_body, of_whole] = SHARES;
        Score(((of_body * body + of_whole * whole) / THOUSAND) as u32)
    }

    /// The bytes of words of a column, written as one, that are compared as a whole, at most, without those of the last word.
    pub(super) fn longest_joined(&self) -> usize {
        self.joined.len().max(4 * MAX_NAME_LETTERS)
    }

    /// The grade of a column as a whole. `joined`: its words written as one.
    pub(super) fn grade_of_column(&self, joined: &str, column: &str) -> u32 {
        if joined == self.joined && fold_text(column) == self.text {
            return FULL;
        }
        match &self.name {
            Some(_) if joined == self.joined => SAME_WORDS,
            Some(name) if is_name(joined) => name.grade(joined),
            _ => 0,
        }
    }
}

/// The matches found so far in the columns of a record.
struct Matches {
    /// For each word of the query, the best grade and how often the record has it.
    terms: [(u32, usize); MAX_WORDS],
    /// For each pair of the query, the best grade.
    pairs: [u32; MAX_WORDS],
    /// The terms that the record has as they are, a bit each.
    exact: u64,
    whole: u32,
    length: u64,
    /// The number of columns with words.
    columns: usize,
}

impl Default for Matches {
    fn default() -> Self {
        Self {
            terms: [(0, 0); MAX_WORDS],
            pairs: [0; MAX_WORDS],
            exact: 0,
            whole: 0,
            length: 0,
            columns: 0,
        }
    }
}

impl Matches {
    /// `found`: the terms that are compared, a bit each. `part`: the part of the matches that counts, in thousandths;
    /// `None` for all of a word, and what the place of the column says of the whole.
    fn add_column(&mut self, query: &LexicalQuery, found: u64, column: &str, part: Option<u32>) {
        let mut joined = String::new();
        // The grades of the terms that the word before matched, and a bit for each of these terms.
        let (mut before, mut matched_before) = ([0; MAX_WORDS], 0_u64);
        each_word(column, |word| {
            self.length += 1;
            if joined.len() <= query.longest_joined() {
                joined.push_str(word);
            }
            let (mut grades, mut matched) = ([0; MAX_WORDS], 0_u64);
            for (at, term) in query.terms.iter().enumerate() {
                if found >> at & 1 == 0 {
                    continue;
                }
                let grade = term.grade(word);
                self.exact |= u64::from(grade == FULL) << at;
                let grade = counted(grade, part);
                if grade == 0 {
                    continue;
                }
                grades[at] = grade;
                matched |= 1 << at;
                let (best, count) = &mut self.terms[at];
                if grade > *best {
                    (*best, *count) = (grade, 1);
                } else if grade == *best {
                    *count += 1;
                }
            }
            if matched_before != 0 && matched != 0 {
                for (best, pair) in self.pairs.iter_mut().zip(&query.pairs) {
                    *best = (*best).max(before[pair.first].min(grades[pair.second]));
                }
            }
            if matched != 0 {
                before = grades;
            } else if matched_before != 0 {
                before = [0; MAX_WORDS];
            }
            matched_before = matched;
            true
        });
        if !joined.is_empty() {
            let part = part.unwrap_or(PLACES[self.columns.min(PLACES.len() - 1)]);
            let grade = counted(query.grade_of_column(&joined, column), Some(part));
            self.whole = self.whole.max(grade);
            self.columns += 1;
        }
    }

    fn evidence(&self, query: &LexicalQuery) -> Evidence {
        let words = query.terms.iter().zip(&self.terms);
        // The index finds a long text by its words, so an equal text that is split into other words does not count. There
        // are such texts: `m²` has two words, and `m2` one.
        let is_split = (self.exact.count_ones() as usize) < query.terms.len();
        let whole = if query.name.is_none() && is_split {
            0
        } else {
            self.whole
        };
        let pairs = query.pairs.iter().zip(&self.pairs);
        Evidence {
            words: words
                .map(|(term, &(grade, count))| {
                    u64::from(term.weight) * u64::from(grade) * frequency(count)
                })
                .sum(),
            pairs: pairs
                .map(|(pair, &grade)| pair.weight * u64::from(grade))
                .sum(),
            whole,
            length: self.length,
        }
    }
}

#[cfg(test)]
mod tests;
