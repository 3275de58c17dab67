//! The database that is examined.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::disk::Disk;
use crate::runtime::StopFlag;
use crate::snapshot::Snapshot;
use crate::store::Reader;

/// Returns the newest snapshot of a database that is open.
pub(crate) type Newest = Box<dyn Fn() -> Arc<Snapshot> + Send>;

/// A database that this process has open.
pub(crate) struct OpenDatabase {
    /// What searches read.
    pub(crate) newest: Newest,
    pub(crate) reader: Reader,
}

/// A database to examine.
pub(crate) struct Patient {
    pub(crate) id: String,
    /// Its directory.
    pub(crate) directory: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
    /// `None`: nobody has the database open.
    pub(crate) open: Option<OpenDatabase>,
    /// Whether to repair what is derived. Never for an open database.
    pub(crate) repair: bool,
    pub(crate) stop: StopFlag,
    pub(crate) progress: DoctorProgress,
}

/// Records that an examination has read, and those of the database. Another thread may read it meanwhile.
#[derive(Debug, Clone, Default)]
pub struct DoctorProgress {
    counts: Arc<[AtomicU64; 2]>,
}

impl DoctorProgress {
    /// Records that were read so far, and records of the database as far as they are known.
    #[must_use]
    pub fn read(&self) -> (u64, u64) {
        (self.counts[0].load(Relaxed), self.counts[1].load(Relaxed))
    }

    pub(super) fn begin(&self, records: u64) {
        self.counts[1].fetch_add(records, Relaxed);
    }

    pub(super) fn count(&self) {
        self.counts[0].fetch_add(1, Relaxed);
    }
}
