//! The words of a group of blocks, and the records that have each.

use std::ops::Range;

use cosift_kernels::find_near;
use hashbrown::HashMap;

use crate::lexical::postings::{each_list, write_lists};
use crate::lexical::term::{Term, hash};
use crate::lexical::words::MAX_LETTERS;

/// Each of so many words has its first bytes in `heads`.
const HEAD_EVERY: usize = 8;

/// Marks a free entry of `places`.
const FREE: u32 = u32::MAX;

/// The words of a group of blocks in the order of their bytes, each with the slots of its records in each block.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    /// The words, one after the other.
    text: Box<str>,
    /// Where each word starts, then the end of the last one.
    starts: Box<[u32]>,
    /// The first bytes of every eighth word, to find a word without reading many others.
    heads: Box<[u32]>,
    /// A hash table of the places of the words, with linear probing. Empty without [`Dictionary::with_places`].
    places: Box<[u32]>,
    /// The blocks that have each word, a bit each.
    blocks: Box<[u16]>,
    /// The lists of slots of each word, one after the other.
    slots: Box<[u8]>,
    /// Where the slots of each word start, then the end of the last ones.
    slot_starts: Box<[u32]>,
    /// The words by their number of letters.
    by_length: Box<[u32]>,
    /// The letters of each word of `by_length`, to rule out most words that are not similar.
    letters: Box<[u32]>,
    /// The [`Signature::others`] of each word of `by_length`, to rule out most of the rest.
    others: Box<[u32]>,
    /// For each number of letters, where its words start in `by_length`.
    length_starts: Box<[u32]>,
}

/// The words that match a term, and a buffer for those that may.
#[derive(Debug, Default)]
pub(super) struct WordMatches {
    /// The grade and the place of each word.
    pub(super) found: Vec<(u32, u32)>,
    near: Vec<u32>,
}

/// Collects the words of a group of blocks.
#[derive(Default)]
pub(super) struct DictionaryBuilder {
    /// The numbers of the records of each word, as [`write_lists`] takes them.
    numbers: HashMap<String, Vec<u16>>,
}

impl DictionaryBuilder {
    /// Adds a word of the record with a number, which is not below the numbers added before.
    pub(super) fn add(&mut self, word: &str, number: u16) {
        let numbers = self.numbers.entry_ref(word).or_default();
        if numbers.last() != Some(&number) {
            numbers.push(number);
        }
    }

    pub(super) fn finish(self) -> Dictionary {
        let mut words: Vec<(String, Vec<u16>)> = self.numbers.into_iter().collect();
        words.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let (mut text, mut starts) = (String::new(), vec![0]);
        let (mut slots, mut slot_starts) = (Vec::new(), vec![0]);
        let mut blocks = Vec::with_capacity(words.len());
        for (word, numbers) in &words {
            text.push_str(word);
            starts.push(text.len() as u32);
            blocks.push(write_lists(numbers, &mut slots));
            slot_starts.push(slots.len() as u32);
        }
        let lengths: Vec<usize> = words.iter().map(|(word, _)| length(word)).collect();
        let mut by_length: Vec<u32> = (0..words.len() as u32).collect();
        by_length.sort_by_key(|&at| lengths[at as usize]);
        let length_starts = (0..=MAX_LETTERS + 1)
            .map(|length| by_length.partition_point(|&at| lengths[at as usize] < length) as u32);
        let signatures = by_length
            .iter()
            .map(|&at| Signature::of(&words[at as usize].0));
        let (letters, others): (Vec<u32>, Vec<u32>) = signatures
            .map(|signature| (signature.letters, signature.others))
            .unzip();
        let heads = words.iter().step_by(HEAD_EVERY);
        Dictionary {
            heads: heads.map(|(word, _)| head(word)).collect(),
            length_starts: length_starts.collect(),
            letters: letters.into(),
            others: others.into(),
            text: text.into(),
            starts: starts.into(),
            blocks: blocks.into(),
            slots: slots.into(),
            slot_starts: slot_starts.into(),
            by_length: by_length.into(),
            places: Box::default(),
        }
    }
}

impl Dictionary {
    /// Adds a hash table, so that a search for a whole word reads less memory.
    pub(super) fn with_places(mut self) -> Self {
        let mut places = vec![FREE; (self.len() * 4 / 3 + 1).next_power_of_two()];
        for at in 0..self.len() {
            let hash = hash(self.word(at)) as usize;
            let mut entry = hash & (places.len() - 1);
            while places[entry] != FREE {
                entry = (entry + 1) & (places.len() - 1);
            }
            places[entry] = at as u32;
        }
        self.places = places.into();
        self
    }

    /// Adds the grade and the place of each word that matches a term. A word may come twice. Empties the list first.
    pub(super) fn find_matches(&self, term: &Term, matches: &mut WordMatches) {
        let WordMatches { found, near } = matches;
        found.clear();
        let mut visit = |grade, at: usize| found.push((grade, at as u32));
        if term.typos == 0 {
            self.each_exact(term, &mut visit);
        } else {
            self.each_similar(term, near, &mut visit);
        }
        if term.is_prefix {
            let first = self.first_from(&term.word);
            for at in first..self.len() {
                let word = self.word(at);
                if !word.starts_with(&*term.word) {
                    break;
                }
                visit(term.grade(word), at);
            }
        }
    }

    fn len(&self) -> usize {
        self.by_length.len()
    }

    fn word(&self, at: usize) -> &str {
        &self.text[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Calls `visit` with each block that has the word at a place, and its list for [`Dictionary::slots`].
    pub(super) fn each_list(&self, at: u32, mut visit: impl FnMut(usize, Range<u32>)) {
        let at = at as usize;
        let (start, end) = (self.slot_starts[at], self.slot_starts[at + 1]);
        let bytes = &self.slots[start as usize..end as usize];
        each_list(self.blocks[at], bytes, |block, list| {
            visit(block, start + list.start as u32..start + list.end as u32);
        });
    }

    /// A list of slots, as [`each_slot`](crate::lexical::postings::each_slot) reads it.
    pub(super) fn slots(&self, list: &Range<u32>) -> &[u8] {
        &self.slots[list.start as usize..list.end as usize]
    }

    /// The place of the first word that is not before `word`.
    fn first_from(&self, word: &str) -> usize {
        let text = self.text.as_bytes();
        let wanted = head(word);
        let before = self.heads.partition_point(|&head| head < wanted);
        // Few words have the same first bytes, so the next greater head is near.
        let heads = self.heads[before..].iter();
        let not_after = before + heads.take_while(|&&head| head <= wanted).count();
        let mut low = before.saturating_sub(1) * HEAD_EVERY;
        let mut high = (not_after * HEAD_EVERY).min(self.len());
        while low < high {
            let middle = low.midpoint(high);
            let found = &text[self.starts[middle] as usize..self.starts[middle + 1] as usize];
            if found < word.as_bytes() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Calls `visit` with the word of a term that allows no typos, its plural and its singular.
    fn each_exact(&self, term: &Term, visit: &mut impl FnMut(u32, usize)) {
        for (word, hash) in term.spellings() {
            if let Some(at) = self.find(word, hash) {
                visit(term.grade(word), at);
            }
        }
    }

    /// The place of a word.
    fn find(&self, word: &str, hash: u32) -> Option<usize> {
        if self.places.is_empty() {
            let at = self.first_from(word);
            return (at < self.len() && self.word(at) == word).then_some(at);
        }
        let mask = self.places.len() - 1;
        let mut entry = hash as usize & mask;
        // A quarter of the entries is free, so the loop ends.
        while self.places[entry] != FREE {
            let at = self.places[entry] as usize;
            if self.word(at) == word {
                return Some(at);
            }
            entry = (entry + 1) & mask;
        }
        None
    }

    /// Calls `visit` with the words that differ from a term by at most as many typos as it allows.
    fn each_similar(&self, term: &Term, near: &mut Vec<u32>, visit: &mut impl FnMut(u32, usize)) {
        let wanted = Signature::of(&term.word);
        let length = term.letters.len();
        for of_words in length - term.typos..=(length + term.typos).min(MAX_LETTERS) {
            let start = |length: usize| self.length_starts[length] as usize;
            let range = start(of_words)..start(of_words + 1);
            // A missing or an added letter changes one letter, a replaced one changes two, a swap none.
            let changes = (2 * term.typos - length.abs_diff(of_words)) as u32;
            near.clear();
            find_near(&self.letters[range.clone()], wanted.letters, changes, near);
            for &at in near.iter() {
                let at = range.start + at as usize;
                let (letters, others) = (self.letters[at], self.others[at]);
                if !(Signature { letters, others }).is_near(wanted, changes) {
                    continue;
                }
                let at = self.by_length[at] as usize;
                let grade = term.grade(self.word(at));
                if grade > 0 {
                    visit(grade, at);
                }
            }
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let offsets = [
            &self.starts,
            &self.heads,
            &self.slot_starts,
            &self.by_length,
            &self.letters,
            &self.others,
            &self.length_starts,
            &self.places,
        ];
        let offsets: usize = offsets.iter().map(|offsets| offsets.len()).sum();
        let blocks = self.blocks.len() * size_of::<u16>();
        self.text.len() + self.slots.len() + offsets * size_of::<u32>() + blocks
    }
}

/// The first four bytes of a word as a number: of two words, the later one does not have the lower number.
fn head(word: &str) -> u32 {
    let mut bytes = [0; 4];
    for (byte, &first) in bytes.iter_mut().zip(word.as_bytes()) {
        *byte = first;
    }
    u32::from_be_bytes(bytes)
}

/// The number of letters of a word, at most [`MAX_LETTERS`].
fn length(word: &str) -> usize {
    word.chars().count().min(MAX_LETTERS)
}

/// What a word has of each letter and of digits. A letter is one of 32 kinds, by its code.
#[derive(Clone, Copy)]
struct Signature {
    /// The kinds of letters that the word has.
    letters: u32,
    /// The kinds, of those in [`TWICE`], that the word has at least twice, and a hash of its digits in the other bits.
    others: u32,
}

/// The kinds of letters from a to z.
const TWICE: u32 = 0x07ff_fffe;

impl Signature {
    fn of(word: &str) -> Self {
        let (mut letters, mut twice, mut digits) = (0_u32, 0_u32, 0_u32);
        for letter in word.chars() {
            if letter.is_ascii_digit() {
                digits = digits.wrapping_mul(31).wrapping_add(u32::from(letter));
            } else {
                let kind = 1 << (u32::from(letter) % 32);
                twice |= letters & kind;
                letters |= kind;
            }
        }
        let hash = digits.wrapping_mul(0x9e37_79b1);
        Self {
            letters,
            others: (twice & TWICE) | (hash.rotate_left(6) & !TWICE),
        }
    }

    /// Whether the digits of two words may be equal while at most `max` letters differ. Each letter that only one of
    /// the words has flips at most one bit.
    fn is_near(self, other: Self, max: u32) -> bool {
        let others = self.others ^ other.others;
        let changes = (self.letters ^ other.letters).count_ones() + (others & TWICE).count_ones();
        others & !TWICE == 0 && changes <= max
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::lexical::postings::each_slot;
    use crate::lexical::term::{OF_COLUMNS, OF_UNFINISHED_WORDS, OF_WORDS};

    #[test]
    fn every_word_with_a_grade_is_found() {
        let mut seed = 11_u32;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) as usize % below
        };
        const LETTERS: [char; 10] = ['a', 'b', 'q', 's', 'x', '1', '2', '+', 'é', '日'];
        let mut word = || -> String {
            let kinds = 2 + next(9);
            (0..1 + next(12)).map(|_| LETTERS[next(kinds)]).collect()
        };
        let words: BTreeSet<String> = (0..4_000).map(|_| word()).collect();
        let mut builder = DictionaryBuilder::default();
        for (slot, word) in words.iter().enumerate() {
            builder.add(word, slot as u16);
        }
        let dictionary = builder.finish().with_places();
        let grades = [&OF_WORDS, &OF_UNFINISHED_WORDS, &OF_COLUMNS];
        let (mut similar, mut matches) = (0, WordMatches::default());
        for round in 0..1_000 {
            let term = Term::new(&word(), grades[round % 3], round % 2 == 0);
            let expected: BTreeSet<(usize, u32)> = (words.iter().enumerate())
                .map(|(slot, word)| (slot, term.grade(word)))
                .filter(|&(_, grade)| grade > 0)
                .collect();
            let mut found = BTreeSet::new();
            dictionary.find_matches(&term, &mut matches);
            for &(grade, at) in &matches.found {
                dictionary.each_list(at, |block, list| {
                    assert_eq!(block, 0);
                    each_slot(dictionary.slots(&list), |slot| {
                        found.insert((slot, grade));
                    });
                });
            }
            assert_eq!(found, expected, "{}", term.word);
            similar += expected.len();
        }
        assert!(similar > 5_000, "{similar}");
    }
}
