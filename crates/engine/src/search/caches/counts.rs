//! The count cache: totals and facets of searches whose pages are read one after the other.
//!
//! Totals and facets are the same on every page of a snapshot, and counting them visits every match. So they are counted
//! once.

use std::sync::Arc;

use crate::search::caches::source::{Entries, SearchKey};
use crate::snapshot::Snapshot;

/// Bytes of all cached facets.
const MAX_BYTES: usize = 4 << 20;

/// Bytes that an entry counts for in addition to its facets.
const OVERHEAD: usize = 256;

/// The total and the facets of a search.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// The results on all pages.
    pub(crate) total: u64,
    /// The matches: more than the results where they are distinct.
    pub(crate) matches: u64,
    /// The member `facets` of the response, as JSON; empty when none were asked for.
    pub(crate) facets: Vec<u8>,
}

/// The cached counts of a database.
#[derive(Default)]
pub(crate) struct CountCache(Entries<SearchKey, Arc<Counted>>);

impl CountCache {
    /// The counts of a search of a snapshot, if they are cached.
    pub(crate) fn get(&self, search: &SearchKey, snapshot: &Arc<Snapshot>) -> Option<Arc<Counted>> {
        let found = |counted: &Arc<Counted>| Some(Arc::clone(counted));
        self.0.find(search, snapshot, found)
    }

    /// Adds the counts of a search.
    pub(crate) fn insert(
        &self,
        search: SearchKey,
        snapshot: &Arc<Snapshot>,
        counted: &Arc<Counted>,
    ) {
        let bytes = |counted: &Arc<Counted>| counted.facets.len() + OVERHEAD;
        let source = (search, snapshot);
        self.0.insert(source, Arc::clone(counted), MAX_BYTES, bytes);
    }
}
