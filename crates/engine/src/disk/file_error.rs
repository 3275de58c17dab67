//! Why an index file cannot be written or used.

use std::io;
use std::path::{Path, PathBuf};

/// Why an index file cannot be written or used. A file that cannot be used is written again from the store.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be opened, read or written; most often it does not exist.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is cut short, changed, or has another format.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not match.
        what: &'static str,
    },
    /// The database was dropped during the call.
    #[error("the database was dropped")]
    Dropped,
}

impl FileError {
    /// Whether the file no longer exists, or the database was dropped.
    pub(crate) fn is_gone(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            Self::Damaged { .. } => false,
            Self::Dropped => true,
        }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn damaged(path: &Path, what: &'static str) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            what,
        }
    }
}
