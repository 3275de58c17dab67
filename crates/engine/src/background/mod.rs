//! Background jobs: train a basis, encode blocks again, save the snapshot, index words, check the records.
//!
//! One [`Scheduler`] runs the jobs of all databases of an engine. [`DatabaseJobs`] decides which job a database needs.

mod basis_jobs;
mod check;
mod database_jobs;
mod index_words;
mod scheduler;

pub(crate) use check::{BackgroundCheck, Checked, Loaded};
pub(crate) use database_jobs::{DatabaseJobs, Saved};
pub(crate) use scheduler::{JobResult, Scheduler};
