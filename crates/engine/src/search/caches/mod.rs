//! Results of earlier searches: hits after a cursor, and counts. Losing them costs a scan, and never changes a result.

mod counts;
mod pages;
mod source;

pub(crate) use counts::{CountCache, Counted};
pub(crate) use pages::{CachedPage, PageCache};
pub(crate) use source::{Entries, SearchKey, search_key};
