//! A caller's callback, called exactly once whatever becomes of the task it belongs to.

use crate::error::{Done, Error};

/// Called once with the outcome of a task; with [`Error::Closed`] when the task is dropped unanswered, as one
/// still in the queue of a writer that ends.
pub(crate) struct Answer<T>(Option<Done<T>>);

impl<T> Answer<T> {
    pub(crate) fn new(done: Done<T>) -> Self {
        Self(Some(done))
    }

    /// Answers.
    pub(crate) fn send(mut self, outcome: Result<T, Error>) {
        if let Some(done) = self.0.take() {
            done(outcome);
        }
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        if let Some(done) = self.0.take() {
            done(Err(Error::Closed));
        }
    }
}
