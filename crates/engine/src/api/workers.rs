//! Threads with a bounded queue for each kind of call, for work other than scans.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use parking_lot::Mutex;

use crate::error::{Done, Error};
use crate::reply::{Reply, caught};
use crate::runtime::ThreadGroup;

/// Calls that may wait. Another call is refused with [`Error::Busy`].
const MAX_WAITING: usize = 4096;

/// Runs a call and replies to it.
type Work = Box<dyn FnOnce() + Send>;

/// The outcome of the first part of a call.
pub(crate) enum FirstPart<T> {
    Done(T),
    /// The rest of the call takes long.
    Heavy(Box<dyn FnOnce() -> Result<T, Error> + Send>),
}

/// Threads of one kind.
pub(crate) struct Workers {
    queue: Mutex<Option<SyncSender<Work>>>,
    threads: ThreadGroup,
}

impl Workers {
    /// Starts `threads` threads called `name`.
    ///
    /// # Errors
    /// The operating system's error when a thread cannot be started.
    pub(crate) fn start(name: &str, threads: usize) -> std::io::Result<Self> {
        let (queue, work) = sync_channel::<Work>(MAX_WAITING);
        let work = Arc::new(Mutex::new(work));
        Ok(Self {
            queue: Mutex::new(Some(queue)),
            threads: ThreadGroup::start(name, threads, move || run(&work))?,
        })
    }

    /// Runs `work` on one of the threads and calls `done` with the outcome. A panic becomes [`Error::Internal`].
    pub(crate) fn run<T: Send + 'static>(
        &self,
        done: Done<T>,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) {
        let reply = Reply::new(done);
        let of_work = reply.clone();
        let work: Work = Box::new(move || of_work.send(caught(work)));
        let queue = self.queue.lock().clone();
        // Without a queue the reply is dropped.
        let sent = queue.map(|queue| queue.try_send(work));
        if let Some(Err(TrySendError::Full(_))) = &sent {
            reply.send(Err(Error::Busy {
                what: "calls",
                limit: MAX_WAITING,
            }));
        }
    }

    /// Runs `work` like [`Workers::run`]. When it returns [`FirstPart::Heavy`], the threads of `heavy` run the rest.
    pub(crate) fn run_or_continue_on<T: Send + 'static>(
        &self,
        heavy: &Arc<Self>,
        done: Done<T>,
        work: impl FnOnce() -> Result<FirstPart<T>, Error> + Send + 'static,
    ) {
        let heavy = Arc::clone(heavy);
        let done: Done<FirstPart<T>> = Box::new(move |result| match result {
            Ok(FirstPart::Done(value)) => done(Ok(value)),
            Ok(FirstPart::Heavy(rest)) => heavy.run(done, rest),
            Err(error) => done(Err(error)),
        });
        self.run(done, work);
    }

    /// Runs the calls that wait and ends the threads.
    pub(crate) fn close(&self) {
        self.queue.lock().take();
        self.threads.join();
    }
}

fn run(work: &Mutex<Receiver<Work>>) {
    loop {
        // The lock is held during the wait: one thread waits for a call, and the others wait for the lock.
        let next = work.lock().recv();
        match next {
            Ok(work) => work(),
            Err(_) => return,
        }
    }
}

/// The number of threads for a kind of calls that must not all wait for one slow call.
const SEVERAL: usize = 2;

/// A queue and threads for each kind of call.
pub(crate) struct Threads {
    /// Creates and drops databases, and begins and ends re-embeddings, one at a time. A drop waits for the writer of the
    /// database.
    pub(crate) admin: Workers,
    /// Prepares and performs switches to another model, one at a time, because each opens a whole database.
    pub(crate) switches: Workers,
    /// Runs calls that must never wait for a query: lists of databases, single records, checks of writes.
    pub(crate) control: Workers,
    pub(crate) queries: Workers,
    /// Runs queries and deletions whose filter takes long.
    pub(crate) heavy: Arc<Workers>,
    /// Reads exports, which must not hold up queries.
    pub(crate) exports: Workers,
}

impl Threads {
    /// Starts all threads.
    ///
    /// # Errors
    /// The operating system's error when a thread cannot be started.
    pub(crate) fn start() -> std::io::Result<Self> {
        Ok(Self {
            admin: Workers::start("cosift-admin", 1)?,
            switches: Workers::start("cosift-switch", 1)?,
            control: Workers::start("cosift-control", SEVERAL)?,
            queries: Workers::start("cosift-query", SEVERAL)?,
            heavy: Arc::new(Workers::start("cosift-heavy-query", SEVERAL)?),
            exports: Workers::start("cosift-export", SEVERAL)?,
        })
    }

    /// Runs the calls that wait, and ends all threads.
    pub(crate) fn close(&self) {
        self.queries.close();
        self.heavy.close();
        self.exports.close();
        self.control.close();
        self.admin.close();
        self.switches.close();
    }
}
