//! Threads with a bounded queue, for work other than scans.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use crate::error::Error;
use crate::runtime::message;

/// Calls that may wait. Another call is refused with [`Error::Busy`].
const MAX_WAITING: usize = 4096;

/// Runs a call, or ends it with the error.
type Work = Box<dyn FnOnce(Option<Error>) + Send>;

/// The outcome of the first part of a call.
pub(crate) enum Step<T> {
    Done(T),
    /// The rest of the call takes long.
    Heavy(Box<dyn FnOnce() -> Result<T, Error> + Send>),
}

/// Threads of one kind.
pub(crate) struct Workers {
    queue: Mutex<Option<SyncSender<Work>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Workers {
    /// Starts `threads` threads called `name`.
    ///
    /// # Errors
    /// The operating system's error when a thread cannot be started.
    pub(crate) fn start(name: &str, threads: usize) -> std::io::Result<Self> {
        let (queue, work) = sync_channel::<Work>(MAX_WAITING);
        let work = Arc::new(Mutex::new(work));
        let start = |at| {
            let work = Arc::clone(&work);
            std::thread::Builder::new()
                .name(format!("{name}-{at}"))
                .spawn(move || run(&work))
        };
        let threads = (0..threads).map(start).collect::<Result<_, _>>()?;
        Ok(Self {
            queue: Mutex::new(Some(queue)),
            threads: Mutex::new(threads),
        })
    }

    /// Runs `work` on one of the threads and calls `done` with the outcome. A panic becomes [`Error::Internal`].
    pub(crate) fn run<T: Send + 'static>(
        &self,
        done: Box<dyn FnOnce(Result<T, Error>) + Send>,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) {
        let work: Work = Box::new(move |refused| match refused {
            Some(error) => done(Err(error)),
            None => done(
                catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
                    Err(Error::Internal {
                        detail: message(&*panic),
                    })
                }),
            ),
        });
        let queue = self.queue.lock().clone();
        let Some(queue) = queue else {
            return work(Some(Error::Closed));
        };
        match queue.try_send(work) {
            Ok(()) => {}
            Err(TrySendError::Full(work)) => work(Some(Error::Busy {
                what: "calls",
                limit: MAX_WAITING,
            })),
            Err(TrySendError::Disconnected(work)) => work(Some(Error::Closed)),
        }
    }

    /// Runs `work` like [`Workers::run`]. When it returns [`Step::Heavy`], the threads of `heavy` run the rest.
    pub(crate) fn run_or_continue_on<T: Send + 'static>(
        &self,
        heavy: &Arc<Self>,
        done: Box<dyn FnOnce(Result<T, Error>) + Send>,
        work: impl FnOnce() -> Result<Step<T>, Error> + Send + 'static,
    ) {
        let heavy = Arc::clone(heavy);
        let done: Box<dyn FnOnce(Result<Step<T>, Error>) + Send> =
            Box::new(move |result| match result {
                Ok(Step::Done(value)) => done(Ok(value)),
                Ok(Step::Heavy(rest)) => heavy.run(done, rest),
                Err(error) => done(Err(error)),
            });
        self.run(done, work);
    }

    /// Runs the calls that wait and ends the threads.
    pub(crate) fn close(&self) {
        self.queue.lock().take();
        for thread in std::mem::take(&mut *self.threads.lock()) {
            // One of these threads may drop the last handle of the engine, and it cannot wait for itself.
            if thread.thread().id() != std::thread::current().id() {
                // The panics of calls are caught.
                let _ = thread.join();
            }
        }
    }
}

fn run(work: &Mutex<Receiver<Work>>) {
    loop {
        // The lock is held during the wait: one thread waits for a call, and the others wait for the lock.
        let next = work.lock().recv();
        match next {
            Ok(work) => work(None),
            Err(_) => return,
        }
    }
}
