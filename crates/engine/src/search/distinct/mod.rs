//! `distinct`: of the matches with an equal value in a column, only the first in the order of the request is a result.
//!
//! [`ColumnGroups`] are the records with equal values. A search keeps, of each group, the matches that may be its first
//! one ([`DistinctMatches`]), because the scores of most are still bounds; a listing keeps the first one
//! ([`DistinctRecords`]). Matches without a value are results of their own.

mod best_groups;
mod column_groups;
mod matches;
mod records;
mod request;

pub(crate) use column_groups::{ColumnGroups, ColumnGroupsCache};
pub(crate) use matches::{BoundedMatch, DistinctMatches};
pub(crate) use records::DistinctRecords;
pub(crate) use request::Distinct;
