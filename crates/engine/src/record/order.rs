//! The order of a search, and positions in any order of results.
//!
//! A search orders its records by [`Position`], a listing by a sort key and the identity. Both keep their best records
//! in the same collector, and both begin a page at a [`PageStart`].

use std::cmp::Ordering;

use crate::record::identity::{IdKey, RecordRow};
use crate::record::score::Score;

/// A position in the order of a search: what its cursor names.
///
/// The order is score descending, then identity ascending. `Less` comes earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Score of the record at this position.
    pub score: Score,
    /// Its identity under the request's variant.
    pub id: IdKey,
}

impl Ord for Position {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.cmp(&self.score).then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Position {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A record at its position. No two records of a snapshot have the same position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ranked<P> {
    /// Where the record stands in the order.
    pub(crate) position: P,
    /// Which record it is.
    pub(crate) row: RecordRow,
}

/// A match of a search, with its canonical score.
pub(crate) type Hit = Ranked<Position>;

/// Where a page begins in an order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageStart<P> {
    position: P,
    inclusive: bool,
}

impl<P: Ord> PageStart<P> {
    /// A page that begins after a position.
    pub(crate) fn after(position: P) -> Self {
        Self {
            position,
            inclusive: false,
        }
    }

    /// A page that begins with a position.
    pub(crate) fn at(position: P) -> Self {
        Self {
            position,
            inclusive: true,
        }
    }

    /// The position that the page begins at or after.
    pub(crate) fn position(&self) -> &P {
        &self.position
    }

    /// Whether a record at the position is on the page.
    pub(crate) fn is_inclusive(&self) -> bool {
        self.inclusive
    }

    /// Whether a position is on this page or a later one.
    pub(crate) fn admits(&self, position: &P) -> bool {
        match position.cmp(&self.position) {
            Ordering::Less => false,
            Ordering::Equal => self.inclusive,
            Ordering::Greater => true,
        }
    }
}
