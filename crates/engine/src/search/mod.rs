//! Semantic search: one path from a request to a page.
//!
//! A [`Search`] is bound to a snapshot as a [`job::Job`]; jobs that wait at the same time share one
//! [`pass::Pass`] over the blocks; each block is scanned for all of them at once ([`scan`]), for records
//! as good as the page's last is expected to be ([`expectation`]); the best hits are written as a page
//! ([`page`]).

mod counted;
mod expectation;
mod job;
mod masks;
mod page;
mod pass;
mod ranking;
mod request;
mod scan;
mod scanner;
mod source;
mod windows;

pub(crate) use counted::KnownCounts;
pub(crate) use job::Job;
pub(crate) use masks::{FilterKey, KnownMasks, Masks};
pub use page::Page;
pub(crate) use page::{PageWriter, write_record};
pub(crate) use request::{RequestReader, not_approximate};
pub use request::{Search, TimeRange};
pub(crate) use scan::{Scratch, scan_block};
pub(crate) use scanner::Scanner;
pub use scanner::{ScannerStats, StopFlag};
pub(crate) use windows::Windows;
