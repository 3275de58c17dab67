//! The work of a search, for `explain`: how many records its steps went through, and when they began.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How many records each step of a search went through.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Records compared by the head of their codes.
    pub(crate) scanned: AtomicU64,
    /// Records whose bounds were narrowed by the rest of their codes.
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

/// The arrival of a search and the start of its scan.
pub(crate) struct Timing {
    pub(crate) arrived: Instant,
    scan_started: Mutex<Option<Instant>>,
}

impl Timing {
    pub(crate) fn new(arrived: Instant) -> Self {
        Self {
            arrived,
            scan_started: Mutex::new(None),
        }
    }

    /// Notes that the scan begins; only the first call counts.
    pub(crate) fn start_scan(&self) {
        self.scan_started.lock().get_or_insert_with(Instant::now);
    }

    /// Time since the start of the scan, 0 without a scan.
    pub(crate) fn scan(&self) -> Duration {
        let started = *self.scan_started.lock();
        started.map_or(Duration::ZERO, |started| started.elapsed())
    }

    /// Time from the arrival to the start of the scan, 0 without a scan.
    pub(crate) fn waited(&self) -> Duration {
        let started = *self.scan_started.lock();
        started.map_or(Duration::ZERO, |started| started - self.arrived)
    }
}
