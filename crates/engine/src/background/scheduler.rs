//! The scheduler: runs the background jobs of all databases of an engine on two threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Instant;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::background::job::{Job, Step};
use crate::background::lanes::{Lane, Lanes, Next};
use crate::runtime::{DatabaseEvents, EventCode, ThreadGroup, message};

/// The number of threads, on every machine. While one thread trains for seconds, the other runs the jobs and checks of the
/// other databases. More threads would only take cores from searches.
const THREADS: usize = 2;

/// Runs jobs step by step: after each step a job goes to the end of the queue of its [`Lane`], so that the databases
/// take turns. Only checks run one after the other.
///
/// A database submits one job and one check at a time, so the queues are no longer than the number of databases.
pub(crate) struct Scheduler {
    shared: Arc<Shared>,
    threads: ThreadGroup,
}

struct Shared {
    state: Mutex<State>,
    /// Notified when a task is added or has ended, when a step has ended, and when the scheduler closes.
    changed: Condvar,
}

struct State {
    lanes: Lanes<Task, TaskState>,
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
    scheduler: Arc<Shared>,
}

impl Scheduler {
    /// Starts the threads.
    ///
    /// # Errors
    /// The operating system's error when a thread cannot be started.
    pub(crate) fn start() -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                lanes: Lanes::new(),
                closed: false,
            }),
            changed: Condvar::new(),
        });
        let of_threads = Arc::clone(&shared);
        let threads = ThreadGroup::start("cosift-job", THREADS, move || of_threads.run())?;
        Ok(Self { shared, threads })
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
            scheduler: Arc::clone(&self.shared),
        };
        let task = Task {
            name,
            events: events.clone(),
            job,
            on_end,
        };
        let mut state = self.shared.state.lock();
        if state.closed {
            handle.task.ended.store(true, Release);
        } else {
            state.lanes.push(lane, Arc::clone(&handle.task), task);
            self.shared.changed.notify_all();
        }
        handle
    }

    /// Cancels all jobs and ends the threads.
    pub(crate) fn close(&self) {
        {
            let mut state = self.shared.state.lock();
            state.closed = true;
            for task in state.lanes.running() {
                task.stop.store(true, Relaxed);
            }
            for (task, _) in state.lanes.clear() {
                task.ended.store(true, Release);
            }
            self.shared.changed.notify_all();
        }
        self.threads.join();
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    /// What a thread of the scheduler does until the scheduler closes.
    fn run(&self) {
        let mut state = self.state.lock();
        while !state.closed {
            match state.lanes.next(Instant::now()) {
                Next::Run(lane, id, task) => self.run_step(&mut state, lane, id, task),
                Next::Wait(None) => self.changed.wait(&mut state),
                Next::Wait(Some(until)) => {
                    self.changed.wait_until(&mut state, until);
                }
            }
        }
    }

    fn run_step(
        &self,
        state: &mut MutexGuard<'_, State>,
        lane: Lane,
        id: Arc<TaskState>,
        mut task: Task,
    ) {
        let start = Instant::now();
        let unfinished = MutexGuard::unlocked(state, || {
            let stepped = task.guarded(|task| task.job.step(&id.stop));
            match stepped.unwrap_or(Step::Finished { progress: false }) {
                Step::Continue => Some(task),
                Step::Finished { progress } => {
                    task.end(progress);
                    None
                }
            }
        });
        let now = Instant::now();
        state.lanes.stepped(lane, now, now - start);
        match unfinished {
            // Read under the lock: a job that is cancelled later is removed from its queue by the cancellation.
            Some(task) if !id.stop.load(Relaxed) => state.lanes.push_again(lane, id, task),
            cancelled => {
                // Frees the snapshot of the job, which may take a moment.
                MutexGuard::unlocked(state, || drop(cancelled));
                id.ended.store(true, Release);
            }
        }
        self.changed.notify_all();
    }
}

impl Task {
    /// Runs `work`; a panic is reported as an event.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let worked = catch_unwind(AssertUnwindSafe(|| work(self)));
        worked
            .map_err(|panic| report(self.name, &self.events, &message(&*panic)))
            .ok()
    }

    fn end(self, progress: bool) {
        let Self {
            name,
            events,
            job,
            on_end,
        } = self;
        let end = move || {
            drop(job);
            on_end(progress);
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(end)) {
            report(name, &events, &message(&*panic));
        }
    }
}

fn report(name: &str, events: &DatabaseEvents, panic: &str) {
    events.emit(EventCode::Panic, format!("in {name}: {panic}"));
}

impl Drop for JobHandle {
    fn drop(&mut self) {
        self.task.stop.store(true, Relaxed);
        let mut state = self.scheduler.state.lock();
        if let Some(task) = state.lanes.remove(&self.task) {
            drop(state);
            // Frees the snapshot of the job, which may take a moment.
            drop(task);
            return;
        }
        while !self.task.ended.load(Acquire) {
            self.scheduler.changed.wait(&mut state);
        }
    }
}

#[cfg(test)]
mod tests;
