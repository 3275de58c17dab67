//! The complete check of a database that was loaded from index files, in the background.
//!
//! Loading counts the records only, because the first search after a start must not wait. The check reads all rows of
//! the store, with half a core at most, and compares them with the store's checksum, with what loading read after the
//! saved snapshot, and with the records in memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::runtime::{EventCode, message};
use crate::snapshot::Snapshot;
use crate::store::{Check, RecordRow, Store, StoreError, Tally};

/// After a step that took longer, such as on a disk that stalls, the check goes on nevertheless.
const MAX_PAUSE: Duration = Duration::from_millis(100);

/// What was loaded.
pub(crate) struct Loaded {
    pub(crate) snapshot: Arc<Snapshot>,
    /// The commit of the saved snapshot.
    pub(crate) since: u64,
    /// The records that were read from the store because later commits wrote or touched them.
    pub(crate) replayed: Tally,
}

/// How a check ended.
pub(crate) enum Checked {
    /// All records are as they were written.
    Complete,
    /// The check was ended early.
    Stopped,
    /// Records are damaged.
    Damaged(String),
    /// The check could not be made; the code of the event that tells it, and its text.
    Failed(EventCode, String),
}

/// A running check; dropping it ends it.
pub(crate) struct BackgroundCheck {
    thread: Option<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

impl BackgroundCheck {
    /// Starts the check of what was just loaded from `store`, and calls `report` with its outcome. Nothing may have
    /// been written since the load.
    pub(crate) fn start(
        store: &Store,
        loaded: Loaded,
        report: impl FnOnce(Checked) + Send + 'static,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let begun = store.begin_check();
        let run = move || {
            let checked = catch_unwind(AssertUnwindSafe(|| check(begun, &loaded, &stopped)));
            report(match checked {
                Ok(Ok(true)) => Checked::Complete,
                Ok(Ok(false)) => Checked::Stopped,
                Ok(Err(error)) if error.code() == "damaged" => Checked::Damaged(error.to_string()),
                Ok(Err(error)) => Checked::Failed(
                    EventCode::JobFailed,
                    format!("the records could not be checked: {error}"),
                ),
                Err(panic) => Checked::Failed(
                    EventCode::Panic,
                    format!("in the check of the records: {}", message(&*panic)),
                ),
            });
        };
        let thread = std::thread::Builder::new()
            .name("cosift-check".into())
            .spawn(run);
        Self {
            // Without a thread the next start checks.
            thread: thread.ok(),
            stop,
        }
    }
}

impl Drop for BackgroundCheck {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its panics were caught.
            let _ = thread.join();
        }
    }
}

/// Whether the check got to its end.
fn check(
    begun: Result<Check, StoreError>,
    loaded: &Loaded,
    stop: &AtomicBool,
) -> Result<bool, StoreError> {
    let mut step = Instant::now();
    let mut go_on = || {
        // As long again as the step took: searches and writes have the rest of the core.
        std::thread::sleep(step.elapsed().min(MAX_PAUSE));
        step = Instant::now();
        !stop.load(Relaxed)
    };
    let Some(found) = begun?.run(loaded.since, &mut go_on)? else {
        return Ok(false);
    };
    let differ = |what: &str| {
        Err(StoreError::Inconsistent {
            what: what.to_owned(),
        })
    };
    if found.since != loaded.replayed {
        return differ("an index does not lead to all records that were written last");
    }
    let mut in_memory = Tally::default();
    for block in &loaded.snapshot.blocks {
        if stop.load(Relaxed) {
            return Ok(false);
        }
        for slot in block.alive.iter() {
            let times = block.times(slot);
            in_memory.add(&RecordRow::of_memory(
                block.id(slot).0,
                block.uuid(slot).0,
                [times.created, times.changed, times.synced],
            ));
        }
    }
    if found.in_memory != in_memory {
        return differ("the index files hold other records");
    }
    Ok(true)
}
