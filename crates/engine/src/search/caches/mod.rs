//! What is kept of earlier searches: pages after a cursor, and counts. Losing it costs time, never a result.

mod counts;
mod pages;
mod source;

pub(crate) use counts::{CountCache, Counted};
pub(crate) use pages::{Ahead, PageCache};
pub(crate) use source::{SearchKey, search_key};
