//! The snapshot that readers see.

use std::sync::Arc;

use parking_lot::{RwLock, RwLockReadGuard};

use crate::snapshot::identity_index::IdentityIndex;
use crate::snapshot::view::Snapshot;

/// A snapshot, and the index of its living records.
pub(crate) struct Published {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) index: IdentityIndex,
}

impl Published {
    pub(crate) fn empty() -> Self {
        Self::of(Snapshot::empty())
    }

    /// A snapshot with the index of all its living records.
    pub(crate) fn of(snapshot: Snapshot) -> Self {
        Self {
            index: IdentityIndex::of(&snapshot),
            snapshot: Arc::new(snapshot),
        }
    }
}

/// What is published now. The writer of the database replaces it; searches, listings and the writer read it.
pub(crate) struct PublishedCell(RwLock<Published>);

impl PublishedCell {
    pub(crate) fn new(published: Published) -> Self {
        Self(RwLock::new(published))
    }

    /// What is published now. Hold the guard for a short time: keep the snapshot, not the guard.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Published> {
        self.0.read()
    }

    /// As [`PublishedCell::read`]; `None` if a writer publishes now. It never waits.
    pub(crate) fn try_read(&self) -> Option<RwLockReadGuard<'_, Published>> {
        self.0.try_read()
    }

    /// Publishes what `change` makes of the current state.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Published)) {
        change(&mut self.0.write());
    }

    /// The newest snapshot.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.read().snapshot)
    }
}
