//! The inverted index of a block.

use crate::columns::Columns;
use crate::lexical::dictionary::{Dictionary, DictionaryBuilder};
use crate::lexical::query::is_name;
use crate::lexical::score::MAX_LENGTH;
use crate::lexical::text_columns::TextColumns;
use crate::lexical::words::each_word;

/// The words of a block's embedded columns, and the records that have each. The texts themselves stay in the columns.
#[derive(Debug)]
pub(crate) struct BlockIndex {
    pub(super) words: Dictionary,
    /// The short columns, their words written as one.
    pub(super) names: Dictionary,
    /// The number of words of each record, at most [`MAX_LENGTH`].
    pub(super) lengths: Box<[u8]>,
}

impl BlockIndex {
    /// Indexes the records of a block.
    pub(crate) fn build(columns: &Columns, embedded: &TextColumns) -> Self {
        let (mut words, mut names) = (DictionaryBuilder::default(), DictionaryBuilder::default());
        let mut lengths = Vec::with_capacity(columns.len());
        let mut joined = String::new();
        for slot in 0..columns.len() {
            let mut length = 0;
            embedded.each_text(columns, slot, |text| {
                joined.clear();
                each_word(text, |word| {
                    length += 1;
                    words.add(word, slot as u16);
                    if is_name(&joined) {
                        joined.push_str(word);
                    }
                    true
                });
                if !joined.is_empty() && is_name(&joined) {
                    names.add(&joined, slot as u16);
                }
            });
            lengths.push(length.min(MAX_LENGTH) as u8);
        }
        Self {
            words: words.finish().with_places(),
            names: names.finish(),
            lengths: lengths.into(),
        }
    }

    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.words.memory_bytes() + self.names.memory_bytes() + self.lengths.len()
    }
}
