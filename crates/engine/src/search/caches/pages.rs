//! Results ahead of a cursor, kept while somebody pages through them.
//!
//! A page deep down costs a scan like any other. One scan finds many pages at once, so the next ones
//! are taken from what it found, as long as the snapshot is the same. A window makes a page cheaper,
//! never different, and losing one costs a scan.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::record::{Hit, Position};
use crate::search::caches::source::{SearchKey, Source};
use crate::snapshot::Snapshot;

/// Each window of a search has this many times the hits of the one before, beside those of the page. The
/// first has only these: whoever takes one page from the middle pays for no more.
const GROWTH: usize = 2;

/// Hits of a window at most.
const LARGEST: usize = 16_384;

/// Hits of all windows together.
const MAX_HITS: usize = 262_144;

/// The windows of a database, newest last.
#[derive(Default)]
pub(crate) struct PageCache {
    kept: Mutex<VecDeque<Window>>,
}

struct Window {
    source: Source,
    /// The hits come strictly after this.
    after: Position,
    hits: Arc<[Hit]>,
    /// Whether nothing comes after the hits.
    complete: bool,
}

/// What is known of the places after a cursor.
pub(crate) enum Ahead {
    /// The hits, as many as asked for or all there are.
    Known(Vec<Hit>),
    /// To be found by a scan for this many.
    Scan(usize),
}

impl PageCache {
    /// The `count` hits after a place, or how many are worth finding.
    pub(crate) fn look(
        &self,
        search: &SearchKey,
        snapshot: &Arc<Snapshot>,
        after: Position,
        count: usize,
    ) -> Ahead {
        let mut kept = self.kept.lock();
        kept.retain(|window| window.source.is_alive());
        let mut size = 0;
        for window in kept
            .iter()
            .filter(|window| window.source.is(search, snapshot))
        {
            let start = if window.after == after {
                0
            } else {
                match window
                    .hits
                    .binary_search_by(|hit| hit.position.rank(&after))
                {
                    Ok(at) => at + 1,
                    Err(_) => continue,
                }
            };
            let rest = &window.hits[start..];
            if rest.len() >= count || window.complete {
                return Ahead::Known(rest[..count.min(rest.len())].to_vec());
            }
            size = size.max(window.hits.len() * GROWTH);
        }
        Ahead::Scan(size.min(LARGEST) + count)
    }

    /// Keeps what a scan for `size` hits found.
    pub(crate) fn keep(
        &self,
        search: SearchKey,
        snapshot: &Arc<Snapshot>,
        after: Position,
        hits: &[Hit],
        size: usize,
    ) {
        let mut kept = self.kept.lock();
        kept.push_back(Window {
            source: Source::new(search, snapshot),
            after,
            hits: hits.into(),
            complete: hits.len() < size,
        });
        let mut sum: usize = kept.iter().map(|window| window.hits.len()).sum();
        while sum > MAX_HITS {
            sum -= kept.pop_front().map_or(0, |window| window.hits.len());
        }
    }
}
