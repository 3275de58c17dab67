//! Why saved files cannot be used.

use std::io;

use crate::disk::FileError;
use crate::snapshot::file_names::SNAPSHOT;
use crate::store::StoreError;

/// Why saved files cannot be written or used. Files that cannot be used are written again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    /// A file is missing, cannot be read or written, or does not match its checksums.
    #[error(transparent)]
    File(#[from] FileError),
    /// The system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The columns of a block are damaged.
    #[error(transparent)]
    Columns(#[from] crate::columns::Damaged),
    /// The content cannot be used, although its checksums match.
    #[error("{0}")]
    Content(&'static str),
}

impl Unusable {
    /// Whether nothing was saved yet.
    pub(crate) fn is_nothing_saved(&self) -> bool {
        matches!(self, Self::File(FileError::Io { path, source })
            if source.kind() == io::ErrorKind::NotFound && path.ends_with(SNAPSHOT))
    }
}
