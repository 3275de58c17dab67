//! Events: what the engine reports to the operator's log.
//!
//! The engine writes no log of its own. It appends events to a bounded queue, which the process empties with
//! [`crate::Engine::take_events`].

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use serde_json::{Value, json};

use crate::runtime::now_ms;

/// Events that the queue holds at most; the oldest is dropped and counted when another one comes.
const MAX_EVENTS: usize = 1024;

/// Bytes of an event's text at most.
const MAX_TEXT_BYTES: usize = 2048;

/// What happened. `docs/operating.md` lists the codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventCode {
    /// A database refuses writes until it is opened again.
    WritesRefused,
    /// A panic was caught.
    Panic,
    /// A background job failed. Nothing is lost, and it is tried again.
    JobFailed,
    /// Index files could not be used and are rebuilt from the records.
    IndexFilesRebuilt,
    /// A database is in another state than it was left in, such as a backup that was put back.
    StoreReplaced,
    /// Records of a database are damaged: it is not served until it is opened again.
    DatabaseDamaged,
    /// A database could not be opened.
    OpenFailed,
    /// The files of a dropped database could not be removed.
    DropFailed,
    /// Temporary files of an earlier process were removed.
    TemporaryFilesRemoved,
    /// A commit took longer than a second.
    SlowCommit,
}

/// How urgent an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventLevel {
    /// Expected and harmless.
    Info,
    /// The engine helped itself; somebody should look when it repeats.
    Warn,
    /// Somebody must act.
    Error,
}

/// Something that an operator should know of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Milliseconds since 1970.
    pub at: i64,
    /// What happened.
    pub code: EventCode,
    /// The database it happened to, if to one.
    pub database: Option<Arc<str>>,
    /// The cause, with the file where there is one.
    pub text: String,
}

/// What [`crate::Engine::take_events`] returns.
#[derive(Clone, Debug, Default)]
pub struct TakenEvents {
    /// Oldest first.
    pub events: Vec<Event>,
    /// Events that were dropped since the last call because the queue was full.
    pub dropped: u64,
}

impl EventCode {
    /// Every code.
    pub const ALL: [Self; 10] = [
        Self::WritesRefused,
        Self::Panic,
        Self::JobFailed,
        Self::IndexFilesRebuilt,
        Self::StoreReplaced,
        Self::DatabaseDamaged,
        Self::OpenFailed,
        Self::DropFailed,
        Self::TemporaryFilesRemoved,
        Self::SlowCommit,
    ];

    /// The code as the log shows it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WritesRefused => "writes_refused",
            Self::Panic => "panic",
            Self::JobFailed => "job_failed",
            Self::IndexFilesRebuilt => "index_files_rebuilt",
            Self::StoreReplaced => "store_replaced",
            Self::DatabaseDamaged => "database_damaged",
            Self::OpenFailed => "open_failed",
            Self::DropFailed => "drop_failed",
            Self::TemporaryFilesRemoved => "temporary_files_removed",
            Self::SlowCommit => "slow_commit",
        }
    }

    /// Its level.
    #[must_use]
    pub fn level(self) -> EventLevel {
        match self {
            Self::WritesRefused
            | Self::DatabaseDamaged
            | Self::Panic
            | Self::OpenFailed
            | Self::DropFailed => EventLevel::Error,
            Self::JobFailed | Self::IndexFilesRebuilt | Self::StoreReplaced | Self::SlowCommit => {
                EventLevel::Warn
            }
            Self::TemporaryFilesRemoved => EventLevel::Info,
        }
    }
}

impl TakenEvents {
    /// `{"events":[{"at","level","code","database","text"}],"dropped"}`; `database` is absent when none is concerned.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let events: Vec<Value> = self.events.iter().map(Event::to_json).collect();
        json!({ "events": events, "dropped": self.dropped })
    }
}

impl Event {
    fn to_json(&self) -> Value {
        let mut event = json!({
            "at": self.at,
            "level": self.code.level().name(),
            "code": self.code.name(),
            "text": self.text,
        });
        if let Some(database) = &self.database {
            event["database"] = json!(**database);
        }
        event
    }
}

impl EventLevel {
    /// The level's name in the log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// The events of an engine that nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    /// The events, and how many were dropped.
    state: Mutex<(VecDeque<Event>, u64)>,
}

impl EventQueue {
    /// Appends an event. Never blocks for long and never fails.
    pub(crate) fn emit(
        &self,
        code: EventCode,
        database: Option<&Arc<str>>,
        text: impl Into<String>,
    ) {
        let mut text = text.into();
        if let Some(end) = (0..=MAX_TEXT_BYTES.min(text.len()))
            .rev()
            .find(|&end| text.is_char_boundary(end))
        {
            text.truncate(end);
        }
        let event = Event {
            at: now_ms(),
            code,
            database: database.map(Arc::clone),
            text,
        };
        let mut queue = self.state.lock();
        let (events, dropped) = &mut *queue;
        if events.len() == MAX_EVENTS {
            events.pop_front();
            *dropped += 1;
        }
        events.push_back(event);
    }

    /// Removes and returns what is in the queue.
    pub(crate) fn take(&self) -> TakenEvents {
        let mut queue = self.state.lock();
        let (events, dropped) = std::mem::take(&mut *queue);
        TakenEvents {
            events: events.into(),
            dropped,
        }
    }
}

/// Where one database appends its events.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseEvents {
    queue: Arc<EventQueue>,
    database: Arc<str>,
}

impl DatabaseEvents {
    pub(crate) fn new(queue: &Arc<EventQueue>, database: &str) -> Self {
        Self {
            queue: Arc::clone(queue),
            database: database.into(),
        }
    }

    /// Appends an event of this database.
    pub(crate) fn emit(&self, code: EventCode, text: impl Into<String>) {
        self.queue.emit(code, Some(&self.database), text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_drops_the_oldest_and_counts_them() {
        let queue = Arc::new(EventQueue::default());
        let events = DatabaseEvents::new(&queue, "db");
        for number in 0..MAX_EVENTS + 3 {
            events.emit(EventCode::SlowCommit, number.to_string());
        }
        let taken = queue.take();
        assert_eq!(taken.dropped, 3);
        assert_eq!(taken.events.len(), MAX_EVENTS);
        assert_eq!(taken.events[0].text, "3");
        assert_eq!(taken.events[0].database.as_deref(), Some("db"));
        let rest = queue.take();
        assert!(rest.events.is_empty() && rest.dropped == 0);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let queue = EventQueue::default();
        queue.emit(EventCode::Panic, None, "€".repeat(MAX_TEXT_BYTES));
        let text = &queue.take().events[0].text;
        assert!(text.len() <= MAX_TEXT_BYTES && text.len() > MAX_TEXT_BYTES - 4);
    }

    #[test]
    fn the_table_in_the_docs_lists_every_code() {
        let docs = include_str!("../../../../docs/operating.md");
        let listed: Vec<&str> = docs
            .lines()
            .skip_while(|line| !line.starts_with("| code | level |"))
            .skip(2)
            .map_while(|line| line.strip_prefix("| `")?.split('`').next())
            .collect();
        let codes = EventCode::ALL.map(EventCode::name);
        assert_eq!(listed, codes);
    }
}
