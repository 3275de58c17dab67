//! The words of a group of blocks that match a query.

use std::ops::Range;

use crate::lexical::dictionary::WordMatches;
use crate::lexical::group_index::GroupIndex;
use crate::lexical::query::LexicalQuery;
use crate::lexical::term::{OF_COLUMNS, OF_WORDS};

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
            index.words.find_matches(wanted, &OF_WORDS, &mut matches);
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
            index.names.find_matches(name, &OF_COLUMNS, &mut matches);
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
