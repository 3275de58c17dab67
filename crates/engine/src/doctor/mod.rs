//! The doctor: checks a database completely, says what is affected and what to do, and repairs what is derived.
//!
//! It works below the opening of a database, so it diagnoses one that cannot be opened. It reads the files without
//! changing any, unless it is told to repair.

mod advice;
mod directory;
mod examination;
mod index_files;
mod memory;
mod oracle;
mod patient;
mod record_check;
mod report;
mod sample;
mod searches;
mod store_repair;

pub use directory::Doctor;
pub(crate) use directory::run_examination;
pub use patient::DoctorProgress;
pub(crate) use patient::{OpenDatabase, Patient};
