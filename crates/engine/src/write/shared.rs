//! What the writer of a database shows to its readers.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use std::sync::{Arc, OnceLock};

use crate::approximate::Approximation;
use crate::runtime::{DatabaseEvents, EventCode, Metrics};
use crate::snapshot::PublishedCell;

/// The state of a database that its writer changes and its readers read.
pub(crate) struct Shared {
    pub(crate) published: Arc<PublishedCell>,
    /// Milliseconds since 1970.
    pub(crate) last_write_at: AtomicI64,
    pub(crate) disk_bytes: AtomicU64,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) events: DatabaseEvents,
    /// Whether writes are taken. Once false it stays so until the database is opened again.
    pub(crate) writable: AtomicBool,
    /// Has the writer panic after the next commit, before it is published.
    #[cfg(test)]
    pub(crate) panic_after_commit: AtomicBool,
    /// Whether all of its records were checked since it was opened.
    pub(crate) checked: AtomicBool,
    /// Why it is not served any more: its records are damaged.
    pub(crate) damage: OnceLock<String>,
    /// For a database that was made with one.
    pub(crate) approximation: Option<Arc<Approximation>>,
}

impl Shared {
    /// Ends serving the database, and reports why.
    pub(crate) fn note_damage(&self, text: &str) {
        if self.damage.set(text.to_owned()).is_ok() {
            self.writable.store(false, Relaxed);
            self.events.emit(EventCode::DatabaseDamaged, text);
        }
    }
}
