//! Facets against a plain count and a golden answer, and the requests that are refused.

mod bad_requests;
mod golden;
mod intervals;
mod plain_count;
mod support;
