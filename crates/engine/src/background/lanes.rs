//! The queues of the scheduler: which step runs next.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The kinds of jobs. Each kind has a queue of its own, and at most one of its steps runs at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Training: a single step of seconds.
    Training,
    /// Everything else that keeps searches and the next start fast, in steps of seconds.
    Maintenance,
    /// Checks of stored records, one database after the other. This lane pauses as long as each step took, so that checks use half a core at most.
    Check,
    /// Loading a saved approximate index after a start. Builds of other databases must not delay it.
    Loading,
}

impl Lane {
    /// All lanes, each at the place of its queue.
    const ALL: [Self; 4] = [
        Self::Training,
        Self::Maintenance,
        Self::Check,
        Self::Loading,
    ];
}

/// The longest pause between two steps of a check, so that checks finish on a disk that stalls.
const MAX_PAUSE: Duration = Duration::from_millis(100);

/// Waiting tasks by lane. `C` identifies a task.
pub(crate) struct Lanes<T, C> {
    queues: [Queue<T, C>; 4],
    /// The number of steps so far. The lane that was not served for the longest time is served next.
    steps: u64,
}

struct Queue<T, C> {
    waiting: VecDeque<(Arc<C>, T)>,
    running: Option<Arc<C>>,
    /// No step starts earlier.
    not_before: Option<Instant>,
    /// The number of the last step.
    last_step: u64,
}

/// What a scheduler thread does next.
pub(crate) enum Next<T, C> {
    Run(Lane, Arc<C>, T),
    /// Wait for a change, at most until the time.
    Wait(Option<Instant>),
}

impl<T, C> Lanes<T, C> {
    pub(crate) fn new() -> Self {
        let queues = Lane::ALL.map(|_| Queue {
            waiting: VecDeque::new(),
            running: None,
            not_before: None,
            last_step: 0,
        });
        Self { queues, steps: 0 }
    }

    /// Appends a task to a lane.
    pub(crate) fn push(&mut self, lane: Lane, id: Arc<C>, task: T) {
        self.queues[lane as usize].waiting.push_back((id, task));
    }

    /// Puts a task back after a step that was not its last.
    pub(crate) fn push_again(&mut self, lane: Lane, id: Arc<C>, task: T) {
        let waiting = &mut self.queues[lane as usize].waiting;
        match lane {
            // A check keeps files open and a log from being emptied, so it ends before the next begins.
            Lane::Check => waiting.push_front((id, task)),
            _ => waiting.push_back((id, task)),
        }
    }

    /// Takes the task that runs next: the first of the lane that has not been served for longest.
    pub(crate) fn next(&mut self, now: Instant) -> Next<T, C> {
        let ready = self.queues.iter_mut().zip(Lane::ALL);
        let ready = ready.filter(|(queue, _)| queue.running.is_none() && !queue.waiting.is_empty());
        let (due, paused): (Vec<_>, Vec<_>) =
            ready.partition(|(queue, _)| queue.not_before <= Some(now));
        let first = due.into_iter().min_by_key(|(queue, _)| queue.last_step);
        if let Some((queue, lane)) = first
            && let Some((id, task)) = queue.waiting.pop_front()
        {
            self.steps += 1;
            queue.last_step = self.steps;
            queue.running = Some(Arc::clone(&id));
            return Next::Run(lane, id, task);
        }
        let times = paused.into_iter().filter_map(|(queue, _)| queue.not_before);
        Next::Wait(times.min())
    }

    /// Notes that the running step of a lane ended at `now` after `took`.
    pub(crate) fn stepped(&mut self, lane: Lane, now: Instant, took: Duration) {
        let queue = &mut self.queues[lane as usize];
        queue.running = None;
        queue.not_before = (lane == Lane::Check).then(|| now + took.min(MAX_PAUSE));
    }

    /// Removes a waiting task.
    pub(crate) fn remove(&mut self, id: &Arc<C>) -> Option<T> {
        self.queues.iter_mut().find_map(|queue| {
            let at = queue
                .waiting
                .iter()
                .position(|(waiting, _)| Arc::ptr_eq(waiting, id))?;
            queue.waiting.remove(at).map(|(_, task)| task)
        })
    }

    /// Removes every waiting task.
    pub(crate) fn clear(&mut self) -> Vec<(Arc<C>, T)> {
        let queues = self.queues.iter_mut();
        queues.flat_map(|queue| queue.waiting.drain(..)).collect()
    }

    /// The tasks that have a running step.
    pub(crate) fn running(&self) -> impl Iterator<Item = &Arc<C>> {
        self.queues
            .iter()
            .filter_map(|queue| queue.running.as_ref())
    }
}
