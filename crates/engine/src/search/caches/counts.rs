//! Totals and facets, kept while somebody pages through a search.
//!
//! They are the same on every page, and counting them takes a look at every match. As long as the
//! snapshot is the same they are counted once; losing them costs a scan, never an answer.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::search::caches::source::{SearchKey, Source};
use crate::snapshot::Snapshot;

/// Bytes of all facets that are kept.
const MAX_BYTES: usize = 4 << 20;

/// Bytes that a search counts for beside its facets.
const OVERHEAD: usize = 256;

/// What a search counts over all its matches.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// Matches.
    pub(crate) total: u64,
    /// The member `facets` of the response, as JSON; empty when none were asked for.
    pub(crate) facets: Vec<u8>,
}

/// What is known of a database's searches, newest last.
#[derive(Default)]
pub(crate) struct CountCache {
    kept: Mutex<VecDeque<Kept>>,
}

struct Kept {
    source: Source,
    counted: Arc<Counted>,
}

impl Kept {
    fn bytes(&self) -> usize {
        self.counted.facets.len() + OVERHEAD
    }
}

impl CountCache {
    /// What was counted for a search in this snapshot.
    pub(crate) fn look(
        &self,
        search: &SearchKey,
        snapshot: &Arc<Snapshot>,
    ) -> Option<Arc<Counted>> {
        let mut kept = self.kept.lock();
        kept.retain(|kept| kept.source.is_alive());
        kept.iter()
            .find(|kept| kept.source.is(search, snapshot))
            .map(|kept| Arc::clone(&kept.counted))
    }

    /// Keeps what was counted.
    pub(crate) fn keep(&self, search: SearchKey, snapshot: &Arc<Snapshot>, counted: &Arc<Counted>) {
        let mut kept = self.kept.lock();
        kept.push_back(Kept {
            source: Source::new(search, snapshot),
            counted: Arc::clone(counted),
        });
        let mut bytes: usize = kept.iter().map(Kept::bytes).sum();
        while bytes > MAX_BYTES {
            bytes -= kept.pop_front().map_or(bytes, |kept| kept.bytes());
        }
    }
}
