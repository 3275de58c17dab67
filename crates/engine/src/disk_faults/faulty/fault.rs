//! The faults of a disk for tests.

use std::path::PathBuf;

/// A fault that a [`FaultyDisk`](super::FaultyDisk) makes. Operations are counted from 0 since the fault was set.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Operation `at` fails with an error of the operating system, and so do all later ones where `lasting`. An operation
    /// that cannot have this error succeeds.
    Error { at: usize, code: i32, lasting: bool },
    /// The power fails after operation `after`: the directory without its unsynced changes is copied to `image`, and
    /// every later operation fails.
    PowerCut { after: usize, image: PathBuf },
}

/// The codes of the errors "no space left on device", "input/output error" and "too many open files".
pub(crate) const NO_SPACE: i32 = 28;
pub(crate) const IO_ERROR: i32 = 5;
pub(crate) const TOO_MANY_FILES: i32 = 24;

/// Names of operations.
pub(super) const CREATE_DIRECTORY: &str = "create directory";
pub(super) const LIST: &str = "list";
pub(super) const SYNC_DIRECTORY: &str = "sync directory";
pub(super) const OPEN: &str = "open";
pub(super) const OPEN_FOR_WRITING: &str = "open for writing";
pub(super) const WRITE: &str = "write";
pub(super) const WRITE_AT: &str = "write at";
pub(super) const SET_LENGTH: &str = "set length";
pub(super) const REMOVE_DIRECTORY: &str = "remove directory";

/// Whether an operation can fail with an error: a rename needs no file descriptor, and a removal no space.
pub(crate) fn can_fail(operation: &str, code: i32) -> bool {
    match code {
        NO_SPACE => matches!(
            operation,
            CREATE_DIRECTORY | OPEN_FOR_WRITING | WRITE | WRITE_AT | SET_LENGTH
        ),
        TOO_MANY_FILES => matches!(
            operation,
            LIST | SYNC_DIRECTORY | OPEN | OPEN_FOR_WRITING | WRITE | REMOVE_DIRECTORY
        ),
        _ => true,
    }
}
