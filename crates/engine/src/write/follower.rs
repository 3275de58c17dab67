//! Follows a database that another process writes: reads its commits, and publishes what they lead to.
//!
//! The follower writes nothing. It reads the commits after the published snapshot in one transaction of SQLite and publishes
//! all of them at once, so that each snapshot is the state of one commit. Its vectors are those of the store: the index files
//! are those of the writer, which removes them when it no longer needs them.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::background::{DatabaseJobs, Scheduler};
use crate::error::Error;
use crate::lexical::WordColumns;
use crate::record::{RecordId, RecordRow};
use crate::reply::Reply;
use crate::runtime::now_ms;
use crate::settings::Settings;
use crate::snapshot::{Coding, IndexFiles, Snapshot};
use crate::store::{Moment, Reader, SETTINGS, StoreError, StoreStatus};
use crate::write::Shared;
use crate::write::block_maintenance::compact;
use crate::write::replay::{replay, stored_row};
use crate::write::snapshot_builder::{CommitChanges, SnapshotBuilder};
use crate::write::writer_queue::{Command, Next, Refreshed, RunsCommands, WriterQueue};

/// A database is idle when its follower got no command for this long.
const IDLE_AFTER: Duration = Duration::from_secs(2);

/// The pause of a follower that has nothing to do.
const PAUSE: Duration = Duration::from_secs(3_600);

/// Keeps a database as its store is. Takes the place of the writer.
pub(crate) struct Follower {
    settings: Settings,
    coding: Coding,
    reader: Reader,
    shared: Arc<Shared>,
    jobs: DatabaseJobs,
    /// What the published snapshot is of.
    status: StoreStatus,
    /// Whether something was published since the last maintenance.
    outdated: bool,
}

/// The state that follows the published one.
struct NextState {
    status: StoreStatus,
    settings: Settings,
    last_commit_at: i64,
    /// `None` without a commit since.
    changes: Option<CommitChanges>,
}

impl Follower {
    /// The follower of the store that `reader` reads and that was `status`. It has no records before [`Follower::load`].
    pub(crate) fn new(
        settings: Settings,
        reader: Reader,
        status: StoreStatus,
        index_files: IndexFiles,
        shared: Arc<Shared>,
        queue: Arc<WriterQueue>,
        scheduler: &Arc<Scheduler>,
    ) -> Self {
        let mut coding = Coding::untrained(settings.dimensions);
        if let Some(basis) = index_files.saved_basis() {
            coding.basis = basis;
        }
        // When the queue is full, the follower is awake and runs its maintenance anyway.
        let wake = move || queue.send(Command::Wake);
        let jobs = DatabaseJobs::new(
            Arc::clone(scheduler),
            Arc::new(index_files),
            Arc::new(wake),
            shared.events.clone(),
        );
        shared.writable.store(false, Relaxed);
        Self {
            settings,
            coding,
            reader,
            shared,
            jobs,
            status,
            outdated: false,
        }
    }

    /// Loads the last commit and publishes it. `progress` gets the number of records so far and returns whether to go on.
    ///
    /// # Errors
    /// [`Error::Stale`] when another store took the place of the one that the follower was made for.
    pub(crate) fn load(&mut self, progress: &dyn Fn(usize) -> bool) -> Result<(), Error> {
        let as_of = now_ms();
        let (published, next) = self.at_last_commit(|moment| {
            let next = self.settings_of(moment)?.ok_or(Error::Stale)?;
            let _held = moment.hold_files()?;
            let (published, _) = replay(&self.coding, None, Snapshot::empty(), moment, progress)?;
            Ok((published, next))
        })?;
        if self.coding.basis.is_trained() {
            self.coding.trained_at = published.snapshot.records();
        }
        self.shared.published.update(|current| *current = published);
        let words = WordColumns::of(&next.settings);
        if !self.publish(next, |builder| builder.set_word_columns(words)) {
            return Err(Error::Stale);
        }
        self.shared.as_of.store(as_of, Relaxed);
        self.shared.checked.store(true, Relaxed);
        self.maintain(false);
        Ok(())
    }

    /// Reads the last commit, again if the writer removed a vector file meanwhile: then a newer commit does not name it.
    fn at_last_commit<T>(
        &self,
        read: impl Fn(&Moment<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        loop {
            match self.reader.at_one_commit(&read) {
                Err(Error::Store(error)) if self.reader.is_past_file(&error)? => {}
                read => return read,
            }
        }
    }

    /// The state of a moment, without its commits; `None` when it does not follow the published one.
    fn settings_of(&self, moment: &Moment<'_>) -> Result<Option<NextState>, Error> {
        let status = moment.status()?;
        let settings = Settings::from_stored(moment.meta(SETTINGS)?)?;
        let follows = status.store_id == self.status.store_id
            && status.epoch == self.status.epoch
            && status.state.version >= self.status.state.version
            && settings.makes_vectors_of(&self.settings)
            && !moment.is_past_switch()?;
        Ok(follows.then_some(NextState {
            status,
            settings,
            last_commit_at: moment.last_commit_at()?,
            changes: None,
        }))
    }

    /// Publishes the last commit.
    fn refresh(&mut self) -> Result<Refreshed, Error> {
        let as_of = now_ms();
        if !self.reader.is_valid() {
            return Ok(Refreshed::Replaced);
        }
        self.shared.renumber_if_due()?;
        let next = match self.at_last_commit(|moment| self.next_state(moment)) {
            // The file was replaced, or what is left of it looks damaged.
            Err(_) if !self.reader.is_valid() => return Ok(Refreshed::Replaced),
            next => next?,
        };
        let Some(mut next) = next else {
            return Ok(Refreshed::Replaced);
        };
        let lexical = next.settings.lexical != self.settings.lexical;
        let words = lexical.then(|| WordColumns::of(&next.settings));
        let changes = next.changes.take();
        let coding = self.coding.clone();
        let published = self.publish(next, |builder| {
            if let Some(changes) = changes {
                builder.apply_commit(changes, &coding);
            }
            if let Some(words) = words {
                builder.set_word_columns(words);
            }
        });
        if !published {
            return Ok(Refreshed::Replaced);
        }
        self.shared.as_of.store(as_of, Relaxed);
        Ok(Refreshed::Current)
    }

    /// The state of a moment with what its commits changed; `None` when they cannot be applied.
    fn next_state(&self, moment: &Moment<'_>) -> Result<Option<NextState>, Error> {
        let Some(mut next) = self.settings_of(moment)? else {
            return Ok(None);
        };
        let (before, now) = (&self.status.state, &next.status.state);
        if now.version == before.version {
            return Ok((now == before).then_some(next));
        }
        // Without the deletions since, the snapshot would keep records that are gone.
        if moment.removed_changes()? > before.position {
            return Ok(None);
        }
        let published = self.shared.published.read();
        let (snapshot, index) = (&published.snapshot, &published.index);
        let mut removed: Vec<RecordRow> = Vec::new();
        moment.deleted_since(before.version, |id| {
            removed.extend(index.find_id(snapshot, RecordId(id)));
        })?;
        let mut names = (*snapshot.names).clone();
        let mut rows = Vec::new();
        let mut failed = None;
        moment.load(before.version, |record| {
            removed.extend(index.find_id(snapshot, RecordId(record.header.id)));
            match stored_row(&record, &mut names) {
                Ok(row) => rows.push(row),
                Err(error) => failed = Some(error),
            }
            match &failed {
                None => ControlFlow::Continue(()),
                Some(_) => ControlFlow::Break(()),
            }
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        // A record may be deleted more than once, or created again.
        removed.sort_unstable();
        removed.dedup();
        next.changes = Some(CommitChanges {
            version: now.version,
            names,
            rows,
            touched: Vec::new(),
            removed,
        });
        Ok(Some(next))
    }

    /// Publishes the state `next`, whose snapshot `build` makes of the current one. Returns false, and publishes nothing, when
    /// the snapshot has not as many records as the store.
    fn publish(&mut self, next: NextState, build: impl FnOnce(&mut SnapshotBuilder)) -> bool {
        let mut builder = SnapshotBuilder::of(&self.shared.published.snapshot());
        build(&mut builder);
        if builder.snapshot.records() as u64 != next.status.state.tally.records {
            return false;
        }
        if builder.is_changed() {
            self.outdated = true;
            self.shared
                .published
                .update(|published| builder.publish(published));
        }
        self.status = next.status;
        self.shared
            .last_write_at
            .fetch_max(next.last_commit_at, Relaxed);
        self.settings = next.settings.clone();
        *self.shared.settings.write() = Arc::new(next.settings);
        true
    }

    /// Applies job results, keeps the blocks compact, and submits the next job.
    fn maintain(&mut self, idle: bool) {
        self.outdated = false;
        let results = self.jobs.take_results();
        let mut builder = SnapshotBuilder::of(&self.shared.published.snapshot());
        builder.apply_job_results(results, &mut self.coding);
        while compact(&mut builder, &self.coding) {}
        if builder.is_changed() {
            self.shared
                .published
                .update(|published| builder.publish(published));
        }
        let snapshot = self.shared.published.snapshot();
        let lexical = self.settings.lexical.is_on();
        self.jobs
            .start_due_job(&snapshot, None, &self.coding, lexical, idle);
    }
}

impl RunsCommands for Follower {
    fn run(&mut self, queue: &Arc<WriterQueue>, due: Option<Command>) -> Option<Next> {
        let (mut idle, mut woken) = (false, false);
        let mut waiting: Vec<Reply<Refreshed>> = Vec::new();
        let mut next = due;
        while let Some(command) = next.take().or_else(|| queue.take()) {
            match command {
                Command::Refresh(reply) => waiting.push(reply),
                Command::Idle => idle = true,
                Command::Wake => woken = true,
                Command::Close => return None,
                command => command.refuse(Error::ReadOnly),
            }
        }
        if !waiting.is_empty() {
            // All were sent before this reading begins.
            let refreshed = self.refresh();
            for reply in waiting {
                reply.send(match &refreshed {
                    Ok(refreshed) => Ok(*refreshed),
                    Err(Error::Store(StoreError::Busy)) => Err(StoreError::Busy.into()),
                    // The database is opened again, which tells what is wrong with it.
                    Err(_) => Ok(Refreshed::Replaced),
                });
            }
        }
        if idle || woken || self.outdated {
            self.maintain(idle);
        }
        let snapshot = self.shared.published.snapshot();
        let lexical = self.settings.lexical.is_on();
        let (command, pause) = if DatabaseJobs::is_due_when_idle(&snapshot, &self.coding, lexical) {
            (Command::Idle, IDLE_AFTER)
        } else {
            (Command::Wake, PAUSE)
        };
        Some(Next { command, pause })
    }

    fn has_open_files(&self) -> bool {
        false
    }

    fn close_files(&mut self) {}
}
