//! A position in the order of a listing.

use std::cmp::Ordering;

use crate::record::IdKey;
use crate::search::listing::sort_key::{Rank, SortKey};

/// A position in the order of a listing: the sort key in its direction, then the identity, ascending.
///
/// Only positions of one order are compared: they have the same direction.
#[derive(Clone, Debug)]
pub(crate) struct ListingPosition<'a> {
    pub(crate) key: SortKey<'a>,
    pub(crate) descending: bool,
    pub(crate) id: IdKey,
}

impl ListingPosition<'_> {
    /// The rank of the sort key.
    pub(crate) fn rank(&self) -> Rank {
        self.key.rank(self.descending)
    }

    /// The rank of what follows the first `depth` bytes of a text, see [`SortKey::rank_after`].
    pub(crate) fn rank_after(&self, depth: usize) -> Option<Rank> {
        self.key.rank_after(depth, self.descending)
    }
}

impl Ord for ListingPosition<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key
            .compare(&other.key, self.descending)
            .then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for ListingPosition<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ListingPosition<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ListingPosition<'_> {}
