//! A thread that repeats a step, while there is something to repeat.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::Mutex;

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
