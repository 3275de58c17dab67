//! The inverted index of a group of blocks, the part of a block in it, and what it has of a query.
//!
//! Most of the time of a lookup is spent waiting for memory, and neighbouring blocks have many words in common. So blocks
//! share an index where possible, and a search looks its words up once for all blocks of a group.

use std::ops::Range;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::columns::{BLOCK_RECORDS, Columns};
use crate::lexical::dictionary::{Dictionary, DictionaryBuilder, WordMatches};
use crate::lexical::postings::GROUP_BLOCKS;
use crate::lexical::query::{LexicalQuery, is_name};
use crate::lexical::score::MAX_LENGTH;
use crate::lexical::text_columns::TextColumns;
use crate::lexical::words::each_word;

/// The words of some blocks, and the records that have each. The texts themselves stay in the columns.
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
    pub(crate) fn add(&mut self, columns: &Columns, of: &TextColumns) -> Box<[u8]> {
        debug_assert!(self.blocks < GROUP_BLOCKS);
        let first = self.blocks * BLOCK_RECORDS;
        self.blocks += 1;
        let mut lengths = Vec::with_capacity(columns.len());
        let mut joined = String::new();
        for slot in 0..columns.len() {
            let number = (first + slot) as u16;
            let mut length = 0;
            of.each_text(columns, slot, |_, text| {
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

/// A block in the index of its group.
#[derive(Debug)]
pub(crate) struct BlockIndex {
    group: Arc<GroupIndex>,
    /// The place of the block in the group.
    at: usize,
    /// The number of words of each record, at most [`MAX_LENGTH`](crate::lexical::score::MAX_LENGTH).
    pub(super) lengths: Box<[u8]>,
}

impl BlockIndex {
    /// The block at a place of a group. `lengths` are those that [`GroupBuilder::add`] returned for the block.
    pub(crate) fn new(group: Arc<GroupIndex>, at: usize, lengths: Box<[u8]>) -> Self {
        Self { group, at, lengths }
    }

    /// Indexes the records of a block as a group of one block.
    pub(crate) fn build(columns: &Columns, of: &TextColumns) -> Self {
        let mut builder = GroupBuilder::default();
        let lengths = builder.add(columns, of);
        Self::new(Arc::new(builder.finish()), 0, lengths)
    }

    /// The index of the group, which its blocks share.
    pub(crate) fn group(&self) -> &Arc<GroupIndex> {
        &self.group
    }

    /// The place of the block in the group.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Bytes on the heap. Each block of a group has an equal part of the group's bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.group.memory_bytes() / self.group.blocks() + self.lengths.len()
    }
}

/// The index of a block's words, once a search or a background job needed it. The job may replace it by a place in a
/// larger group.
#[derive(Debug, Default)]
pub(crate) struct BlockWords {
    index: RwLock<Option<Arc<BlockIndex>>>,
    building: Mutex<()>,
}

impl BlockWords {
    /// The index, if it is there.
    pub(crate) fn get(&self) -> Option<Arc<BlockIndex>> {
        self.index.read().clone()
    }

    /// The index, which is built if it is not there yet.
    pub(crate) fn get_or_build(&self, build: impl FnOnce() -> BlockIndex) -> Arc<BlockIndex> {
        self.get().unwrap_or_else(|| {
            // Of several searches that need the index, one builds it, and `get` does not wait for it.
            let _building = self.building.lock();
            self.get().unwrap_or_else(|| {
                let index = Arc::new(build());
                self.set(Arc::clone(&index));
                index
            })
        })
    }

    /// Sets or replaces the index.
    pub(crate) fn set(&self, index: Arc<BlockIndex>) {
        *self.index.write() = Some(index);
    }
}

/// What the index of a group has of a query, by block.
#[derive(Debug)]
pub(crate) struct GroupMatches {
    of_blocks: Vec<BlockLists>,
}

/// What the index of a group has of a query, for one block.
#[derive(Debug, Default)]
pub(super) struct BlockLists {
    /// The words that match each term, in the order of the terms. Of those that match the same term, the best comes first.
    pub(super) words: Vec<FoundList>,
    /// The names that match, as those of term 0.
    pub(super) names: Vec<FoundList>,
}

/// The records of a block that have a word that matches.
#[derive(Clone, Debug)]
pub(super) struct FoundList {
    /// The index of the term in the query.
    pub(super) term: u16,
    /// How well the word matches it.
    pub(super) grade: u16,
    /// Where the dictionary has the slots of the records.
    pub(super) list: Range<u32>,
}

impl GroupMatches {
    /// Looks up the words of a query.
    pub(crate) fn find(index: &GroupIndex, query: &LexicalQuery) -> Self {
        let mut of_blocks: Vec<BlockLists> = Vec::new();
        of_blocks.resize_with(index.blocks(), BlockLists::default);
        let mut matches = WordMatches::default();
        for (term, wanted) in (0..).zip(&query.terms) {
            index.words.find_matches(wanted, &mut matches);
            // The best match of a record counts.
            let found = &mut matches.found;
            found.sort_unstable_by_key(|&(grade, _)| std::cmp::Reverse(grade));
            for &(grade, word) in found.iter() {
                let grade = grade as u16;
                index.words.each_list(word, |block, list| {
                    let lists = &mut of_blocks[block].words;
                    lists.push(FoundList { term, grade, list });
                });
            }
        }
        if let Some(name) = &query.name {
            index.names.find_matches(name, &mut matches);
            for &(grade, word) in &matches.found {
                let (term, grade) = (0, grade as u16);
                index.names.each_list(word, |block, list| {
                    let lists = &mut of_blocks[block].names;
                    lists.push(FoundList { term, grade, list });
                });
            }
        }
        Self { of_blocks }
    }

    pub(super) fn of_block(&self, at: usize) -> &BlockLists {
        &self.of_blocks[at]
    }
}
