//! A caller's callback, called exactly once whatever happens to the command that it belongs to.

use crate::error::{Done, Error};

/// Reports the outcome of a command to its caller. A reply that is dropped before [`Reply::send`] reports
/// [`Error::Closed`], for example when a command is still in the queue of a writer that ends.
pub(crate) struct Reply<T>(Option<Done<T>>);

impl<T> Reply<T> {
    pub(crate) fn new(done: Done<T>) -> Self {
        Self(Some(done))
    }

    /// Calls the callback with `outcome`.
    pub(crate) fn send(mut self, outcome: Result<T, Error>) {
        if let Some(done) = self.0.take() {
            done(outcome);
        }
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        if let Some(done) = self.0.take() {
            done(Err(Error::Closed));
        }
    }
}
