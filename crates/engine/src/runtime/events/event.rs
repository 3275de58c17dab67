//! What the engine reports to operators.

use std::sync::Arc;

use serde_json::{Value, json};

/// What happened. `docs/reference/log.md` lists the codes.
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
    /// A database is not in the state in which the engine left it, for example after a restored backup.
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
    /// The engine recovered. An operator should investigate if it happens again.
    Warn,
    /// An operator must act.
    Error,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Milliseconds since 1970.
    pub at: i64,
    /// What happened.
    pub code: EventCode,
    /// The database, if the event concerns one.
    pub database: Option<Arc<str>>,
    /// The cause, with the path of the file if there is one.
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
    /// `{"events":[{"at","level","code","database","text"}],"dropped"}`; `database` is absent if an event concerns none.
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
