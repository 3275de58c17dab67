//! The reply to a call: the callback of the caller is called exactly once, also after a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use parking_lot::Mutex;

use crate::error::{Done, Error};
use crate::runtime::{EventCode, EventQueue, message};

/// Reports the outcome of a call to its caller. Clones share the callback, and the first outcome counts. Once the last
/// clone is dropped without one, the caller gets [`Error::Closed`]: the work was in a queue that ended, for example.
pub(crate) struct Reply<T>(Arc<Callback<T>>);

struct Callback<T>(Mutex<Option<Done<T>>>);

impl<T> Reply<T> {
    pub(crate) fn new(done: Done<T>) -> Self {
        Self(Arc::new(Callback(Mutex::new(Some(done)))))
    }

    /// Calls the callback with `outcome`, unless it was called or taken.
    pub(crate) fn send(&self, outcome: Result<T, Error>) {
        if let Some(done) = self.take() {
            done(outcome);
        }
    }

    /// Takes the callback; `None` once it was called or taken.
    pub(crate) fn take(&self) -> Option<Done<T>> {
        self.0.0.lock().take()
    }
}

impl<T> Clone for Reply<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Callback<T> {
    fn drop(&mut self) {
        if let Some(done) = self.0.get_mut().take() {
            done(Err(Error::Closed));
        }
    }
}

/// Replies to the parts of a call. `done` gets the outcomes of all parts, in their order, once each part has one.
pub(crate) fn replies_of<T: Send + 'static>(
    parts: usize,
    done: Done<Vec<Result<T, Error>>>,
) -> Vec<Reply<T>> {
    if parts == 0 {
        done(Ok(Vec::new()));
        return Vec::new();
    }
    let outcomes = (0..parts).map(|_| None).collect::<Vec<_>>();
    let state = Arc::new(Mutex::new((outcomes, parts, Some(done))));
    let reply_of = |part: usize| {
        let state = Arc::clone(&state);
        Reply::new(Box::new(move |outcome| {
            let mut state = state.lock();
            let (outcomes, left, done) = &mut *state;
            outcomes[part] = Some(outcome);
            *left -= 1;
            if *left > 0 {
                return;
            }
            let outcomes = std::mem::take(outcomes).into_iter().flatten().collect();
            let done = done.take();
            drop(state);
            if let Some(done) = done {
                done(Ok(outcomes));
            }
        }))
    };
    (0..parts).map(reply_of).collect()
}

/// Starts a call and waits for its outcome.
pub(crate) fn outcome_of<T: Send + 'static>(start: impl FnOnce(Reply<T>)) -> Result<T, Error> {
    let (sender, receiver) = channel();
    start(Reply::new(Box::new(move |outcome| {
        // The receiver waits below.
        let _ = sender.send(outcome);
    })));
    receiver.recv().map_err(|_| Error::Closed)?
}

/// Runs `work` on a thread of its own, and sends its outcome.
pub(crate) fn run_on_thread<T: Send + 'static>(
    name: &str,
    done: Done<T>,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) {
    let reply = Reply::new(done);
    let of_thread = reply.clone();
    let thread = thread::Builder::new().name(name.into());
    if let Err(source) = thread.spawn(move || of_thread.send(caught(work))) {
        reply.send(Err(Error::file("thread")(source)));
    }
}

/// Runs `work`. A panic becomes [`Error::Internal`].
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Error::internal(message(&*panic))))
}

/// Runs `work`. A panic is reported as an event, with `place` to say where it was caught, and returned as
/// [`Error::Internal`].
pub(crate) fn guarded<T>(
    events: &EventQueue,
    place: &str,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let detail = message(&*panic);
        events.emit(EventCode::Panic, None, format!("{place}: {detail}"));
        Err(Error::Internal { detail })
    })
}
