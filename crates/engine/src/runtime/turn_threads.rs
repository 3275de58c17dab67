//! Threads that many objects share, each of which runs in turns.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::runtime::thread_group::join;

/// What runs in turns.
pub(crate) trait TakesTurns: Send + Sync {
    /// Runs a turn. Two turns of the same object may begin at the same time, and a turn may begin without a reason.
    fn turn(self: Arc<Self>);
}

/// A bounded number of threads. A thread is started when a turn waits and no thread is idle, and ends after it was idle for
/// a while.
pub(crate) struct TurnThreads {
    shared: Arc<Shared>,
}

struct Shared {
    name: &'static str,
    max_threads: usize,
    state: Mutex<State>,
    /// Notified when a turn waits, and when the threads are to end.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Arc<dyn TakesTurns>>,
    /// The turns that begin later. The number makes the keys unique.
    later: BTreeMap<(Instant, u64), Weak<dyn TakesTurns>>,
    last_number: u64,
    idle: usize,
    threads: Vec<JoinHandle<()>>,
    running: usize,
    closed: bool,
}

/// How long an idle thread waits before it ends. The last thread does not end.
const IDLE: Duration = Duration::from_secs(10);

impl TurnThreads {
    /// Starts the first thread.
    ///
    /// # Errors
    /// The operating system's error when the thread cannot be started.
    pub(crate) fn start(name: &'static str, max_threads: usize) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            name,
            max_threads,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        shared.start_thread(&mut shared.state.lock())?;
        Ok(Self { shared })
    }

    /// Runs a turn of `of` after the turns that wait.
    pub(crate) fn run(&self, of: Arc<dyn TakesTurns>) {
        self.shared.push(|ready| ready.push_back(of));
    }

    /// Runs a turn of `of` before the turns that wait.
    pub(crate) fn run_first(&self, of: Arc<dyn TakesTurns>) {
        self.shared.push(|ready| ready.push_front(of));
    }

    /// Runs a turn of `of` at `time`, unless `of` was dropped by then.
    pub(crate) fn run_at(&self, time: Instant, of: Weak<dyn TakesTurns>) {
        let mut state = self.shared.state.lock();
        state.last_number += 1;
        let number = state.last_number;
        state.later.insert((time, number), of);
        let is_first = state.later.keys().next() == Some(&(time, number));
        drop(state);
        if is_first {
            self.shared.changed.notify_one();
        }
    }

    /// Ends the threads after the turns that wait now or are running.
    pub(crate) fn close(&self) {
        let threads = {
            let mut state = self.shared.state.lock();
            state.closed = true;
            std::mem::take(&mut state.threads)
        };
        self.shared.changed.notify_all();
        join(threads);
    }
}

impl Drop for TurnThreads {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn push(self: &Arc<Self>, push: impl FnOnce(&mut VecDeque<Arc<dyn TakesTurns>>)) {
        let mut state = self.state.lock();
        push(&mut state.ready);
        if state.ready.len() > state.idle && state.running < self.max_threads && !state.closed {
            // Without another thread the turn waits for those that run.
            let _ = self.start_thread(&mut state);
        }
        drop(state);
        self.changed.notify_one();
    }

    fn start_thread(self: &Arc<Self>, state: &mut State) -> std::io::Result<()> {
        state.threads.retain(|thread| !thread.is_finished());
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new()
            .name(format!("{}-{}", self.name, state.running))
            .spawn(move || shared.run())?;
        state.threads.push(thread);
        state.running += 1;
        // Until it waits for the first time: a turn that waits is one for the new thread.
        state.idle += 1;
        Ok(())
    }

    fn run(&self) {
        let mut state = self.state.lock();
        loop {
            state.start_due(Instant::now());
            if let Some(next) = state.ready.pop_front() {
                state.idle -= 1;
                if !state.ready.is_empty() && state.idle > 0 {
                    self.changed.notify_one();
                }
                MutexGuard::unlocked(&mut state, || next.turn());
                state.idle += 1;
                continue;
            }
            let until = Instant::now() + IDLE;
            let first = state.later.keys().next().map(|key| key.0);
            if state.closed || self.wait(&mut state, first, until) && state.running > 1 {
                break;
            }
        }
        state.idle -= 1;
        state.running -= 1;
    }

    /// Waits for a turn. Returns whether there was none until `until`.
    fn wait(
        &self,
        state: &mut MutexGuard<'_, State>,
        first: Option<Instant>,
        until: Instant,
    ) -> bool {
        let is_last = state.running == 1;
        match first {
            None if is_last => {
                self.changed.wait(state);
                false
            }
            Some(first) if is_last || first < until => {
                self.changed.wait_until(state, first);
                false
            }
            _ => self.changed.wait_until(state, until).timed_out() && state.ready.is_empty(),
        }
    }
}

impl State {
    /// Makes the turns ready that are due.
    fn start_due(&mut self, now: Instant) {
        while let Some(first) = self.later.first_entry() {
            if first.key().0 > now {
                break;
            }
            self.ready.extend(first.remove().upgrade());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Tells of each turn, which then lasts until the test ends it.
    struct Turn {
        begun: Sender<usize>,
        end: Mutex<Receiver<()>>,
        number: usize,
        turns: AtomicUsize,
    }

    impl TakesTurns for Turn {
        fn turn(self: Arc<Self>) {
            self.turns.fetch_add(1, SeqCst);
            self.begun.send(self.number).expect("the test waits");
            // Without a sender the turn ends at once.
            let _ = self.end.lock().recv();
        }
    }

    fn turn(number: usize, begun: &Sender<usize>) -> (Arc<Turn>, Sender<()>) {
        let (sender, end) = channel();
        let turn = Turn {
            begun: begun.clone(),
            end: Mutex::new(end),
            number,
            turns: AtomicUsize::new(0),
        };
        (Arc::new(turn), sender)
    }

    #[test]
    fn turns_wait_for_a_thread_in_their_order() {
        let threads = TurnThreads::start("test", 2).expect("started");
        let (begun, turns) = channel();
        let made: Vec<_> = (0..5).map(|number| turn(number, &begun)).collect();
        threads.run(made[0].0.clone());
        threads.run(made[1].0.clone());
        let mut running = [turns.recv(), turns.recv()].map(|number| number.expect("it begins"));
        running.sort_unstable();
        assert_eq!(running, [0, 1]);
        threads.run(made[2].0.clone());
        threads.run(made[3].0.clone());
        threads.run_first(made[4].0.clone());
        let mut order = Vec::new();
        for number in [0, 4, 2] {
            made[number].1.send(()).expect("it runs");
            order.push(turns.recv().expect("the next begins"));
        }
        assert_eq!(order, [4, 2, 3], "two turns run, and the others wait");
        drop(made);
        threads.close();
    }

    #[test]
    fn a_later_turn_runs_once_and_is_not_waited_for_by_a_close() {
        let threads = TurnThreads::start("test", 2).expect("started");
        let (begun, turns) = channel();
        let [soon, dropped, never] = [1, 2, 3].map(|number| turn(number, &begun).0);
        let weak = |turn: &Arc<Turn>| -> Weak<dyn TakesTurns> {
            let turn: Arc<dyn TakesTurns> = turn.clone();
            Arc::downgrade(&turn)
        };
        let now = Instant::now();
        threads.run_at(now + Duration::from_secs(3600), weak(&never));
        threads.run_at(now, weak(&dropped));
        threads.run_at(now + Duration::from_millis(2), weak(&soon));
        drop(dropped);
        // The first of them may have run already.
        let first = turns.recv().expect("it runs");
        let last = if first == 2 {
            turns.recv().expect("it runs")
        } else {
            first
        };
        assert_eq!(last, 1);
        threads.close();
        assert_eq!(soon.turns.load(SeqCst), 1);
        assert_eq!(never.turns.load(SeqCst), 0);
    }
}
