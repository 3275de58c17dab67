//! The lexical part of a search: its weight, and the words of its text.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::columns::ColumnNames;
use crate::lexical::{
    BlockMatches, GroupIndex, GroupMatches, LexicalQuery, TextColumns, WordColumns,
};
use crate::record::{Score, Weight};
use crate::search::request::LexicalRequest;
use crate::snapshot::Block;

/// The lexical part of a search, bound to the columns of a database.
#[derive(Debug)]
pub(crate) struct LexicalSignal {
    weight: Weight,
    /// `None` for a text without words: then every lexical score is 0.
    pub(crate) query: Option<LexicalQuery>,
    pub(crate) columns: TextColumns,
    /// What each group of blocks has of the text, once a block of the group was scanned.
    found: Mutex<Vec<(Arc<GroupIndex>, FoundInGroup)>>,
}

/// What a group has of the text: the first thread that needs it finds it, and others wait for that thread.
type FoundInGroup = Arc<OnceLock<GroupMatches>>;

impl LexicalSignal {
    /// Parses the text of a request.
    pub(crate) fn bind(
        request: &LexicalRequest,
        columns: &WordColumns,
        names: &ColumnNames,
    ) -> Self {
        Self {
            weight: request.weight,
            query: LexicalQuery::parse(&request.text, request.is_unfinished),
            columns: columns.bind(names),
            found: Mutex::default(),
        }
    }

    pub(crate) fn weight(&self) -> Weight {
        self.weight
    }

    /// Finds the records of a block that have words of the search.
    pub(crate) fn find_matches(&self, block: &Block, matches: &mut BlockMatches) {
        let Some(query) = &self.query else {
            matches.clear();
            return;
        };
        let index = block.words(&self.columns);
        let found = self.found_in(index.group());
        let found = found.get_or_init(|| GroupMatches::find(index.group(), query));
        matches.find(&index, found, query);
    }

    fn found_in(&self, group: &Arc<GroupIndex>) -> FoundInGroup {
        let mut groups = self.found.lock();
        let known = groups.iter().find(|(known, _)| Arc::ptr_eq(known, group));
        if let Some((_, found)) = known {
            return Arc::clone(found);
        }
        let found = FoundInGroup::default();
        groups.push((Arc::clone(group), Arc::clone(&found)));
        found
    }

    /// The lexical score of a record. `found` has a bit for each word of the search that the record may have.
    pub(crate) fn score(&self, block: &Block, slot: usize, found: u64) -> Score {
        self.query.as_ref().map_or(Score(0), |query| {
            query.score(&block.body.columns, &self.columns, slot, found)
        })
    }

    /// A lexical score that a record of a block certainly reaches.
    pub(crate) fn lowest(&self, matches: &BlockMatches, slot: usize) -> Score {
        self.query.as_ref().map_or(Score(0), |query| {
            matches.lowest(query, slot, self.columns.least_part())
        })
    }
}
