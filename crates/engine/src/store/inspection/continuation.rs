//! Whether the next start continues the store where it ended.

use std::fs;

use crate::disk::Disk;
use crate::store::acknowledged::AcknowledgedFile;
use crate::store::connection::main_file_status;
use crate::store::continuity::{Continuity, StoreStatus};
use crate::store::error::StoreError;
use crate::store::inspection::inspected::Inspection;
use crate::store::paths::acknowledged_path;

/// What the file `acknowledged` says of the store.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// It continues where it ended.
    Continues,
    /// The next start treats it as a restored backup, which is in order; why.
    Restored(&'static str),
    /// The file is damaged.
    Damaged,
    /// The file is that of another store.
    OfAnotherStore,
    /// Acknowledged commits are missing.
    Lost { acknowledged: u64, found: u64 },
    /// Acknowledged changes of the settings are missing.
    SettingsLost,
}

impl Inspection {
    /// Compares the store with its file `acknowledged`. `None` when the store has no valid state.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(crate) fn continuation(&self, disk: &dyn Disk) -> Result<Option<Continuation>, StoreError> {
        if self.state.is_none() || self.identity.is_none() {
            return Ok(None);
        }
        let found = StoreStatus::of(&self.connection)?;
        let acknowledged = AcknowledgedFile::read(disk, self.reader.path())?;
        let exists = fs::exists(acknowledged_path(self.reader.path())).unwrap_or(true);
        Ok(Some(match &acknowledged {
            None if exists => Continuation::Damaged,
            None => Continuation::Restored("the file `acknowledged` is missing"),
            Some(acknowledged) if acknowledged.status.store_id != found.store_id => {
                Continuation::OfAnotherStore
            }
            Some(_) => {
                let main_file = main_file_status(self.reader.path());
                match Continuity::of(acknowledged.as_ref(), main_file.as_ref(), &found) {
                    Continuity::Continued => Continuation::Continues,
                    Continuity::Restored(reason) => Continuation::Restored(reason),
                    Continuity::Lost { acknowledged } => Continuation::Lost {
                        acknowledged,
                        found: found.state.version,
                    },
                    Continuity::SettingsLost => Continuation::SettingsLost,
                }
            }
        }))
    }
}
