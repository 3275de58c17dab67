//! The queue of a writer: its commands that wait, and the writer itself between its turns.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::error::Error;
use crate::reply::Reply;
use crate::runtime::{RecentlyUsed, TakesTurns, TurnThreads, WaitingWrite, max_open_files};
use crate::settings::Settings;
use crate::store::Store;
use crate::write::commit::Commit;
use crate::write::deletion_matches::{Deleted, DeletionMatches};

/// Commands that may wait. Another one is refused.
const MAX_WAITING: usize = 1024;

/// The threads of all writers. A commit waits for the disk most of the time, so there are more than cores.
const MAX_THREADS: usize = 16;

/// Stores whose files stay open between commands, each with four files: 64 where the process may open 1,024 files, more
/// where it may open more.
fn max_open_stores() -> usize {
    (max_open_files() / 16).clamp(16, 512)
}

thread_local! {
    /// Whether this thread runs a writer.
    static RUNS_WRITER: Cell<bool> = const { Cell::new(false) };
}

/// What runs the commands of a queue.
pub(crate) trait RunsCommands: Send {
    /// Runs the commands that wait, or `due` if none does. `None` after [`Command::Close`].
    fn run(&mut self, queue: &Arc<WriterQueue>, due: Option<Command>) -> Option<Next>;

    /// Whether files of the store are open.
    fn has_open_files(&self) -> bool;

    /// Closes the files of the store until the next command that needs them.
    fn close_files(&mut self);
}

/// What a writer does when no other command comes for the time.
pub(crate) struct Next {
    pub(crate) command: Command,
    pub(crate) pause: Duration,
}

/// What the writers of an engine share.
pub(crate) struct WriterThreads {
    threads: TurnThreads,
    /// The writers whose stores are open.
    open: RecentlyUsed<WriterQueue>,
}

/// The commands of one writer, which takes turns on the threads of all writers.
pub(crate) struct WriterQueue {
    threads: Arc<WriterThreads>,
    state: Mutex<State>,
    /// Notified when there may be room for a command, and when the writer has ended.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    commands: VecDeque<Command>,
    /// `None` before [`WriterQueue::start`], during a turn, and at the end.
    writer: Option<Box<dyn RunsCommands>>,
    /// Whether a turn was requested that has not begun.
    requested: bool,
    /// Whether commands wait for the end of a pause.
    paused: bool,
    /// Whether the files of the store are to be closed, because other stores were used more recently.
    release: bool,
    /// When the writer gets a command from itself if no other comes.
    timeout: Option<(Instant, Command)>,
    /// The earliest turn that was requested for a later time.
    wakes_at: Option<Instant>,
    ended: bool,
}

impl WriterThreads {
    /// Starts the first thread.
    ///
    /// # Errors
    /// The operating system's error when the thread cannot be started.
    pub(crate) fn start() -> std::io::Result<Self> {
        Ok(Self {
            threads: TurnThreads::start("cosift-write", MAX_THREADS)?,
            open: RecentlyUsed::new(max_open_stores()),
        })
    }

    /// Ends the threads. All writers must have ended.
    pub(crate) fn close(&self) {
        self.threads.close();
    }
}

impl WriterQueue {
    pub(crate) fn new(threads: Arc<WriterThreads>) -> Arc<Self> {
        Arc::new(Self {
            threads,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Runs `writer` on the commands of this queue, until [`Command::Close`].
    pub(crate) fn start(self: &Arc<Self>, mut writer: Box<dyn RunsCommands>) {
        if self.threads.open.is_full() {
            // Before the next of many stores is loaded.
            writer.close_files();
        }
        let mut state = self.state.lock();
        state.writer = Some(writer);
        self.request_turn(&mut state);
    }

    /// Appends a command, or refuses it when the queue is full or the writer has ended.
    pub(crate) fn send(self: &Arc<Self>, command: Command) {
        let mut state = self.state.lock();
        let error = if state.ended {
            Error::Closed
        } else if state.commands.len() >= MAX_WAITING {
            Error::Busy {
                what: "writes",
                limit: MAX_WAITING,
            }
        } else {
            return self.push(&mut state, command);
        };
        drop(state);
        command.refuse(error);
    }

    /// Appends a command, and waits while the queue is full. Returns whether the writer has not ended.
    pub(crate) fn send_waiting(self: &Arc<Self>, command: Command) -> bool {
        let mut state = self.state.lock();
        while state.commands.len() >= MAX_WAITING && !state.ended {
            self.changed.wait(&mut state);
        }
        if !state.ended {
            self.push(&mut state, command);
        }
        !state.ended
    }

    /// Runs the commands that wait and ends the writer. A thread that runs a writer does not wait for the end: the writer
    /// may be its own.
    pub(crate) fn close(self: &Arc<Self>) {
        if !self.send_waiting(Command::Close) || RUNS_WRITER.get() {
            return;
        }
        let mut state = self.state.lock();
        while !state.ended {
            self.changed.wait(&mut state);
        }
    }

    /// Ends a pause, whoever paused the writer.
    pub(crate) fn resume(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.paused = false;
        self.request_turn(&mut state);
    }

    /// The next command; `None` when there is none or the writer pauses.
    pub(super) fn take(&self) -> Option<Command> {
        let mut state = self.state.lock();
        if state.paused {
            return None;
        }
        let command = state.commands.pop_front()?;
        drop(state);
        self.changed.notify_all();
        Some(command)
    }

    /// The next command, if it is a commit.
    pub(super) fn take_commit(&self) -> Option<Commit> {
        let mut state = self.state.lock();
        if !matches!(state.commands.front(), Some(Command::Commit(..))) {
            return None;
        }
        let command = state.commands.pop_front();
        drop(state);
        self.changed.notify_all();
        match command {
            Some(Command::Commit(_, commit)) => Some(commit),
            _ => None,
        }
    }

    /// Takes no further command until the result is dropped or [`WriterQueue::resume`] is called.
    pub(super) fn pause(self: &Arc<Self>) -> Paused {
        self.state.lock().paused = true;
        let queue = Arc::clone(self);
        Paused::until_dropped(move || queue.resume())
    }

    fn push(self: &Arc<Self>, state: &mut State, command: Command) {
        state.commands.push_back(command);
        self.request_turn(state);
    }

    fn request_turn(self: &Arc<Self>, state: &mut State) {
        let has_work = !state.paused && !state.commands.is_empty() || state.timeout.is_none();
        // A turn that runs requests the next one itself.
        if state.writer.is_some() && has_work && !state.requested {
            state.requested = true;
            self.threads.threads.run(self.clone());
        }
    }

    /// Puts the writer back after a turn, and requests the next one.
    fn end_turn(self: &Arc<Self>, writer: Box<dyn RunsCommands>, next: Next) {
        let is_open = writer.has_open_files();
        let at = Instant::now() + next.pause;
        let mut state = self.state.lock();
        // The store was used most recently, so it is not one to be closed.
        state.release = false;
        state.timeout = Some((at, next.command));
        state.writer = Some(writer);
        self.request_turn(&mut state);
        if !state.requested && state.wakes_at.is_none_or(|wakes_at| at < wakes_at) {
            state.wakes_at = Some(at);
            let turn: Arc<dyn TakesTurns> = self.clone();
            self.threads.threads.run_at(at, Arc::downgrade(&turn));
        }
        drop(state);
        if is_open && let Some(other) = self.threads.open.note(self) {
            other.request_release();
        }
    }

    /// Ends the writer. Commands that wait are dropped, which tells their callers.
    fn end(self: &Arc<Self>, writer: Box<dyn RunsCommands>) {
        self.threads.open.forget(self);
        // Before the end is visible: whoever waits for it expects the files to be closed.
        drop(writer);
        let mut state = self.state.lock();
        state.ended = true;
        let refused = std::mem::take(&mut state.commands);
        drop(state);
        self.changed.notify_all();
        drop(refused);
    }

    /// Closes the files of the store in a turn before those that wait, so that not many more stores are open than may be.
    fn request_release(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.release = true;
        if state.writer.is_some() {
            self.threads.threads.run_first(self.clone());
        }
    }
}

impl TakesTurns for WriterQueue {
    fn turn(self: Arc<Self>) {
        let mut state = self.state.lock();
        state.requested = false;
        let now = Instant::now();
        state.wakes_at = state.wakes_at.filter(|&at| at > now);
        let Some(mut writer) = state.writer.take() else {
            // A turn is running, or the writer has ended.
            return;
        };
        let release = std::mem::take(&mut state.release) && state.commands.is_empty();
        let timeout = state.timeout.take();
        let due = timeout
            .filter(|(at, _)| *at <= now && state.commands.is_empty() && !state.paused)
            .map(|(_, command)| command);
        drop(state);
        RUNS_WRITER.set(true);
        let ran = catch_unwind(AssertUnwindSafe(|| {
            if release {
                writer.close_files();
            }
            writer.run(&self, due)
        }));
        match ran {
            Ok(Some(next)) => self.end_turn(writer, next),
            // After a panic, which only the callback of a caller can cause, nothing more is written.
            Ok(None) | Err(_) => self.end(writer),
        }
        RUNS_WRITER.set(false);
    }
}

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

/// A call with the store of a writer, or with the error when there is none.
pub(crate) type StoreCall = Box<dyn FnOnce(Result<&mut Store, Error>) + Send>;

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
    /// Change settings that no vector depends on.
    Configure(Box<Settings>, Reply<()>),
    /// Run a call with the store, between commits.
    Use(StoreCall),
    /// Bring a database that another process writes up to date.
    Refresh(Reply<Refreshed>),
    /// Send what ends the pause, and write nothing until then: the writers of the engine are brought to one moment.
    Pause(Sender<Paused>),
    /// Do the maintenance that is due: a background job has a result or has ended.
    Wake,
    /// No command came for a while. The writer gives this command to itself.
    Idle,
    /// Save the snapshot and end.
    Close,
}

/// What a database that another process writes is after [`Command::Refresh`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refreshed {
    /// As of a moment after the command was sent.
    Current,
    /// To be opened again: another store took the place of the one that was read, or its commits cannot be applied.
    Replaced,
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
            Self::Configure(_, reply) => reply.send(Err(error)),
            Self::Use(call) => call(Err(error)),
            Self::Refresh(reply) => reply.send(Err(error)),
            // Whoever waits for the pause learns of it when the sender is dropped.
            Self::Pause(_) | Self::Wake | Self::Idle | Self::Close => {}
        }
    }
}
