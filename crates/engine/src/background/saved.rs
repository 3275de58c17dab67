//! How far the saved snapshot reaches.

use crate::snapshot::{FileId, Snapshot};
use crate::store::Stamp;

/// The state of the last saved snapshot. The default is that none is saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Saved {
    /// The commit of the snapshot; 0 when none is saved.
    pub(crate) version: u64,
    pub(super) next_row: u32,
    /// The largest file id of its blocks' codes.
    codes: Option<FileId>,
    pub(super) stamp: Option<Stamp>,
}

impl Saved {
    /// The state after `snapshot` was saved with `stamp`.
    pub(crate) fn of(snapshot: &Snapshot, stamp: Stamp) -> Self {
        let codes = snapshot
            .blocks
            .iter()
            .map(|block| block.coded.file_id)
            .max();
        Self {
            version: snapshot.version,
            next_row: snapshot.next_row().0,
            codes,
            stamp: Some(stamp),
        }
    }

    /// What remains known after all rows got new numbers: the stamp.
    pub(super) fn renumbered(self) -> Self {
        Self {
            stamp: self.stamp,
            ..Self::default()
        }
    }
}
