//! Threads that do the same work, and end together.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;

/// Some threads, until they are joined.
pub(crate) struct ThreadGroup(Mutex<Vec<JoinHandle<()>>>);

impl ThreadGroup {
    /// Starts `count` threads called `name` and a number.
    ///
    /// # Errors
    /// The operating system's error when a thread cannot be started.
    pub(crate) fn start(
        name: &str,
        count: usize,
        run: impl Fn() + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let run = Arc::new(run);
        let start = |number| {
            let run = Arc::clone(&run);
            let thread = thread::Builder::new().name(format!("{name}-{number}"));
            thread.spawn(move || run())
        };
        let threads: Result<_, _> = (0..count).map(start).collect();
        Ok(Self(Mutex::new(threads?)))
    }

    /// Waits until all threads have ended, except the calling one.
    pub(crate) fn join(&self) {
        join(std::mem::take(&mut *self.0.lock()));
    }
}

/// Waits until threads have ended, except the calling one: it may drop the last handle of what has the threads.
pub(crate) fn join(threads: Vec<JoinHandle<()>>) {
    for thread in threads {
        if thread.thread().id() != thread::current().id() {
            // The threads of the engine catch the panics of what they run.
            let _ = thread.join();
        }
    }
}
