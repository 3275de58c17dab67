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
    /// The counters by the names that `explain` shows.
    pub(crate) fn read(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("scanned", self.scanned.load(Relaxed)),
            ("refined", self.refined.load(Relaxed)),
            ("scored", self.scored.load(Relaxed)),
        ]
    }
}
