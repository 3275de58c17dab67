//! The rules of the engine for a store outside of it: what is valid, what a write changes, how a record scores, and how
//! a response is written.
//!
//! The store keeps records in its own way and finds candidates. It calls [`ExternalRules`] with the rows that a call
//! needs, so that every definition exists once, and responses are the same in every store. Nothing here reads or writes
//! a file, and nothing waits.

mod kept_data;
mod reads;
mod row;
mod rules;
mod searches;
mod vectors;
mod writes;

pub use kept_data::KeptData;
pub use row::ExternalRow;
pub use rules::{ExternalFacets, ExternalRules};
pub use searches::{ExternalPage, ExternalQuery, ExternalSearch};
pub use vectors::{ExternalTexts, ExternalVectors, ScannedVector};
pub use writes::{ColumnChange, ExternalChange, ExternalPut, ExternalWrites};

#[cfg(test)]
mod tests;
