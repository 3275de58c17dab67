//! The state that the writer of a database shares with its readers.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;

use crate::runtime::{DatabaseEvents, EventCode, Metrics};
use crate::settings::Settings;
use crate::snapshot::PublishedCell;

/// The state of a database that its writer changes and its readers read.
pub(crate) struct Shared {
    pub(crate) published: Arc<PublishedCell>,
    /// Milliseconds since 1970.
    pub(crate) last_write_at: AtomicI64,
    /// Bytes of all files of the database.
    pub(crate) disk_bytes: AtomicU64,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) events: DatabaseEvents,
    /// Whether the database accepts writes. Once false, it stays false until the database is opened again.
    pub(crate) writable: AtomicBool,
    /// Makes the writer panic after the next commit, before it is published.
    #[cfg(test)]
    pub(crate) panic_after_commit: AtomicBool,
    /// Whether all records were checked since the database was opened.
    pub(crate) checked: AtomicBool,
    /// Why the database is no longer served: its records are damaged.
    pub(crate) damage: OnceLock<String>,
    /// The settings as they are now.
    pub(crate) settings: RwLock<Arc<Settings>>,
}

impl Shared {
    /// Stops serving the database, and reports why.
    pub(crate) fn note_damage(&self, text: &str) {
        if self.damage.set(text.to_owned()).is_ok() {
            self.writable.store(false, Relaxed);
            self.events.emit(EventCode::DatabaseDamaged, text);
        }
    }
}
