//! What can go wrong: facts in fields, a kind for callers, a text for people.

use std::io;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::disk::{FileError, LockError};
use crate::record::{InvalidVector, ValidationCode, ValidationError};
use crate::runtime::Stopped;
use crate::store::StoreError;

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request breaks a rule; each problem points at its place.
    #[error("{}", first_detail(.problems))]
    Invalid {
        /// The stable code of the kind of request that is wrong, `invalid_filter`.
        code: &'static str,
        /// What is wrong, and where.
        problems: Vec<ValidationError>,
    },
    /// A vector that cannot be compared.
    #[error(transparent)]
    Vector(#[from] InvalidVector),
    /// A vector of another length than the database's.
    #[error("vector has {got} values, database expects {expected}")]
    Dimensions {
        /// Values a vector of the database has.
        expected: usize,
        /// Values the given vector has.
        got: usize,
    },
    /// No database of this id.
    #[error("there is no database {id:?}")]
    DatabaseNotFound {
        /// The id asked for.
        id: String,
    },
    /// The database exists with other settings.
    #[error("database {id:?} exists with other settings: {existing}")]
    DatabaseExists {
        /// Its id.
        id: String,
        /// Its settings, as JSON.
        existing: String,
    },
    /// The database is not being embedded with another model.
    #[error("database {id:?} is not being embedded again")]
    ReembeddingNotFound {
        /// Its id.
        id: String,
    },
    /// No record of this identity.
    #[error("there is no record {id} in database {database:?}")]
    RecordNotFound {
        /// The database.
        database: String,
        /// The identity asked for.
        id: String,
    },
    /// The id and the UUID of a record belong to two records, or to one whose other identity differs.
    #[error("{detail}")]
    IdentityConflict {
        /// Where in the request.
        pointer: String,
        /// What clashes.
        detail: String,
    },
    /// The position is not one of this change feed: the database was made again, or put back to an earlier state.
    #[error(
        "the change feed of database {id:?} is another one than the position is of: begin again, after 0"
    )]
    FeedRestarted {
        /// The database.
        id: String,
        /// What identifies the feed.
        epoch: String,
    },
    /// Changes after the position are no longer kept.
    #[error(
        "changes up to position {removed} of database {id:?} are no longer kept: read the records, then go on after {removed}"
    )]
    ChangesRemoved {
        /// The database.
        id: String,
        /// Place of the last change that is not kept.
        removed: u64,
    },
    /// The texts must be embedded again: a record or the database's settings changed, or another model embedded them.
    #[error("records or the model changed meanwhile: embed the texts again")]
    Stale,
    /// The stop flag of the call was set; nothing of it is kept.
    #[error("stopped")]
    Stopped,
    /// A queue is full.
    #[error("too many {what} are waiting (limit {limit})")]
    Busy {
        /// What waits.
        what: &'static str,
        /// How many may.
        limit: usize,
    },
    /// The engine is closed or closing.
    #[error("the engine is closed")]
    Closed,
    /// The database is being loaded, created or dropped.
    #[error("database {id:?} is being loaded, created or dropped")]
    NotReady {
        /// The database.
        id: String,
    },
    /// The database could not be brought to memory.
    #[error("database {id:?} could not be opened: {reason}")]
    NotOpened {
        /// The database.
        id: String,
        /// The stable code of what went wrong.
        reason: &'static str,
    },
    /// The lock of the data directory could not be taken.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An index file is damaged or can't be read.
    #[error(transparent)]
    IndexFiles(#[from] FileError),
    /// A file or directory can't be read or written.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A panic was caught. It is a bug of the engine.
    #[error("internal error: {detail}")]
    Internal {
        /// The panic's message.
        detail: String,
    },
}

/// Called once with the outcome of a call, from one of the engine's threads.
pub type Done<T> = Box<dyn FnOnce(Result<T, Error>) + Send>;

impl From<Stopped> for Error {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

fn first_detail(problems: &[ValidationError]) -> String {
    match problems {
        [] => "the request is invalid".to_owned(),
        [only] => format!("{}: {}", only.pointer, only.detail),
        [first, rest @ ..] => format!(
            "{}: {} (and {} more)",
            first.pointer,
            first.detail,
            rest.len()
        ),
    }
}

impl Error {
    /// An invalid request with a single problem.
    pub(crate) fn invalid(
        code: &'static str,
        pointer: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        let problem = ValidationError {
            pointer: pointer.into(),
            code: ValidationCode::InvalidValue,
            detail: detail.into(),
        };
        Self::Invalid {
            code,
            problems: vec![problem],
        }
    }

    /// The stable code of the error, as HTTP and the library publish it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { code, .. } => code,
            Self::Vector(_) => "invalid_vector",
            Self::Dimensions { .. } => "invalid_dimensions",
            Self::DatabaseNotFound { .. } => "database_not_found",
            Self::DatabaseExists { .. } => "database_exists",
            Self::ReembeddingNotFound { .. } => "reembedding_not_found",
            Self::RecordNotFound { .. } => "record_not_found",
            Self::IdentityConflict { .. } => "identity_conflict",
            Self::FeedRestarted { .. } => "feed_restarted",
            Self::ChangesRemoved { .. } => "changes_removed",
            Self::Stale => "stale",
            Self::Stopped => "stopped",
            Self::Busy { .. } => "busy",
            Self::Closed | Self::NotReady { .. } | Self::NotOpened { .. } => "not_ready",
            Self::Store(error) => error.code(),
            Self::Lock(LockError::Held { .. }) => "data_locked",
            Self::Lock(LockError::Io { source, .. })
                if matches!(
                    source.kind(),
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
                ) =>
            {
                "disk_full"
            }
            Self::Lock(LockError::Io { .. }) => "store_failed",
            Self::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => "disk_full",
            Self::File { .. } | Self::IndexFiles(_) => "store_failed",
            Self::Internal { .. } => "internal",
        }
    }

    /// Facts for callers who handle the code, as a JSON object.
    #[must_use]
    pub fn facts(&self) -> Value {
        match self {
            Self::Dimensions { expected, got } => json!({ "expected": expected, "got": got }),
            Self::Busy { limit, .. } => json!({ "limit": limit }),
            Self::NotReady { id } => json!({ "database": id }),
            Self::FeedRestarted { epoch, .. } => json!({ "epoch": epoch }),
            Self::ChangesRemoved { removed, .. } => json!({ "after": removed }),
            Self::NotOpened { id, reason } => json!({ "database": id, "reason": reason }),
            _ => json!({}),
        }
    }

    /// The places in the request that are wrong.
    #[must_use]
    pub fn problems(&self) -> Vec<ValidationError> {
        match self {
            Self::Invalid { problems, .. } => problems.clone(),
            Self::IdentityConflict { pointer, detail } => {
                let (pointer, detail) = (pointer.clone(), detail.clone());
                vec![ValidationError {
                    pointer,
                    code: ValidationCode::IdentityConflict,
                    detail,
                }]
            }
            _ => Vec::new(),
        }
    }
}
