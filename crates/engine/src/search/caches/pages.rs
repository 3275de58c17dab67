//! The page cache: hits after a cursor, for searches whose pages are read one after the other.
//!
//! Every page costs a scan, however deep it is, and one scan can find many pages. So the next pages are taken from the hits
//! of an earlier scan, as long as the snapshot is the same.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::record::{Hit, Position};
use crate::search::caches::source::{SearchKey, Source};
use crate::snapshot::Snapshot;

/// Each scan finds this many times the hits of the scan before, in addition to its page. The first scan finds its page
/// only, so that a caller who reads one page from the middle pays for no more.
const GROWTH: usize = 2;

/// Hits that a scan finds in addition to its page, at most.
const MAX_AHEAD: usize = 16_384;

/// Hits of all entries together.
const MAX_HITS: usize = 262_144;

/// The cached hits of a database's searches, newest last.
#[derive(Default)]
pub(crate) struct PageCache {
    entries: Mutex<VecDeque<Entry>>,
}

/// The hits of one scan.
struct Entry {
    source: Source,
    /// The hits come strictly after this position.
    after: Position,
    hits: Arc<[Hit]>,
    /// Whether no match comes after the hits.
    complete: bool,
}

/// A page as the cache has it.
pub(crate) enum CachedPage {
    /// The hits of the page, as many as asked for or all there are.
    Hits(Vec<Hit>),
    /// Not cached: the number of hits that a scan should find.
    Scan(usize),
}

impl PageCache {
    /// The `count` hits after a position, or the number of hits that a scan should find.
    pub(crate) fn get(
        &self,
        search: &SearchKey,
        snapshot: &Arc<Snapshot>,
        after: Position,
        count: usize,
    ) -> CachedPage {
        let mut entries = self.entries.lock();
        entries.retain(|entry| entry.source.is_alive());
        let mut ahead = 0;
        for entry in entries
            .iter()
            .filter(|entry| entry.source.is(search, snapshot))
        {
            let start = if entry.after == after {
                0
            } else {
                match entry.hits.binary_search_by(|hit| hit.position.cmp(&after)) {
                    Ok(at) => at + 1,
                    Err(_) => continue,
                }
            };
            let rest = &entry.hits[start..];
            if rest.len() >= count || entry.complete {
                return CachedPage::Hits(rest[..count.min(rest.len())].to_vec());
            }
            ahead = ahead.max(entry.hits.len() * GROWTH);
        }
        CachedPage::Scan(ahead.min(MAX_AHEAD) + count)
    }

    /// Adds the hits of a scan for `size` hits. The oldest entries leave when all together are too large.
    pub(crate) fn insert(
        &self,
        search: SearchKey,
        snapshot: &Arc<Snapshot>,
        after: Position,
        hits: &[Hit],
        size: usize,
    ) {
        let mut entries = self.entries.lock();
        entries.push_back(Entry {
            source: Source::new(search, snapshot),
            after,
            hits: hits.into(),
            complete: hits.len() < size,
        });
        let mut sum: usize = entries.iter().map(|entry| entry.hits.len()).sum();
        while sum > MAX_HITS {
            sum -= entries.pop_front().map_or(0, |entry| entry.hits.len());
        }
    }
}
