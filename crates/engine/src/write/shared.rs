//! The state that the writer of a database shares with its readers.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;

use crate::error::Error;
use crate::record::RecordRow;
use crate::runtime::{DatabaseEvents, EventCode, Metrics};
use crate::settings::Settings;
use crate::snapshot::{Published, PublishedCell};

/// The state of a database that its writer changes and its readers read.
pub(crate) struct Shared {
    pub(crate) published: Arc<PublishedCell>,
    /// Milliseconds since 1970.
    pub(crate) last_write_at: AtomicI64,
    /// The moment, in milliseconds since 1970, that the database is as of; 0 where it is as of now, because this process
    /// writes it.
    pub(crate) as_of: AtomicI64,
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
    /// The state of a database that has no records yet.
    pub(crate) fn new(
        settings: Settings,
        last_write_at: i64,
        metrics: &Arc<Metrics>,
        events: DatabaseEvents,
    ) -> Self {
        Self {
            published: Arc::new(PublishedCell::new(Published::empty())),
            last_write_at: AtomicI64::new(last_write_at),
            as_of: AtomicI64::new(0),
            disk_bytes: AtomicU64::new(0),
            metrics: Arc::clone(metrics),
            events,
            writable: AtomicBool::new(true),
            #[cfg(test)]
            panic_after_commit: AtomicBool::new(false),
            checked: AtomicBool::new(false),
            damage: OnceLock::new(),
            settings: RwLock::new(Arc::new(settings)),
        }
    }

    /// Renumbers all rows without gaps before the numbers run out; returns whether it did. Running searches use the
    /// old snapshot.
    ///
    /// # Errors
    /// [`Error::Busy`] when there are more records than row numbers.
    pub(crate) fn renumber_if_due(&self) -> Result<bool, Error> {
        let snapshot = self.published.snapshot();
        if snapshot.next_row() < RecordRow::RENUMBER_FROM {
            return Ok(false);
        }
        let snapshot = snapshot.renumbered(RecordRow(0));
        if snapshot.next_row() >= RecordRow::RENUMBER_FROM {
            let limit = RecordRow::RENUMBER_FROM.0 as usize;
            return Err(Error::Busy {
                what: "records",
                limit,
            });
        }
        let published = Published::of(snapshot);
        self.published.update(|current| *current = published);
        Ok(true)
    }

    /// Stops serving the database, and reports why.
    pub(crate) fn note_damage(&self, text: &str) {
        if self.damage.set(text.to_owned()).is_ok() {
            self.writable.store(false, Relaxed);
            self.events.emit(EventCode::DatabaseDamaged, text);
        }
    }
}
