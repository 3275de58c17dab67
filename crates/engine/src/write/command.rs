//! What the writer of a database is asked to do.

use crate::error::Error;
use crate::write::commit::Commit;
use crate::write::delete::{Deleted, Found};
use crate::write::response::Answer;

/// A task for the writer.
pub(crate) enum Command {
    /// Write prepared records with the vectors of their texts.
    Commit(Commit),
    /// Delete records.
    Delete {
        found: Found,
        answer: Answer<Deleted>,
    },
    /// A background job has something to hand over.
    Nudge,
    /// Nothing was to be done for a while.
    Quiet,
    /// Save and end.
    Close,
}

impl Command {
    /// Answers a task that can't be taken.
    pub(crate) fn refuse(self, error: Error) {
        match self {
            Self::Commit(commit) => commit.answer.send(Err(error)),
            Self::Delete { answer, .. } => answer.send(Err(error)),
            Self::Nudge | Self::Quiet | Self::Close => {}
        }
    }
}
