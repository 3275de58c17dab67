//! Loads a database into memory: the saved snapshot, then the commits after it.

use std::sync::Arc;

use crate::background::Saved;
use crate::error::Error;
use crate::runtime::{DatabaseEvents, EventCode};
use crate::settings::Settings;
use crate::snapshot::{Coding, FileId, IndexFiles, Published, SavedSnapshot, Snapshot, Use};
use crate::store::{Store, Tally};
use crate::write::block_maintenance::BlockMaintenance;
use crate::write::replay::replay;

/// Loads one database.
pub(crate) struct Loader<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) store: &'a mut Store,
    pub(crate) index_files: &'a Arc<IndexFiles>,
    pub(crate) events: &'a DatabaseEvents,
    pub(crate) blocks: &'a mut BlockMaintenance,
    /// Gets the number of records so far and returns whether to go on.
    pub(crate) progress: &'a dyn Fn(usize) -> bool,
}

/// A database in memory.
pub(crate) struct LoadedDatabase {
    pub(crate) published: Published,
    pub(crate) coding: Coding,
    /// The saved snapshot, if it was used, and the records that were read after it. `None`: all records were read and
    /// compared with the store's checksum.
    pub(crate) saved: Option<(Saved, Tally)>,
}

impl Loader<'_> {
    /// Loads the database.
    ///
    /// Index files that do not belong to the history of the store, whose later commits cannot be read, or whose records are
    /// not as many as the store counts, are removed. Then all records are read from the store, which checks them completely.
    ///
    /// # Errors
    /// [`Error::Store`] when the store is damaged, [`Error::Closed`] when `progress` ends the load.
    pub(crate) fn load(mut self) -> Result<LoadedDatabase, Error> {
        let loaded = self.load_all();
        if loaded.is_err() {
            self.blocks.abandon(&self.store.reader());
        }
        loaded
    }

    fn load_all(&mut self) -> Result<LoadedDatabase, Error> {
        // No later file takes the name of one that exists, even if the clock was set back.
        for file in self.store.reader().named_files()?.into_keys() {
            FileId(file).seen();
        }
        // Those of a process that did not end well would otherwise need room while others are written.
        if self.store.restored().is_none() {
            // What cannot be removed, for example on a full disk, is in nobody's way.
            let _ = self.store.remove_ended_next();
            if self.store.checkpoint().is_ok() {
                self.store.remove_unnamed_files()?;
            }
        }
        let mut coding = Coding::untrained(self.settings.dimensions);
        if let Some(loaded) = self.load_saved() {
            let saved = Saved::loaded(&loaded);
            if let Some(basis) = loaded.basis {
                // An untrained basis is trained: the last training may have had too few records, or was cancelled.
                coding.trained_at = if basis.is_trained() {
                    loaded.snapshot.records()
                } else {
                    0
                };
                coding.basis = basis;
            }
            let text = match self.replay(&coding, loaded.snapshot) {
                Ok((published, replayed)) => {
                    let (records, counted) = (published.snapshot.records(), self.store.records());
                    if records as u64 == counted {
                        return Ok(LoadedDatabase {
                            published,
                            coding,
                            saved: Some((saved, replayed)),
                        });
                    }
                    format!("they lead to {records} records, but the store counts {counted}")
                }
                // A deletion may be damaged in the feed only. Damaged records are found again when all are read.
                Err(Error::Store(error)) if error.code() == "damaged" => error.to_string(),
                Err(error) => return Err(error),
            };
            self.events.emit(EventCode::IndexFilesRebuilt, text);
            coding = Coding::untrained(self.settings.dimensions);
        }
        self.index_files.clear();
        let (published, _) = self.replay(&coding, Snapshot::empty())?;
        Ok(LoadedDatabase {
            published,
            coding,
            saved: None,
        })
    }

    /// Reads the saved snapshot, if it can be used.
    fn load_saved(&self) -> Option<SavedSnapshot> {
        if self.store.restored().is_some() {
            return None;
        }
        self.index_files.adopt_next();
        let removed = self.index_files.remove_temporary_files();
        if !removed.is_empty() {
            self.events
                .emit(EventCode::TemporaryFilesRemoved, removed.join(", "));
        }
        match self.index_files.load(Use::Writing) {
            Ok(loaded) => Some(loaded),
            Err(unusable) => {
                if !unusable.is_nothing_saved() {
                    let text = unusable.to_string();
                    self.events.emit(EventCode::IndexFilesRebuilt, text);
                }
                None
            }
        }
    }

    fn replay(&mut self, coding: &Coding, snapshot: Snapshot) -> Result<(Published, Tally), Error> {
        let reader = self.store.reader();
        let replayed = reader.at_one_commit(|moment| {
            replay(coding, Some(self.blocks), snapshot, moment, self.progress)
        })?;
        self.blocks.loaded(&replayed.0.snapshot, &reader)?;
        self.index_files.measure();
        Ok(replayed)
    }
}
