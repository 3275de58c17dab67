//! The scan threads, and the searches that wait for them.

mod queue;
mod stats;
mod threads;
mod worker;

pub use stats::SearchStats;
pub(crate) use threads::SearchScheduler;
