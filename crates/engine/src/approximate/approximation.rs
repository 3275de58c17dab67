//! The approximate index of a database, and the next one while it is built.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::approximate::file;
use crate::approximate::index::{Index, Member};
use crate::disk::{Disk, Owner};
use crate::runtime::{DatabaseEvents, EventCode};
use crate::snapshot::{Snapshot, Unusable};

/// The index is saved once the number of its records has changed by this many, and by a quarter of those saved.
const SAVE_RECORDS: usize = 65_536;

/// The approximate index of a database that was created with `"approximate": true`.
pub(crate) struct Approximation {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    owner: Owner,
    dimensions: usize,
    /// Records from which on the database has an index.
    from: usize,
    events: DatabaseEvents,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether the saved index was loaded, or found to be missing or damaged.
    loaded: bool,
    /// The index that searches use.
    serving: Option<Arc<Index>>,
    /// The next index. It replaces the one that serves once every full block is in it.
    successor: Option<Arc<Index>>,
    /// The blocks of the index as it was saved last.
    saved: Vec<Member>,
}

/// A step that keeps an index up to date with its database. A step takes a few seconds at most, except loading and
/// saving.
pub(crate) enum Upkeep {
    /// Load the saved index, if there is one.
    Load,
    /// Begin an index: the first one, or the successor of an index with many dead records.
    Begin,
    /// Add the next block.
    Add(Arc<Index>),
    /// Save the index.
    Save,
    /// Remove the index and its files, because the database has become small.
    Remove,
}

impl Approximation {
    /// An index whose files are, or will be, in `directory`. Nothing is read yet. The database has an index from `from`
    /// records on.
    pub(crate) fn new(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        owner: Owner,
        dimensions: usize,
        from: usize,
        events: DatabaseEvents,
    ) -> Self {
        Self {
            disk: Arc::clone(disk),
            directory: directory.to_owned(),
            owner,
            dimensions,
            from,
            events,
            state: Mutex::default(),
        }
    }

    /// The index to search, if there is one yet.
    pub(crate) fn index(&self) -> Option<Arc<Index>> {
        self.lock().serving.clone()
    }

    /// Records from which on the database has an index.
    pub(crate) fn from(&self) -> usize {
        self.from
    }

    /// Living records of `snapshot` that are in the index or need no index. The index is complete when these are all.
    pub(crate) fn ready_records(&self, snapshot: &Snapshot) -> usize {
        let records = snapshot.records();
        if records < self.from {
            return records;
        }
        records - Index::missing_records(self.index().as_deref(), snapshot)
    }

    /// Bytes in memory of the index and its successor.
    pub(crate) fn memory_bytes(&self) -> usize {
        let state = self.lock();
        let indexes = [&state.serving, &state.successor];
        let indexes = indexes.into_iter().flatten();
        indexes.map(|index| index.graph.memory_bytes()).sum()
    }

    /// The next step that brings the index up to date with `snapshot`.
    pub(crate) fn due(&self, snapshot: &Snapshot) -> Option<Upkeep> {
        let mut state = self.lock();
        // The saved index may be there until it was looked for.
        let is_kept = !state.loaded || state.serving.is_some() || !state.saved.is_empty();
        // An index is kept until the database has half as many records, so that a few deletes do not remove it.
        if snapshot.records() < if is_kept { self.from / 2 } else { self.from } {
            return is_kept.then_some(Upkeep::Remove);
        }
        if !state.loaded {
            return Some(Upkeep::Load);
        }
        if let Some(successor) = &state.successor {
            if successor.next_block(snapshot).is_some() {
                return Some(Upkeep::Add(Arc::clone(successor)));
            }
            state.serving = state.successor.take();
        }
        let Some(serving) = &state.serving else {
            return Index::first_block(snapshot).map(|_| Upkeep::Begin);
        };
        if serving.has_many_dead(snapshot) {
            if Index::first_block(snapshot).is_some() {
                return Some(Upkeep::Begin);
            }
            // There is no full block for a successor.
            state.serving = None;
            return None;
        }
        if serving.next_block(snapshot).is_some() {
            return Some(Upkeep::Add(Arc::clone(serving)));
        }
        let saved: usize = state.saved.iter().map(|member| member.vectors).sum();
        let changed = serving.vectors().abs_diff(saved);
        (changed >= SAVE_RECORDS.max(saved / 4)).then_some(Upkeep::Save)
    }

    /// Carries out a step while `go_on` returns true. Returns whether the step was finished.
    pub(crate) fn keep_up(
        &self,
        upkeep: Upkeep,
        snapshot: &Snapshot,
        go_on: &dyn Fn() -> bool,
    ) -> bool {
        match upkeep {
            Upkeep::Load => {
                // A saved index that is missing or damaged is built again.
                let loaded =
                    match file::load(&*self.disk, &self.directory, &self.owner, self.dimensions) {
                        Ok(index) => Some(Arc::new(index)),
                        Err(unusable) => {
                            if !unusable.is_nothing_saved() {
                                let text = format!("the approximate index: {unusable}");
                                self.events.emit(EventCode::IndexFilesRebuilt, text);
                            }
                            None
                        }
                    };
                let mut state = self.lock();
                state.saved = loaded.as_ref().map_or(Vec::new(), |index| index.members());
                state.serving = loaded;
                state.loaded = true;
                true
            }
            Upkeep::Begin => {
                let begun = Index::first_block(snapshot).map(Index::new);
                let Some(Some(index)) = begun.map(|begun| self.reported("begun", begun)) else {
                    return false;
                };
                let mut state = self.lock();
                let place = if state.serving.is_some() {
                    &mut state.successor
                } else {
                    &mut state.serving
                };
                *place = Some(Arc::new(index));
                true
            }
            Upkeep::Add(index) => {
                let next = index.next_block(snapshot);
                let added = next.map(|block| index.add(block, go_on));
                added.and_then(|added| self.reported("extended", added)) == Some(true)
            }
            Upkeep::Save => self.save(),
            Upkeep::Remove => {
                file::remove(&*self.disk, &self.directory);
                *self.lock() = State {
                    loaded: true,
                    ..State::default()
                };
                true
            }
        }
    }

    /// The result of a step. A failure is reported as an event.
    fn reported<T>(&self, step: &str, outcome: Result<T, Unusable>) -> Option<T> {
        outcome
            .inspect_err(|unusable| {
                let text = format!("the approximate index could not be {step}: {unusable}");
                self.events.emit(EventCode::JobFailed, text);
            })
            .ok()
    }

    /// Saves the index, unless it was saved as it is. Nothing may be added during the call. Returns whether the index is
    /// saved.
    pub(crate) fn save(&self) -> bool {
        let (serving, saved) = {
            let state = self.lock();
            (state.serving.clone(), state.saved.clone())
        };
        let Some(index) = serving else { return true };
        let members = index.members();
        if members != saved {
            if self
                .reported(
                    "saved",
                    file::save(&*self.disk, &index, &self.directory, &self.owner),
                )
                .is_none()
            {
                return false;
            }
            self.lock().saved = members;
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}
