//! The scan threads, and the searches that wait for them.

mod queue;
mod threads;
mod worker;

pub use queue::SearchStats;
pub(crate) use threads::{NewSearch, SearchScheduler};
