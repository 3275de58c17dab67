//! The database that is examined.

use std::path::PathBuf;
use std::sync::Arc;

use crate::disk::Disk;
use crate::runtime::StopFlag;
use crate::snapshot::Snapshot;
use crate::store::Reader;

use crate::doctor::progress::DoctorProgress;

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
    /// Whether it is the store of an unfinished re-embedding, which lacks records.
    pub(crate) unfinished: bool,
    /// Whether to repair what is derived. Never for an open database.
    pub(crate) repair: bool,
    pub(crate) stop: StopFlag,
    pub(crate) progress: DoctorProgress,
}
