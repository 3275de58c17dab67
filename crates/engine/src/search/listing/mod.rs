//! The filter-only operation: the records that pass a filter, in any order, without scores.

mod cursor;
mod external;
mod first_records;
mod key_range;
mod position;
mod request;
mod run;
mod sort;
mod sort_key;

pub(crate) use request::Query;
