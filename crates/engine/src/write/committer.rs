//! Commits: writes a stage to the store, then publishes it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::error::Error;
use crate::lexical::WordColumns;
use crate::record::{RecordId, RecordRow, UuidMaker};
use crate::runtime::EventCode;
use crate::settings::Settings;
use crate::snapshot::{Coding, Snapshot};
use crate::store::{Header, Store, sync_key};
use crate::write::Shared;
use crate::write::commit::{Commit, Committed, stage_commit};
use crate::write::deletion::{SyncState, Unwritten};
use crate::write::deletion_matches::{Deleted, DeletionMatches};
use crate::write::snapshot_builder::SnapshotBuilder;
use crate::write::stage::Stage;
use crate::write::staged::Context;

/// A commit that takes longer is reported.
const SLOW_COMMIT: Duration = Duration::from_secs(1);

/// Nanoseconds that the writer spends on testing what was written after the matches of a deletion were found.
const MAX_TEST_COST: f64 = 2e6;

/// The store of a database, and what turns commits into snapshots.
pub(crate) struct Committer {
    pub(crate) settings: Settings,
    pub(crate) store: Store,
    pub(crate) coding: Coding,
    pub(crate) shared: Arc<Shared>,
    uuids: Mutex<UuidMaker>,
}

impl Committer {
    pub(crate) fn new(settings: Settings, store: Store, shared: Arc<Shared>) -> Self {
        Self {
            coding: Coding::untrained(settings.dimensions),
            settings,
            store,
            shared,
            uuids: Mutex::default(),
        }
    }

    /// The published snapshot.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.published.snapshot()
    }

    /// Commits a group of commits in one transaction, all or none.
    pub(crate) fn commit(&mut self, group: &[Commit]) -> Result<Vec<Committed>, Error> {
        let start = Instant::now();
        let (stage, outcomes) = self.stage_group(group)?;
        self.write_and_publish(stage, None, start)?;
        Ok(outcomes)
    }

    /// Deletes the matches of a deletion, and records written since that match too.
    pub(crate) fn delete(&mut self, matches: DeletionMatches) -> Result<Deleted, Error> {
        let start = Instant::now();
        let (mut records, matches) = if let Some(unwritten) = &matches.deletion.unwritten {
            (self.unwritten(unwritten)?, matches)
        } else {
            let bound = matches.bind(&self.shared.published);
            if bound.cost() > MAX_TEST_COST {
                return Ok(Deleted::Outdated(bound.into_matches()));
            }
            let matches = bound.test()?;
            (matches.records().collect(), matches)
        };
        if matches.is_stopped() {
            return Err(Error::Stopped);
        }
        matches.deletion.check_number(records.len())?;
        matches.check_conditions(&self.shared.published.read())?;
        let mut stage = self.new_stage();
        let now = self.store.now();
        // Rows are in the order of writing, but the changes of a deletion are in the order of the ids.
        records.sort_unstable_by_key(|(id, _)| id.0);
        for &(id, row) in &records {
            stage.delete(id, row, now);
        }
        self.write_and_publish(stage, matches.deletion.state.as_ref(), start)?;
        Ok(Deleted::Records(records.len()))
    }

    /// The records that no commit after a version wrote or touched.
    fn unwritten(&self, unwritten: &Unwritten) -> Result<Vec<(RecordId, RecordRow)>, Error> {
        let ids = self.store.reader().unwritten_since(unwritten.version)?;
        let published = self.shared.published.read();
        let snapshot = &published.snapshot;
        let is_chosen = |row| {
            let (block, slot) = snapshot.at(row);
            (unwritten.prefix.as_deref())
                .is_none_or(|prefix| block.key(slot).is_some_and(|key| key.starts_with(prefix)))
        };
        let find = |id| Some((id, published.index.find_id(snapshot, id)?));
        let records = ids.into_iter().map(RecordId).filter_map(find);
        Ok(records.filter(|&(_, row)| is_chosen(row)).collect())
    }

    /// Changes settings that no vector depends on: writes them to the store, then publishes them.
    ///
    /// # Errors
    /// [`Error::Stale`] for settings with which records would have other vectors; [`Error::Store`].
    pub(crate) fn configure(&mut self, settings: Settings) -> Result<(), Error> {
        if !settings.makes_vectors_of(&self.settings) {
            return Err(Error::Stale);
        }
        self.store.set_settings(&settings.to_stored())?;
        let before = std::mem::replace(&mut self.settings, settings.clone());
        if settings.lexical != before.lexical {
            self.set_word_columns();
        }
        *self.shared.settings.write() = Arc::new(settings);
        Ok(())
    }

    /// Lets snapshots index the words of the columns of the settings.
    pub(crate) fn set_word_columns(&mut self) {
        let words = WordColumns::of(&self.settings);
        self.publish(|next, _| next.set_word_columns(words));
    }

    /// Publishes the snapshot that `build` makes of the current one, if it differs.
    pub(crate) fn publish<T>(
        &mut self,
        build: impl FnOnce(&mut SnapshotBuilder, &mut Coding) -> T,
    ) -> T {
        let mut next = SnapshotBuilder::of(&self.snapshot());
        let built = build(&mut next, &mut self.coding);
        // An unchanged snapshot takes no lock, so no search waits for it.
        if next.is_changed() {
            self.shared
                .published
                .update(|published| next.publish(published));
        }
        built
    }

    fn new_stage(&self) -> Stage {
        let names = (*self.snapshot().names).clone();
        Stage::new(self.store.next_id(), names)
    }

    fn stage_group(&mut self, group: &[Commit]) -> Result<(Stage, Vec<Committed>), Error> {
        let stored = self.stored_hashes(group)?;
        let mut stage = self.new_stage();
        let now = self.store.now();
        let published = self.shared.published.read();
        let reader = self.store.reader();
        let mut context = Context {
            settings: &self.settings,
            published: &published,
            stored: &stored,
            vectors: &|id| reader.vectors(id.0)?.ok_or(Error::Stale),
            uuids: &self.uuids,
            now,
        };
        let mut outcomes = Vec::with_capacity(group.len());
        for Commit {
            prepared, embedded, ..
        } in group
        {
            let prepared = &mut prepared.lock();
            if stage.has_put(prepared) {
                // A condition tells the contents of a record apart by the times of their commits.
                context.now = self.store.now();
            }
            outcomes.push(stage_commit(&mut stage, &context, prepared, embedded)?);
        }
        Ok((stage, outcomes))
    }

    /// The content hashes of the records that the group may change.
    fn stored_hashes(&self, group: &[Commit]) -> Result<HashMap<u64, Header>, Error> {
        let published = self.shared.published.read();
        let mut ids = Vec::new();
        for Commit { prepared, .. } in group {
            let prepared = prepared.lock();
            let rows = prepared
                .references()
                .filter_map(|record| record.find(&published));
            ids.extend(rows.map(|row| published.snapshot.id_of(row).0));
        }
        let found = self.store.reader().identities(&ids)?;
        Ok(found
            .into_iter()
            .flatten()
            .map(|header| (header.id, header))
            .collect())
    }

    /// Makes a stage durable with the state of a sync, if there is one, then visible to readers. The commit began at
    /// `start`.
    fn write_and_publish(
        &mut self,
        stage: Stage,
        state: Option<&SyncState>,
        start: Instant,
    ) -> Result<(), Error> {
        let writes = stage.store_writes();
        let is_empty = writes.is_empty();
        match state {
            Some(state) => {
                let (key, text) = (sync_key(&state.name), state.text.as_bytes());
                self.store.commit_with(&writes, Some((&key, text)))?;
            }
            None if is_empty => {}
            None => self.store.commit(&writes)?,
        }
        drop(writes);
        #[cfg(test)]
        assert!(
            !self.shared.panic_after_commit.load(Relaxed),
            "a panic that the test requested"
        );
        if !is_empty {
            let changes = stage.into_changes(self.store.version());
            self.publish(|next, coding| next.apply_commit(changes, coding));
            let at = self.store.last_commit_at();
            self.shared.last_write_at.store(at, Relaxed);
        }
        let took = start.elapsed();
        self.shared.metrics.committed(took);
        if took > SLOW_COMMIT {
            let text = format!("a commit took {} ms", took.as_millis());
            self.shared.events.emit(EventCode::SlowCommit, text);
        }
        Ok(())
    }
}
