//! Threads for work that is not scanning, with a bounded queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use crate::error::Error;
use crate::runtime::message;

/// Calls that may wait; one more is refused as busy.
const MAX_WAITING: usize = 4096;

/// Runs the work, or refuses it with the error.
type Work = Box<dyn FnOnce(Option<Error>) + Send>;

/// How far work came that may take long.
pub(crate) enum Step<T> {
    Done(T),
    /// What is left takes long.
    Heavy(Box<dyn FnOnce() -> Result<T, Error> + Send>),
}

/// The threads.
pub(crate) struct Workers {
    queue: Mutex<Option<SyncSender<Work>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Workers {
    /// Starts `threads` threads called `name`.
    ///
    /// # Errors
    /// What the system says when a thread can't be started.
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

    /// Runs `work` on one of the threads and calls `done` with what it gives; a panic is an error.
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

    /// Like [`Workers::run`] for work that may turn out to take long: `heavy` then does the rest.
    pub(crate) fn run_or_hand_over<T: Send + 'static>(
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

    /// Finishes what was taken and ends the threads.
    pub(crate) fn close(&self) {
        self.queue.lock().take();
        for thread in std::mem::take(&mut *self.threads.lock()) {
            // The last handle of an engine may be dropped by one of these threads, which then ends by itself.
            if thread.thread().id() != std::thread::current().id() {
                // The work's panics are caught where it runs.
                let _ = thread.join();
            }
        }
    }
}

fn run(work: &Mutex<Receiver<Work>>) {
    loop {
        // The lock is held while waiting: one thread waits for work, the others for their turn.
        let next = work.lock().recv();
        match next {
            Ok(work) => work(None),
            Err(_) => return,
        }
    }
}
