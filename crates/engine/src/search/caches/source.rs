//! The entries of a cache, by a key and the snapshot that they come from.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::record::content_hash;
use crate::snapshot::Snapshot;

/// Equal for searches that differ in cursor and page size only.
pub(crate) type SearchKey = [u8; 16];

/// The key of a search for a vector.
pub(crate) fn search_key(request_hash: &[u8; 16], vector: &[i32]) -> SearchKey {
    let vector: Vec<u8> = vector
        .iter()
        .flat_map(|component| component.to_le_bytes())
        .collect();
    content_hash(&[request_hash, &vector])
}

/// What was found in snapshots, newest last. It does not keep the snapshots alive.
pub(crate) struct Entries<K, T>(Mutex<VecDeque<(Source<K>, T)>>);

/// A key and the snapshot that it belongs to.
type Source<K> = (K, Weak<Snapshot>);

impl<K, T> Default for Entries<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, T> Entries<K, T> {
    /// What `look` finds in an entry of a key and a snapshot, the newest entry first.
    pub(crate) fn find<F>(
        &self,
        key: &K,
        snapshot: &Arc<Snapshot>,
        look: impl FnMut(&T) -> Option<F>,
    ) -> Option<F> {
        let mut entries = self.0.lock();
        entries.retain(|((_, snapshot), _)| snapshot.strong_count() > 0);
        let is_snapshot = |of: &Weak<Snapshot>| std::ptr::eq(of.as_ptr(), Arc::as_ptr(snapshot));
        let of_key = entries.iter().rev();
        let of_key = of_key.filter(|((of, from), _)| of == key && is_snapshot(from));
        of_key.map(|(_, entry)| entry).find_map(look)
    }

    /// Adds an entry. The oldest entries leave when the sizes of all together are more than `max`.
    pub(crate) fn insert(
        &self,
        (key, snapshot): (K, &Arc<Snapshot>),
        entry: T,
        max: usize,
        size: impl Fn(&T) -> usize,
    ) {
        let mut entries = self.0.lock();
        entries.push_back(((key, Arc::downgrade(snapshot)), entry));
        let mut sum: usize = entries.iter().map(|(_, entry)| size(entry)).sum();
        while sum > max {
            sum -= entries.pop_front().map_or(sum, |(_, entry)| size(&entry));
        }
    }
}
