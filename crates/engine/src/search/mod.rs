//! Semantic search and filter-only listings: one path from a request to a page.
//!
//! A [`Search`] is bound to a snapshot as a [`job::Job`]; jobs that wait at the same time share one
//! [`pass::Pass`] over the blocks; each block is scanned for all of them at once ([`scan`]), for records
//! as good as the page's last is expected to be ([`floor_estimate`]); the best hits are written as a page
//! ([`page`]). A [`Query`] lists the records that pass a filter, without scores ([`listing`]).

mod caches;
mod explain;
mod floor_estimate;
mod job;
mod listing;
mod page;
mod pass;
mod ranking;
mod request;
mod scan;
mod scanner;
mod searchable;
mod sort;
mod walk;

pub(crate) use listing::Query;
pub use page::Page;
pub(crate) use page::write_record;
pub(crate) use request::{Search, not_approximate};
pub(crate) use scanner::Scanner;
pub use scanner::ScannerStats;
pub(crate) use searchable::Searchable;
