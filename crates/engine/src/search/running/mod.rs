//! A search while it runs: bound to a snapshot, and shared by the scan threads.

mod bind;
mod match_counts;
mod outcome;
mod query_vector;
mod scope;
mod search;
mod waiting;
mod work;

pub(crate) use match_counts::MAX_COUNTED;
pub(crate) use scope::Scope;
pub(crate) use search::RunningSearch;
pub(crate) use waiting::{Found, WaitingSearch};
