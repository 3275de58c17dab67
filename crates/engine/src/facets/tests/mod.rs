//! Facets against a simple count and a golden response, and the requests that are refused.

mod bad_requests;
mod golden;
mod intervals;
mod plain_count;
mod support;
