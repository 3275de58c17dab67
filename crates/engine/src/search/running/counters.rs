//! The work of a search, for `explain`.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// How many records each step of a search went through.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Records compared by the head of their codes.
    pub(crate) scanned: AtomicU64,
    /// Records compared by their full codes.
    pub(crate) refined: AtomicU64,
    /// Records scored exactly.
    pub(crate) scored: AtomicU64,
}

impl Counters {
    /// The counter of records that the search may find, by the name that `explain` shows.
    pub(crate) fn selected(&self) -> (&'static str, u64) {
        ("scanned", self.scanned.load(Relaxed))
    }

    /// The counters that also depend on which other records lie between them, because the score floor is estimated from
    /// blocks.
    pub(crate) fn dependent(&self) -> [(&'static str, u64); 2] {
        [
            ("refined", self.refined.load(Relaxed)),
            ("scored", self.scored.load(Relaxed)),
        ]
    }
}
