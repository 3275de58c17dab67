//! The page cache: records after a cursor, for requests whose pages are read one after the other.
//!
//! Every page costs a scan, however deep it is, and one scan can find many pages. So the next pages are taken from the
//! records that an earlier scan found, as long as the snapshot is the same.

use std::sync::Arc;

use crate::search::caches::source::{Entries, SearchKey};
use crate::snapshot::Snapshot;

/// Each scan finds this many times the records of the scan before, in addition to its page. The first scan finds its
/// page only, so that a caller who reads one page from the middle pays for no more.
const GROWTH: usize = 2;

/// Records that a scan finds in addition to its page, at most.
const MAX_AHEAD: usize = 16_384;

/// Records of all entries together.
const MAX_RECORDS: usize = 262_144;

/// The cached records of a database's searches or listings. `A` is where a page begins, `T` a record.
pub(crate) struct PageCache<A, T>(Entries<SearchKey, Found<A, T>>);

/// The records of one scan.
struct Found<A, T> {
    /// The records come strictly after this cursor.
    after: A,
    records: Arc<[T]>,
    /// Whether no match comes after the records.
    complete: bool,
}

/// A page as the cache has it.
pub(crate) enum CachedPage<T> {
    /// The records of the page, as many as asked for or all there are.
    Found(Vec<T>),
    /// Not cached: the number of records that a scan should find.
    Scan(usize),
}

impl<A: Copy + PartialEq, T: Copy> PageCache<A, T> {
    /// The `count` records after a cursor, or the number of records that a scan should find. `first` returns the place of
    /// the first record after the cursor among the records of an entry, if that follows from them.
    pub(crate) fn get(
        &self,
        (search, snapshot): (&SearchKey, &Arc<Snapshot>),
        after: A,
        count: usize,
        first: impl Fn(&[T]) -> Option<usize>,
    ) -> CachedPage<T> {
        let mut ahead = 0;
        // The page after the last one is most often among the records of the last scan.
        let found = self.0.find(search, snapshot, |found| {
            let start = if found.after == after {
                Some(0)
            } else {
                first(&found.records)
            };
            let rest = &found.records[start?..];
            if rest.len() >= count || found.complete {
                return Some(rest[..count.min(rest.len())].to_vec());
            }
            ahead = ahead.max(found.records.len() * GROWTH);
            None
        });
        match found {
            Some(page) => CachedPage::Found(page),
            None => CachedPage::Scan(ahead.min(MAX_AHEAD) + count),
        }
    }

    /// Adds the records of a scan for `size` records.
    pub(crate) fn insert(
        &self,
        search: SearchKey,
        snapshot: &Arc<Snapshot>,
        after: A,
        records: &[T],
        size: usize,
    ) {
        let found = Found {
            after,
            records: records.into(),
            complete: records.len() < size,
        };
        let records = |found: &Found<A, T>| found.records.len();
        self.0
            .insert((search, snapshot), found, MAX_RECORDS, records);
    }
}

impl<A, T> Default for PageCache<A, T> {
    fn default() -> Self {
        Self(Entries::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scans that it takes to read `records` records in pages of `count`.
    fn scans_of_drain(records: u32, count: usize) -> usize {
        let (cache, snapshot) = (PageCache::default(), Arc::new(Snapshot::empty()));
        let source = (&[0; 16], &snapshot);
        let (mut scans, mut next) = (0, 0);
        while next < records {
            let before = |found: &[u32]| found.iter().position(|&record| record + 1 == next);
            let place = |found: &[u32]| Some(before(found)? + 1);
            let page = match cache.get(source, next, count, place) {
                CachedPage::Found(page) => page,
                CachedPage::Scan(size) => {
                    scans += 1;
                    let found: Vec<u32> = (next..records).take(size).collect();
                    cache.insert([0; 16], &snapshot, next, &found, size);
                    found.into_iter().take(count).collect()
                }
            };
            let expected: Vec<u32> = (next..records).take(count).collect();
            assert_eq!(page, expected);
            next += count as u32;
        }
        scans
    }

    #[test]
    fn the_pages_of_a_drain_share_scans() {
        assert!(scans_of_drain(500_000, 100) < 45);
        assert!(scans_of_drain(1_000, 100) < 5);
    }
}
