//! How the background jobs of all databases of an engine run: step by step, on two threads.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::runtime::{DatabaseEvents, EventCode, Metrics, TakesTurns, TurnThreads, message};
use crate::snapshot::{Basis, Body, Coded};

/// The number of threads, on every machine. While one thread trains for seconds, the other runs the jobs and checks of the
/// other databases. More threads would only take cores from searches.
const THREADS: usize = 2;

/// The longest pause between two steps of a check, so that checks finish on a disk that stalls.
const MAX_PAUSE: Duration = Duration::from_millis(100);

/// The pause after a step of a check, as a multiple of the time of the step: half a core is used, and a tenth while there are
/// searches, which the step delays.
const PAUSE: u32 = 1;
const PAUSE_BESIDE_SEARCHES: u32 = 9;

/// The kinds of jobs. Each kind has a queue of its own, and at most one of its steps runs at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Training: a single step of seconds.
    Training,
    /// Everything else that keeps searches and the next start fast, in steps of seconds.
    Maintenance,
    /// Checks of stored records, one database after the other. This lane pauses after each step, so that checks use half a
    /// core at most, and less beside searches.
    Check,
}

/// Runs jobs step by step. Lanes take turns, and after each step a job goes to the end of the queue of its lane, so that
/// the databases take turns, too. Only checks run one after the other.
///
/// A database submits one job and one check at a time, so the queues are no longer than the number of databases.
pub(crate) struct Scheduler {
    threads: Arc<TurnThreads>,
    /// By lane.
    queues: [Arc<Queue>; 3],
}

/// The jobs of a lane. A turn is a step of one of them.
struct Queue {
    lane: Lane,
    threads: Arc<TurnThreads>,
    metrics: Arc<Metrics>,
    state: Mutex<State>,
    /// Notified when a step has ended, and when the scheduler closes.
    changed: Condvar,
}

/// While a job waits and none runs, a turn is requested.
#[derive(Default)]
struct State {
    waiting: VecDeque<(Arc<TaskState>, Task)>,
    running: Option<Arc<TaskState>>,
    /// No step starts earlier.
    not_before: Option<Instant>,
    /// Bytes that searches had scanned when the last step ended.
    scanned: u64,
    closed: bool,
}

/// What a [`JobHandle`] shares with the scheduler.
#[derive(Default)]
struct TaskState {
    stop: AtomicBool,
    /// Whether the scheduler is done with the job.
    ended: AtomicBool,
}

struct Task {
    /// For the text of the event after a panic, such as "a background job".
    name: &'static str,
    events: DatabaseEvents,
    job: Box<dyn Job>,
    on_end: OnEnd,
}

/// Called after the last step with whether the job made progress; with `false` after a panic. It is not called for a job
/// that is cancelled before its last step.
pub(crate) type OnEnd = Box<dyn FnOnce(bool) + Send>;

/// A submitted job. Dropping the handle cancels the job and waits for its current step to return.
pub(crate) struct JobHandle {
    task: Arc<TaskState>,
    queue: Arc<Queue>,
}

impl Scheduler {
    /// Starts the first thread. `metrics` tell whether there are searches.
    ///
    /// # Errors
    /// The operating system's error when a thread cannot be started.
    pub(crate) fn start(metrics: &Arc<Metrics>) -> std::io::Result<Self> {
        let threads = Arc::new(TurnThreads::start("cosift-job", THREADS)?);
        let lanes = [Lane::Training, Lane::Maintenance, Lane::Check];
        let queues = lanes.map(|lane| {
            Arc::new(Queue {
                lane,
                threads: Arc::clone(&threads),
                metrics: Arc::clone(metrics),
                state: Mutex::default(),
                changed: Condvar::new(),
            })
        });
        Ok(Self { threads, queues })
    }

    /// Appends a job to a lane. A closed scheduler drops the job.
    pub(crate) fn submit(
        &self,
        lane: Lane,
        name: &'static str,
        events: &DatabaseEvents,
        job: Box<dyn Job>,
        on_end: OnEnd,
    ) -> JobHandle {
        let handle = JobHandle {
            task: Arc::default(),
            queue: Arc::clone(&self.queues[lane as usize]),
        };
        let task = Task {
            name,
            events: events.clone(),
            job,
            on_end,
        };
        let mut state = handle.queue.state.lock();
        if state.closed {
            handle.task.ended.store(true, Release);
        } else {
            let waiting = (Arc::clone(&handle.task), task);
            state.waiting.push_back(waiting);
            handle.queue.request_turn(&state);
        }
        drop(state);
        handle
    }

    /// Cancels all jobs and ends the threads.
    pub(crate) fn close(&self) {
        for queue in &self.queues {
            let mut state = queue.state.lock();
            state.closed = true;
            if let Some(task) = &state.running {
                task.stop.store(true, Relaxed);
            }
            for (task, _) in state.waiting.drain(..) {
                task.ended.store(true, Release);
            }
            queue.changed.notify_all();
        }
        self.threads.close();
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.close();
    }
}

impl Queue {
    /// Requests a turn, if a job waits and none runs.
    fn request_turn(self: &Arc<Self>, state: &State) {
        if state.waiting.is_empty() || state.running.is_some() {
            return;
        }
        let queue: Arc<dyn TakesTurns> = Arc::<Self>::clone(self);
        match state.not_before {
            Some(time) => self.threads.run_at(time, Arc::downgrade(&queue)),
            None => self.threads.run(queue),
        }
    }
}

impl TakesTurns for Queue {
    fn turn(self: Arc<Self>) {
        let mut state = self.state.lock();
        let start = Instant::now();
        if state.running.is_some() || state.not_before > Some(start) {
            return;
        }
        let Some((id, task)) = state.waiting.pop_front() else {
            return;
        };
        state.running = Some(Arc::clone(&id));
        let unfinished = MutexGuard::unlocked(&mut state, || task.step(&id.stop));
        state.running = None;
        let now = Instant::now();
        let scanned = self.metrics.read().scanned_bytes;
        let has_searches = std::mem::replace(&mut state.scanned, scanned) != scanned;
        state.not_before =
            (self.lane == Lane::Check).then(|| now + pause_after(now - start, has_searches));
        match unfinished {
            // Read under the lock: a job that is cancelled later is removed from its queue by the cancellation. A check
            // keeps files open and a log from being emptied, so it ends before the next begins.
            Some(task) if !id.stop.load(Relaxed) => match self.lane {
                Lane::Check => state.waiting.push_front((id, task)),
                _ => state.waiting.push_back((id, task)),
            },
            cancelled => {
                // Frees the snapshot of the job, which may take a moment.
                MutexGuard::unlocked(&mut state, || drop(cancelled));
                id.ended.store(true, Release);
            }
        }
        self.request_turn(&state);
        self.changed.notify_all();
    }
}

/// The pause after a step of a check that took `step`.
fn pause_after(step: Duration, has_searches: bool) -> Duration {
    let times = if has_searches {
        PAUSE_BESIDE_SEARCHES
    } else {
        PAUSE
    };
    (step * times).min(MAX_PAUSE)
}

impl Task {
    /// Runs a step. Returns the job unless it has ended. A panic is reported as an event.
    fn step(mut self, stop: &AtomicBool) -> Option<Self> {
        let report = |panic: Box<dyn Any + Send>| {
            let text = format!("in {}: {}", self.name, message(&*panic));
            self.events.emit(EventCode::Panic, text);
        };
        let stepped = catch_unwind(AssertUnwindSafe(|| self.job.step(stop)));
        let progress = match stepped.map_err(&report) {
            Ok(Step::Continue) => return Some(self),
            Ok(Step::Finished { progress }) => progress,
            Err(()) => false,
        };
        let (job, on_end) = (self.job, self.on_end);
        let end = move || {
            drop(job);
            on_end(progress);
        };
        let _ = catch_unwind(AssertUnwindSafe(end)).map_err(report);
        None
    }
}

impl Drop for JobHandle {
    fn drop(&mut self) {
        self.task.stop.store(true, Relaxed);
        let mut state = self.queue.state.lock();
        let mut waiting = state.waiting.iter();
        if let Some(at) = waiting.position(|(id, _)| Arc::ptr_eq(id, &self.task)) {
            let task = state.waiting.remove(at);
            drop(state);
            // Frees the snapshot of the job, which may take a moment.
            drop(task);
            return;
        }
        while !self.task.ended.load(Acquire) {
            self.queue.changed.wait(&mut state);
        }
    }
}

/// Work of one database that the scheduler runs step by step.
pub(crate) trait Job: Send {
    /// Runs the next step. A step that takes long polls `stop` and returns early once it is set.
    fn step(&mut self, stop: &AtomicBool) -> Step;
}

/// A job of a single step. Returns whether it made progress.
pub(crate) struct SingleStep<F>(pub(crate) F);

impl<F: FnMut(&AtomicBool) -> bool + Send> Job for SingleStep<F> {
    fn step(&mut self, stop: &AtomicBool) -> Step {
        let progress = self.0(stop);
        Step::Finished { progress }
    }
}

/// What remains of a job after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The job has more steps.
    Continue,
    /// The job has ended. Without `progress` it is not started again before the next write, so that a job that fails
    /// is not retried in a loop.
    Finished { progress: bool },
}

/// Something that a job made and that the writer of the database applies.
pub(crate) enum JobResult {
    /// The basis for the codes of new blocks; `None` when no basis is better than the current one.
    Trained {
        basis: Option<Arc<Basis>>,
        records: usize,
    },
    /// Codes of a block in another basis.
    Recoded { body: Arc<Body>, coded: Arc<Coded> },
}

/// Wakes the writer of a database, which then applies job results and looks for due jobs. Does nothing when the writer
/// is awake.
pub(crate) type Wake = Arc<dyn Fn() + Send + Sync>;

/// Where the jobs of a database send their results.
#[derive(Clone)]
pub(crate) struct Results {
    pub(crate) sender: Sender<JobResult>,
    pub(crate) wake: Wake,
}

impl Results {
    /// Sends a result and wakes the writer: results that are applied one by one keep old and new codes of only a few
    /// blocks in memory at a time.
    pub(crate) fn send(&self, result: JobResult) {
        // The writer may have ended, and then nothing needs the result.
        let _ = self.sender.send(result);
        (self.wake)();
    }
}

#[cfg(test)]
mod tests;
