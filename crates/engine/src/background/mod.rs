//! Background jobs: train a basis, encode blocks again, save the snapshot, index words, extend the approximate index,
//! check the records.
//!
//! One [`Scheduler`] runs the jobs of all databases of an engine. [`DatabaseJobs`] decides which job a database needs.

mod check;
mod database_jobs;
mod index_words;
mod job;
mod recode;
mod saved;
mod scheduler;
mod train;

pub(crate) use check::{BackgroundCheck, Checked, Loaded};
pub(crate) use database_jobs::DatabaseJobs;
pub(crate) use job::JobResult;
pub(crate) use saved::Saved;
pub(crate) use scheduler::Scheduler;
