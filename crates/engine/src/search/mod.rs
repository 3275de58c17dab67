//! Semantic searches and filter-only listings: one path from a request to a page.
//!
//! The [`scheduler`] binds a [`Search`] to a snapshot as a [`running`] search. Searches that wait at the same time are
//! batched: one [`shared_scan`] goes over the blocks for all of them. The [`block_scan`] of a block prunes records in
//! three passes ([`candidates`]); a record with several passages has the bounds of its best one ([`passage_rows`]). A [`ranking`] keeps the best records and the score floor; a [`floor_estimate`] raises
//! the floor early. With [`distinct`], every match is added to its group instead ([`group_candidates`]). A finished search
//! is answered ([`answer`]) with a [`page`].
//!
//! A [`listing`] orders the records that pass a filter, without scores. It shares the collector of the best records, the
//! page and its explanation with searches. Either may be answered with a [`map`] instead of a page.

mod answer;
mod best_estimates;
mod best_scores;
mod blend;
mod block_bounds;
mod block_scan;
mod boosts;
mod bounds;
mod caches;
mod candidates;
mod common;
mod distinct;
mod examples;
mod explain;
mod external;
mod floor_estimate;
mod found_in_block;
mod group_candidates;
mod highlights;
mod lexical_pace;
mod lexical_signal;
mod listing;
mod map;
mod page;
mod passage_rows;
mod passages;
mod ranking;
mod record_writer;
mod request;
mod response;
mod running;
mod scheduler;
mod score_parts;
mod searchable;
mod shared_scan;

pub(crate) use blend::Blend;
pub(crate) use common::Common;
pub use examples::ExampleQuery;
pub(crate) use examples::Examples;
pub use external::ExternalSelection;
pub(crate) use external::Selected;
pub(crate) use listing::Query;
pub use page::{Page, Pages};
pub(crate) use record_writer::RecordWriter;
pub(crate) use request::Search;
pub use scheduler::SearchStats;
pub(crate) use scheduler::{NewSearch, SearchScheduler};
pub(crate) use score_parts::ScoreParts;
pub(crate) use searchable::Searchable;
