//! Counters of the engine.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Duration;

/// The counters of an engine. All databases share them, so that the counters do not decrease when a database is dropped.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    commits: AtomicU64,
    commit_micros: AtomicU64,
    writes_waiting: AtomicUsize,
    scanned_bytes: AtomicU64,
}

/// The counters of an engine at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetricsReading {
    /// Durable transactions. Calls that arrive together share a transaction.
    pub commits: u64,
    /// Total time of the transactions in microseconds, until their records were searchable.
    pub commit_micros: u64,
    /// Writes that have not started yet.
    pub writes_waiting: usize,
    /// Bytes of codes that scans read.
    pub scanned_bytes: u64,
}

/// Counts a write in [`MetricsReading::writes_waiting`] until this is dropped: when the write starts, is refused, or is
/// discarded with the queue of a writer that ends.
pub(crate) struct WaitingWrite(Arc<Metrics>);

impl WaitingWrite {
    pub(crate) fn new(metrics: &Arc<Metrics>) -> Self {
        metrics.writes_waiting.fetch_add(1, Relaxed);
        Self(Arc::clone(metrics))
    }
}

impl Drop for WaitingWrite {
    fn drop(&mut self) {
        self.0.writes_waiting.fetch_sub(1, Relaxed);
    }
}

impl Metrics {
    pub(crate) fn committed(&self, took: Duration) {
        self.commits.fetch_add(1, Relaxed);
        self.commit_micros
            .fetch_add(took.as_micros() as u64, Relaxed);
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
