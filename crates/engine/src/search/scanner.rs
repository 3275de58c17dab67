//! The engine's own scan threads: they bind searches, run passes and write pages.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Instant;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::error::Error;
use crate::runtime::{Metrics, StopFlag, message};
use crate::search::job::{Arrival, Job, Reply, Scope};
use crate::search::pass::Pass;
use crate::search::request::Search;
use crate::search::scan::Scratch;
use crate::search::searchable::Searchable;
use crate::search::walk;

/// Searches that may wait; one more is refused as busy.
const MAX_WAITING: usize = 4096;

/// Searches that ride one pass: as many as the kernels take at once.
const MAX_RIDERS: usize = 64;

/// The scan threads and what waits for them.
///
/// Searches whose filter takes long have threads of their own, so that no other search waits for them.
pub(crate) struct Scanner {
    shared: Arc<Shared>,
    heavy: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    heavy_threads: Mutex<Vec<JoinHandle<()>>>,
}

/// How busy the scanner is.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScannerStats {
    /// Searches not yet on a pass.
    pub waiting: usize,
    /// Passes under way.
    pub passes: usize,
    /// Searches answered since the start.
    pub answered: u64,
}

struct Shared {
    state: Mutex<State>,
    work: Condvar,
    metrics: Arc<Metrics>,
    /// Takes the heavy searches; `None` where they are.
    heavy: Option<Arc<Self>>,
}

#[derive(Default)]
struct State {
    arrived: VecDeque<Arrival>,
    bound: VecDeque<Arc<Job>>,
    passes: VecDeque<Arc<Pass>>,
    scanned: VecDeque<Arc<Job>>,
    answered: u64,
    closed: bool,
}

/// A step of work. What is nearest to an answer comes first.
enum Step {
    Finish(Arc<Job>),
    Scan(Arc<Pass>, usize),
    Bind(Box<Arrival>),
}

impl Scanner {
    /// Starts `threads` scan threads, and as many for heavy searches.
    ///
    /// # Errors
    /// What the system says when a thread can't be started.
    pub(crate) fn start(threads: usize, metrics: Arc<Metrics>) -> std::io::Result<Self> {
        let heavy = Arc::new(Shared::new(Arc::clone(&metrics), None));
        let shared = Arc::new(Shared::new(metrics, Some(Arc::clone(&heavy))));
        Ok(Self {
            threads: Mutex::new(start_threads(&shared, threads, "cosift-scan")?),
            heavy_threads: Mutex::new(start_threads(&heavy, threads, "cosift-heavy")?),
            shared,
            heavy,
        })
    }

    /// Takes a search; `reply` is called once, from a scan thread or from here.
    pub(crate) fn submit(
        &self,
        target: Arc<Searchable>,
        search: Search,
        vector: Vec<i32>,
        stop: StopFlag,
        reply: Reply,
    ) {
        self.shared.take(Arrival {
            target,
            search,
            vector,
            stop,
            at: Instant::now(),
            known_masks: None,
            reply,
        });
    }

    pub(crate) fn stats(&self) -> ScannerStats {
        let mut stats = ScannerStats::default();
        for shared in [&self.shared, &self.heavy] {
            let state = shared.lock();
            stats.waiting += state.arrived.len() + state.bound.len();
            stats.passes += state.passes.len();
            stats.answered += state.answered;
        }
        stats
    }

    /// Answers what has been taken and ends the threads.
    pub(crate) fn close(&self) {
        // The first may hand searches to the second until they end.
        for (shared, threads) in [
            (&self.shared, &self.threads),
            (&self.heavy, &self.heavy_threads),
        ] {
            shared.lock().closed = true;
            shared.work.notify_all();
            let threads = std::mem::take(&mut *threads.lock());
            for thread in threads {
                // The last handle of an engine may be dropped by one of these threads, which then ends by itself.
                if thread.thread().id() == std::thread::current().id() {
                    continue;
                }
                // A scan thread catches every panic of a step, so joining it can't fail.
                let _ = thread.join();
            }
        }
    }
}

fn start_threads(
    shared: &Arc<Shared>,
    threads: usize,
    name: &str,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    (0..threads.max(1))
        .map(|at| {
            let shared = Arc::clone(shared);
            std::thread::Builder::new()
                .name(format!("{name}-{at}"))
                .spawn(move || shared.run())
        })
        .collect()
}

impl Shared {
    fn new(metrics: Arc<Metrics>, heavy: Option<Arc<Self>>) -> Self {
        Self {
            state: Mutex::default(),
            work: Condvar::new(),
            metrics,
            heavy,
        }
    }

    /// Takes a search, or answers that it can't be taken.
    fn take(&self, arrival: Arrival) {
        let mut state = self.lock();
        let error = if state.closed {
            Error::Closed
        } else if state.arrived.len() + state.bound.len() >= MAX_WAITING {
            Error::Busy {
                what: "searches",
                limit: MAX_WAITING,
            }
        } else {
            state.arrived.push_back(arrival);
            drop(state);
            self.work.notify_one();
            return;
        };
        drop(state);
        (arrival.reply)(Err(error));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn run(&self) {
        let mut scratch = Scratch::default();
        while let Some(step) = self.next() {
            match step {
                Step::Finish(job) => self.finish(&job),
                Step::Bind(arrival) => self.bind(*arrival, &mut scratch),
                Step::Scan(pass, part) => self.scan(&pass, part, &mut scratch),
            }
        }
    }

    /// Waits for a step; `None` once closed and empty.
    fn next(&self) -> Option<Step> {
        let mut state = self.lock();
        loop {
            if let Some(step) = state.next_step() {
                let more = state.has_more();
                drop(state);
                if more {
                    self.work.notify_one();
                }
                return Some(step);
            }
            if state.closed && state.passes.is_empty() {
                return None;
            }
            self.work.wait(&mut state);
        }
    }

    fn bind(&self, mut arrival: Arrival, scratch: &mut Scratch) {
        if arrival.stop.load(Relaxed) {
            return (arrival.reply)(Err(Error::Stopped));
        }
        // The reply must survive a panic while binding.
        let slot = Arc::new(Mutex::new(Some(arrival.reply)));
        let taken = Arc::clone(&slot);
        arrival.reply = Box::new(move |result| {
            if let Some(reply) = taken.lock().take() {
                reply(result);
            }
        });
        let bound = catch_unwind(AssertUnwindSafe(|| {
            let scope = Scope::of(&mut arrival);
            if let Some(heavy) = &self.heavy
                && scope.is_heavy(&arrival.search)
            {
                heavy.take(arrival);
                return None;
            }
            let mut job = Job::bind(scope, arrival);
            let answered = walk::answer(&mut job, scratch);
            Some((job, answered))
        }));
        self.metrics.scanned(std::mem::take(&mut scratch.bytes));
        match bound {
            Ok(None) => {}
            Ok(Some((job, answered))) => {
                let mut state = self.lock();
                if answered || job.is_known() {
                    state.scanned.push_back(Arc::new(job));
                } else {
                    state.bound.push_back(Arc::new(job));
                }
                drop(state);
                self.work.notify_one();
            }
            Err(panic) => {
                if let Some(reply) = slot.lock().take() {
                    reply(Err(Error::Internal {
                        detail: message(&*panic),
                    }));
                }
            }
        }
    }

    fn scan(&self, pass: &Pass, part: usize, scratch: &mut Scratch) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| pass.scan(part, scratch))) {
            for job in &pass.jobs {
                job.fail(Error::Internal {
                    detail: message(&*panic),
                });
            }
        }
        self.metrics.scanned(std::mem::take(&mut scratch.bytes));
        if pass.done() {
            let mut state = self.lock();
            for job in &pass.jobs {
                if job.is_certain() {
                    state.scanned.push_back(Arc::clone(job));
                } else {
                    job.start_over();
                    state.bound.push_front(Arc::clone(job));
                }
            }
            drop(state);
            self.work.notify_all();
        }
    }

    fn finish(&self, job: &Job) {
        job.finish();
        self.lock().answered += 1;
    }
}

impl State {
    fn next_step(&mut self) -> Option<Step> {
        if let Some(job) = self.scanned.pop_front() {
            return Some(Step::Finish(job));
        }
        while let Some(pass) = self.passes.front() {
            if let Some(part) = pass.take() {
                return Some(Step::Scan(Arc::clone(pass), part));
            }
            self.passes.pop_front();
        }
        if let Some(arrival) = self.arrived.pop_front() {
            return Some(Step::Bind(Box::new(arrival)));
        }
        self.start_pass();
        let pass = self.passes.front()?;
        pass.take().map(|part| Step::Scan(Arc::clone(pass), part))
    }

    /// Puts all bound searches of one snapshot on a pass.
    fn start_pass(&mut self) {
        let Some(first) = self.bound.front() else {
            return;
        };
        let snapshot = Arc::clone(&first.snapshot);
        let mut riders = Vec::new();
        let mut others = VecDeque::new();
        for job in self.bound.drain(..) {
            if riders.len() < MAX_RIDERS && Arc::ptr_eq(&job.snapshot, &snapshot) {
                riders.push(job);
            } else {
                others.push_back(job);
            }
        }
        self.bound = others;
        self.passes.push_back(Arc::new(Pass::new(riders)));
    }

    fn has_more(&self) -> bool {
        !self.scanned.is_empty()
            || !self.arrived.is_empty()
            || !self.bound.is_empty()
            || self.passes.iter().any(|pass| pass.has_more())
    }
}
