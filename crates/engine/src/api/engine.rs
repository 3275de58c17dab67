//! The engine: opening and closing a data directory, and what the calls share.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use crate::api::catalog::Catalog;
use crate::api::database::{Database, Dependencies};
use crate::api::workers::{FirstPart, Threads};
use crate::background::Scheduler;
use crate::disk::{DataLock, Disk, RealDisk};
use crate::error::{Done, Error};
use crate::limits::Limits;
use crate::reply::{guarded, run_on_thread};
use crate::runtime::{EventQueue, Metrics, MetricsReading, TakenEvents};
use crate::search::{SearchScheduler, SearchStats};
use crate::snapshot::VectorMemory;
use crate::write::WriterThreads;

/// The databases of a data directory. Holds the lock of the directory until it is closed.
///
/// The calls are in files by purpose: `databases` (load, create, list, drop), `writes` (prepare, commit, delete),
/// `reads` (single records, searches, queries, changes) and `reembedding_calls` (another model). Each call checks the
/// request, runs the work on the threads of its kind, and calls `done` with the outcome.
pub struct Engine {
    pub(crate) limits: Limits,
    pub(crate) catalog: Catalog,
    pub(crate) threads: Threads,
    pub(crate) searches: SearchScheduler,
    /// Opens databases again that could not be opened because of something that may pass.
    pub(crate) retries: Retries,
    lock: Mutex<Option<DataLock>>,
}

impl Engine {
    /// Opens a data directory, which is created when it is missing, and lists its databases. [`Engine::load`] loads
    /// them into memory.
    ///
    /// `threads` is the number of scan threads; `None` means the number of cores. `limits` hold for every request.
    ///
    /// # Errors
    /// [`Error::Store`] when another process holds the directory; [`Error::File`].
    pub fn open(
        directory: &Path,
        threads: Option<usize>,
        limits: Limits,
    ) -> Result<Arc<Self>, Error> {
        let disk = Arc::new(RealDisk);
        let lock = DataLock::acquire(&*disk, directory)?;
        Self::open_locked(disk, directory, Some(lock), threads, limits)
    }

    /// Opens a data directory that another process may have open, and writes nothing to it. [`Engine::refresh`] brings its
    /// databases up to date. The other arguments are those of [`Engine::open`].
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn open_read_only(
        directory: &Path,
        threads: Option<usize>,
        limits: Limits,
    ) -> Result<Arc<Self>, Error> {
        Self::open_locked(Arc::new(RealDisk), directory, None, threads, limits)
    }

    /// Opens a data directory like [`Engine::open`], on a given disk.
    #[cfg(test)]
    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        directory: &Path,
        threads: Option<usize>,
        limits: Limits,
    ) -> Result<Arc<Self>, Error> {
        let lock = DataLock::acquire(&*disk, directory)?;
        Self::open_locked(disk, directory, Some(lock), threads, limits)
    }

    /// Opens a data directory, for reading only without its lock.
    fn open_locked(
        disk: Arc<dyn Disk>,
        directory: &Path,
        lock: Option<DataLock>,
        threads: Option<usize>,
        limits: Limits,
    ) -> Result<Arc<Self>, Error> {
        let file = |source| Error::file(directory)(source);
        let metrics = Arc::<Metrics>::default();
        let dependencies = Dependencies {
            disk,
            metrics: Arc::clone(&metrics),
            events: Arc::default(),
            scheduler: Arc::new(Scheduler::start(&metrics).map_err(file)?),
            writers: Arc::new(WriterThreads::start().map_err(file)?),
            vectors: VectorMemory::new(limits.vector_bytes),
            keep_changes: limits.keep_changes,
        };
        let root = directory.join("databases");
        let vectors = Arc::clone(&dependencies.vectors);
        let threads =
            threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        Ok(Arc::new(Self {
            limits,
            catalog: Catalog::open(root, dependencies, lock.is_none()).map_err(file)?,
            searches: SearchScheduler::start(threads, metrics, vectors).map_err(file)?,
            threads: Threads::start().map_err(file)?,
            retries: Retries::default(),
            lock: Mutex::new(lock),
        }))
    }

    /// Removes and returns the events since the last call. Works after [`Engine::close`] too.
    #[must_use]
    pub fn take_events(&self) -> TakenEvents {
        self.events().take()
    }

    /// How busy the scan threads are.
    #[must_use]
    pub fn search_stats(&self) -> SearchStats {
        self.searches.stats()
    }

    /// The counters since the engine was opened, and how many writes wait.
    #[must_use]
    pub fn metrics(&self) -> MetricsReading {
        self.catalog.dependencies.metrics.read()
    }

    /// Whether the engine is closed or closing.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.catalog.is_closed()
    }

    /// Closes the engine on a thread of its own, because [`Engine::close`] waits for all other threads.
    pub fn close_in_background(engine: &Arc<Self>, done: Done<()>) {
        let engine = Arc::clone(engine);
        run_on_thread("cosift-close", done, move || {
            // The engine is dropped before the reply, because its receiver may expect that the engine is gone.
            guarded(&engine.events(), "in the background", move || {
                engine.close();
                Ok(())
            })
        });
    }

    /// Completes the calls that wait, saves what makes the next start fast, and releases the directory lock. Does
    /// nothing when the engine is closed.
    pub fn close(&self) {
        self.catalog.begin_close();
        // Held to the end: of two concurrent calls, the second returns when the first is done.
        let mut lock = self.lock.lock();
        self.searches.close();
        self.threads.close();
        self.retries.wake();
        // A database that is being opened is listed then, and closed with the others.
        drop(self.catalog.lock_files());
        self.catalog.close_databases();
        self.catalog.dependencies.writers.close();
        self.catalog.dependencies.scheduler.close();
        lock.take();
    }

    pub(crate) fn events(&self) -> Arc<EventQueue> {
        Arc::clone(&self.catalog.dependencies.events)
    }

    pub(crate) fn database(&self, id: &str) -> Result<Arc<Database>, Error> {
        self.catalog.database(id)
    }

    /// # Errors
    /// [`Error::ReadOnly`] when the directory is open for reading only.
    pub(crate) fn check_writable(&self) -> Result<(), Error> {
        if self.catalog.is_read_only {
            return Err(Error::ReadOnly);
        }
        Ok(())
    }

    /// Runs `work` on a control thread.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        done: Done<T>,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) {
        self.threads.control.run(done, work);
    }

    /// Runs `work` with a database on a control thread.
    pub(crate) fn with<T: Send + 'static>(
        self: &Arc<Self>,
        id: &str,
        done: Done<T>,
        work: impl FnOnce(&Self, &Database) -> Result<T, Error> + Send + 'static,
    ) {
        match self.database(id) {
            Ok(database) => {
                let engine = Arc::clone(self);
                self.run(done, move || work(&engine, &database));
            }
            Err(error) => done(Err(error)),
        }
    }

    /// Runs `work` on a query thread. When `work` finds out that the rest takes long, a heavy-query thread runs the
    /// rest.
    pub(crate) fn run_query<T: Send + 'static>(
        &self,
        done: Done<T>,
        work: impl FnOnce() -> Result<FirstPart<T>, Error> + Send + 'static,
    ) {
        self.threads
            .queries
            .run_or_continue_on(&self.threads.heavy, done, work);
    }
}

impl Drop for Engine {
    /// Closes the engine, so that its threads end before the directory lock is released.
    fn drop(&mut self) {
        self.close();
    }
}

/// The time between two steps.
const PAUSE: Duration = Duration::from_secs(2);

/// The thread. Locked during each step, so that nothing begins to wait for a thread that ends.
#[derive(Default)]
pub(crate) struct Retries(Arc<Mutex<Option<JoinHandle<()>>>>);

impl Retries {
    /// Runs `step` after every pause until it returns false. Does nothing while the thread runs.
    pub(crate) fn begin(&self, step: impl Fn() -> bool + Send + 'static) {
        let mut running = self.0.lock();
        if running.is_some() {
            return;
        }
        let state = Arc::clone(&self.0);
        let thread = thread::Builder::new().name("cosift-retry".into());
        let started = thread.spawn(move || {
            loop {
                thread::park_timeout(PAUSE);
                let mut running = state.lock();
                if !step() {
                    *running = None;
                    return;
                }
            }
        });
        // Without a thread, nothing is repeated until the next start.
        *running = started.ok();
    }

    /// Makes the next step run now. During a step, it does nothing.
    pub(crate) fn wake(&self) {
        if let Some(running) = self.0.try_lock()
            && let Some(thread) = &*running
        {
            thread.thread().unpark();
        }
    }
}
