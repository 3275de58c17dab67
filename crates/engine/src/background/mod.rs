//! Background jobs: learn a basis, code blocks again, save the snapshot, extend the approximate index, check the records.

mod check;
mod jobs;

pub(crate) use check::{BackgroundCheck, Checked, Loaded};
pub(crate) use jobs::{BackgroundJobs, HandedOver, Saved};
