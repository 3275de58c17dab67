//! Gives the disk space of deleted records back to the file system while nothing is written.

use crate::runtime::{DatabaseEvents, EventCode};
use crate::store::{Store, StoreError};

/// Whether free pages of the store are being released.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reclaim {
    Idle,
    Running,
    /// A step failed. Nothing is tried again until the database is opened again.
    Failed,
}

impl Reclaim {
    /// Whether a step is due while nothing is written.
    pub(crate) fn is_due(self, store: &mut Store) -> bool {
        self == Self::Running || self != Self::Failed && has_space(store)
    }

    /// Releases some pages, if a step is due.
    pub(crate) fn step(&mut self, store: &mut Store, events: &DatabaseEvents) {
        if !self.is_due(store) {
            return;
        }
        *self = match release(store) {
            Ok(true) => Self::Running,
            Ok(false) => Self::Idle,
            Err(error) => {
                let text = format!("disk space of deleted records could not be freed: {error}");
                events.emit(EventCode::JobFailed, text);
                Self::Failed
            }
        };
    }

    /// Pauses until nothing is written again.
    pub(crate) fn pause(&mut self) {
        if *self == Self::Running {
            *self = Self::Idle;
        }
    }
}

fn has_space(store: &mut Store) -> bool {
    // A store whose files are closed is not opened for it.
    store.is_open() && !store.is_poisoned() && store.has_space_to_reclaim().unwrap_or(false)
}

/// Releases some pages; returns whether there are more.
fn release(store: &mut Store) -> Result<bool, StoreError> {
    let more = store.reclaim()?;
    if !more {
        // Only the checkpoint shortens the file.
        store.checkpoint()?;
    }
    Ok(more)
}
