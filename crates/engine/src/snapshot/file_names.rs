//! The names of index files. Ids are never used twice in a data directory.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::runtime::now_ms;

/// Name of the list of a saved snapshot.
pub(super) const SNAPSHOT: &str = "snapshot";

/// Kind of a file with the immutable part of a block and its exact vectors.
pub(super) const ROWS: &str = "rows";

/// Kind of a file with the codes of a block.
pub(super) const CODES: &str = "codes";

/// Kind of a file with a basis.
pub(super) const BASIS: &str = "basis";

/// The directory with the index files of the next model of the database in `directory`.
pub(crate) fn next_index_path(directory: &Path) -> PathBuf {
    directory.join("next")
}

/// The path of an index file.
pub(super) fn index_file_path(directory: &Path, file_id: FileId, kind: &str) -> PathBuf {
    directory.join(format!("{}.{kind}", file_id.0))
}

/// Names an index file. Later ones are greater, across restarts too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FileId(pub(crate) u64);

impl FileId {
    /// The next file id: the first one is the time of the process's start, and each later one is greater by 1.
    pub(crate) fn next() -> Self {
        Self(Self::last().fetch_add(1, Relaxed) + 1)
    }

    /// Notes a file id that is in use: the next one is greater, even if the clock was set back.
    pub(crate) fn seen(self) -> Self {
        Self::last().fetch_max(self.0, Relaxed);
        self
    }

    fn last() -> &'static AtomicU64 {
        static LAST: OnceLock<AtomicU64> = OnceLock::new();
        LAST.get_or_init(|| AtomicU64::new((now_ms() as u64) << 16))
    }
}
