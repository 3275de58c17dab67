//! The commands of a database's writer.

use std::sync::mpsc::Sender;

use crate::error::Error;
use crate::reply::Reply;
use crate::runtime::WaitingWrite;
use crate::write::commit::Commit;
use crate::write::deletion_matches::{Deleted, DeletionMatches};

/// A writer that takes no command until this is dropped.
pub(crate) struct Paused(Option<Box<dyn FnOnce() + Send>>);

impl Paused {
    /// `resume` ends the pause.
    pub(crate) fn until_dropped(resume: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(resume)))
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        if let Some(resume) = self.0.take() {
            resume();
        }
    }
}

/// A command in the queue of a writer.
pub(crate) enum Command {
    /// Write prepared records with the vectors of their texts.
    Commit(WaitingWrite, Commit),
    /// Delete records.
    Delete {
        waiting: WaitingWrite,
        matches: DeletionMatches,
        reply: Reply<Deleted>,
    },
    /// Let searches take the words of records into account.
    MakeLexical(Reply<()>),
    /// Send what ends the pause, and write nothing until then: the writers of the engine are brought to one moment.
    Pause(Sender<Paused>),
    /// Do the maintenance that is due: a background job has a result or has ended.
    Wake,
    /// No command came for a while. The writer gives this command to itself.
    Idle,
    /// Save the snapshot and end.
    Close,
}

impl Command {
    /// Reports `error` to the caller of a command that the queue did not accept.
    pub(crate) fn refuse(self, error: Error) {
        match self {
            Self::Commit(waiting, commit) => {
                drop(waiting);
                commit.reply.send(Err(error));
            }
            Self::Delete { waiting, reply, .. } => {
                drop(waiting);
                reply.send(Err(error));
            }
            Self::MakeLexical(reply) => reply.send(Err(error)),
            // Whoever waits for the pause learns of it when the sender is dropped.
            Self::Pause(_) | Self::Wake | Self::Idle | Self::Close => {}
        }
    }
}
