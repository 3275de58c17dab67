//! The inverted index of a group of blocks.
//!
//! Most of the time of a lookup is spent waiting for memory, and neighbouring blocks have many words in common. So blocks
//! share an index where possible, and a search looks its words up once for all blocks of a group.

use crate::columns::{BLOCK_RECORDS, Columns};
use crate::lexical::dictionary::{Dictionary, DictionaryBuilder};
use crate::lexical::postings::GROUP_BLOCKS;
use crate::lexical::query::is_name;
use crate::lexical::score::MAX_LENGTH;
use crate::lexical::text_columns::TextColumns;
use crate::lexical::words::each_word;

/// The words of the embedded columns of some blocks, and the records that have each. The texts themselves stay in the
/// columns.
#[derive(Debug)]
pub(crate) struct GroupIndex {
    pub(super) words: Dictionary,
    /// The short columns, their words written as one.
    pub(super) names: Dictionary,
    blocks: usize,
}

/// Collects the words of up to [`GROUP_BLOCKS`] blocks.
#[derive(Default)]
pub(crate) struct GroupBuilder {
    words: DictionaryBuilder,
    names: DictionaryBuilder,
    blocks: usize,
}

impl GroupBuilder {
    /// Adds the records of a block. Returns the number of words of each, at most [`MAX_LENGTH`].
    pub(crate) fn add(&mut self, columns: &Columns, embedded: &TextColumns) -> Box<[u8]> {
        debug_assert!(self.blocks < GROUP_BLOCKS);
        let first = self.blocks * BLOCK_RECORDS;
        self.blocks += 1;
        let mut lengths = Vec::with_capacity(columns.len());
        let mut joined = String::new();
        for slot in 0..columns.len() {
            let number = (first + slot) as u16;
            let mut length = 0;
            embedded.each_text(columns, slot, |text| {
                joined.clear();
                each_word(text, |word| {
                    length += 1;
                    self.words.add(word, number);
                    if is_name(&joined) {
                        joined.push_str(word);
                    }
                    true
                });
                if !joined.is_empty() && is_name(&joined) {
                    self.names.add(&joined, number);
                }
            });
            lengths.push(length.min(MAX_LENGTH) as u8);
        }
        lengths.into()
    }

    /// The index of the blocks, whose places are in the order in which they were added.
    pub(crate) fn finish(self) -> GroupIndex {
        GroupIndex {
            words: self.words.finish().with_places(),
            names: self.names.finish(),
            blocks: self.blocks,
        }
    }
}

impl GroupIndex {
    /// The number of blocks that the index was built for. Some of them may have been replaced since.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.words.memory_bytes() + self.names.memory_bytes()
    }
}
