//! When the steps of a search began.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

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
