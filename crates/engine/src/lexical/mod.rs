//! Exact words: the lexical score of a query and a record, and the inverted index that finds the records with one.
//!
//! The lexical score is a pure function of the text of the query and columns of the record: those of [`WordColumns`]
//! ([`LexicalQuery::score`]). Nothing in it depends on the rest of the database, so a write elsewhere moves no score.
//! The index of a group of blocks ([`GroupIndex`]) finds every record with a score above 0, and bounds the scores
//! ([`BlockMatches`]).

mod dictionary;
mod edits;
mod group_index;
mod highlights;
mod matches;
mod places;
mod postings;
mod query;
mod score;
mod term;
mod text_columns;
mod weights;
mod words;

pub(crate) use group_index::{BlockIndex, BlockWords, GroupBuilder, GroupIndex, GroupMatches};
pub(crate) use matches::BlockMatches;
pub(crate) use postings::GROUP_BLOCKS;
pub(crate) use query::{LexicalQuery, MAX_WORDS, count_words};
pub use score::lexical_scorer;
pub(crate) use text_columns::{TextColumns, WordColumns};
