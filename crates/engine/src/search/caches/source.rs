//! The search and the snapshot that a cache entry comes from.

use std::sync::{Arc, Weak};

use crate::record::content_hash;
use crate::search::request::Search;
use crate::snapshot::Snapshot;

/// Equal for searches that differ in cursor and page size only.
pub(crate) type SearchKey = [u8; 16];

/// The key of a search for a vector.
pub(crate) fn search_key(search: &Search, vector: &[i32]) -> SearchKey {
    let vector: Vec<u8> = vector
        .iter()
        .flat_map(|component| component.to_le_bytes())
        .collect();
    content_hash(&[&search.common.request_hash, &vector])
}

/// A search of a snapshot. It does not keep the snapshot alive.
pub(crate) struct Source {
    search: SearchKey,
    snapshot: Weak<Snapshot>,
}

impl Source {
    pub(crate) fn new(search: SearchKey, snapshot: &Arc<Snapshot>) -> Self {
        Self {
            search,
            snapshot: Arc::downgrade(snapshot),
        }
    }

    /// Whether the snapshot is still in use.
    pub(crate) fn is_alive(&self) -> bool {
        self.snapshot.strong_count() > 0
    }

    /// Whether the entry comes from this search of this snapshot.
    pub(crate) fn is(&self, search: &SearchKey, snapshot: &Arc<Snapshot>) -> bool {
        self.search == *search && std::ptr::eq(self.snapshot.as_ptr(), Arc::as_ptr(snapshot))
    }
}
