//! The count cache: totals and facets of searches whose pages are read one after the other.
//!
//! Totals and facets are the same on every page of a snapshot, and counting them visits every match. So they are counted
//! once.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::search::caches::source::{SearchKey, Source};
use crate::snapshot::Snapshot;

/// Bytes of all cached facets.
const MAX_BYTES: usize = 4 << 20;

/// Bytes that an entry counts for in addition to its facets.
const OVERHEAD: usize = 256;

/// The total and the facets of a search.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// Matches.
    pub(crate) total: u64,
    /// The member `facets` of the response, as JSON; empty when none were asked for.
    pub(crate) facets: Vec<u8>,
}

/// The cached counts of a database, newest last.
#[derive(Default)]
pub(crate) struct CountCache {
    entries: Mutex<VecDeque<Entry>>,
}

struct Entry {
    source: Source,
    counted: Arc<Counted>,
}

impl Entry {
    fn bytes(&self) -> usize {
        self.counted.facets.len() + OVERHEAD
    }
}

impl CountCache {
    /// The counts of a search of a snapshot, if they are cached.
    pub(crate) fn get(&self, search: &SearchKey, snapshot: &Arc<Snapshot>) -> Option<Arc<Counted>> {
        let mut entries = self.entries.lock();
        entries.retain(|entry| entry.source.is_alive());
        entries
            .iter()
            .find(|entry| entry.source.is(search, snapshot))
            .map(|entry| Arc::clone(&entry.counted))
    }

    /// Adds the counts of a search. The oldest entries leave when all together are too large.
    pub(crate) fn insert(
        &self,
        search: SearchKey,
        snapshot: &Arc<Snapshot>,
        counted: &Arc<Counted>,
    ) {
        let mut entries = self.entries.lock();
        entries.push_back(Entry {
            source: Source::new(search, snapshot),
            counted: Arc::clone(counted),
        });
        let mut bytes: usize = entries.iter().map(Entry::bytes).sum();
        while bytes > MAX_BYTES {
            bytes -= entries.pop_front().map_or(bytes, |entry| entry.bytes());
        }
    }
}
