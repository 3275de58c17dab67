//! What the engine has done since it was opened, and what waits.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Duration;

/// The counters that all databases of an engine share: those of a dropped one must not go backwards.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    commits: AtomicU64,
    commit_micros: AtomicU64,
    writes_waiting: AtomicUsize,
    scanned_bytes: AtomicU64,
}

/// The engine's counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetricsReading {
    /// Transactions that were made durable; calls that came together share one.
    pub commits: u64,
    /// Time they took, until what they wrote was searchable.
    pub commit_micros: u64,
    /// Writes not yet begun.
    pub writes_waiting: usize,
    /// Bytes of codes that scans went through.
    pub scanned_bytes: u64,
}

impl Metrics {
    pub(crate) fn committed(&self, took: Duration) {
        self.commits.fetch_add(1, Relaxed);
        self.commit_micros
            .fetch_add(took.as_micros() as u64, Relaxed);
    }

    pub(crate) fn write_waits(&self) {
        self.writes_waiting.fetch_add(1, Relaxed);
    }

    /// A write that waited began or was refused.
    pub(crate) fn write_waits_no_more(&self) {
        self.writes_waiting.fetch_sub(1, Relaxed);
    }

    pub(crate) fn scanned(&self, bytes: u64) {
        self.scanned_bytes.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn read(&self) -> MetricsReading {
        MetricsReading {
            commits: self.commits.load(Relaxed),
            commit_micros: self.commit_micros.load(Relaxed),
            writes_waiting: self.writes_waiting.load(Relaxed),
            scanned_bytes: self.scanned_bytes.load(Relaxed),
        }
    }
}
