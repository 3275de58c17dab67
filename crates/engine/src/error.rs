//! Errors of the engine: facts in fields, a stable code for programs, a message for people.

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
    /// The request is not valid.
    #[error("{}", first_detail(.problems))]
    Invalid {
        /// The stable code of the kind of request that is wrong, `invalid_filter`.
        code: &'static str,
        /// The problems, with pointers.
        problems: Vec<ValidationError>,
    },
    /// A vector that is not valid.
    #[error(transparent)]
    Vector(#[from] InvalidVector),
    /// A vector whose length is not that of the database's vectors.
    #[error("vector has {got} values, database expects {expected}")]
    Dimensions {
        /// Values a vector of the database has.
        expected: usize,
        /// Values the given vector has.
        got: usize,
    },
    /// There is no database with this id.
    #[error("there is no database {id:?}")]
    DatabaseNotFound {
        /// The id asked for.
        id: String,
    },
    /// The database is not being embedded with another model.
    #[error("database {id:?} has no re-embedding")]
    ReembeddingNotFound {
        /// Its id.
        id: String,
    },
    /// There is no record with this identity.
    #[error("there is no record {id} in database {database:?}")]
    RecordNotFound {
        /// The database.
        database: String,
        /// The identity asked for.
        id: String,
    },
    /// The id and the UUID belong to different records, or one of them belongs to a record whose other identity differs.
    #[error("{detail}")]
    IdentityConflict {
        /// Where in the request.
        pointer: String,
        /// Which identities conflict.
        detail: String,
    },
    /// The position belongs to another change feed: the database was created again, or restored to an earlier state.
    #[error(
        "the position belongs to another change feed of database {id:?}: start again after position 0"
    )]
    FeedRestarted {
        /// The database.
        id: String,
        /// What identifies the feed.
        epoch: String,
    },
    /// Changes after the position are no longer kept.
    #[error(
        "changes up to position {removed} of database {id:?} are no longer kept: read the records, then continue after {removed}"
    )]
    ChangesRemoved {
        /// The database.
        id: String,
        /// The position of the last change that is not kept.
        removed: u64,
    },
    /// More records would be deleted than the request allows.
    #[error("{missing} records would be deleted, and at most {max} may be")]
    DeletionRefused {
        /// The records that would be deleted.
        missing: u64,
        /// How many may be.
        max: u64,
    },
    /// The texts must be embedded again: a record or the database's settings changed, or another model embedded them.
    #[error("the records or the model changed in the meantime: embed the texts again")]
    Stale,
    /// The stop flag of the call was set. The call had no effect.
    #[error("stopped")]
    Stopped,
    /// A queue is full.
    #[error("too many {what} are waiting (limit {limit})")]
    Busy {
        /// What is waiting.
        what: &'static str,
        /// How many may wait.
        limit: usize,
    },
    /// The data directory is open for reading only.
    #[error(
        "the directory is open for reading only (`readOnly`): write in the process that opens it without, or send the write to its service"
    )]
    ReadOnly,
    /// The engine is closed or closing.
    #[error("the engine is closed")]
    Closed,
    /// The database is being loaded, created or dropped.
    #[error("database {id:?} is being loaded, created or dropped")]
    NotReady {
        /// The database.
        id: String,
    },
    /// The database could not be opened.
    #[error("database {id:?} could not be opened: {reason}")]
    NotOpened {
        /// The database.
        id: String,
        /// The stable code of the cause.
        reason: &'static str,
    },
    /// The lock of the data directory could not be taken.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store refused the operation or failed.
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
        /// The error of the operating system.
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

/// The first problem, with its place unless it is the whole request, and the number of the others.
fn first_detail(problems: &[ValidationError]) -> String {
    let Some((first, rest)) = problems.split_first() else {
        return "the request is invalid".to_owned();
    };
    let mut detail = match first.pointer.as_str() {
        "" => first.detail.clone(),
        pointer => format!("{pointer}: {}", first.detail),
    };
    if !rest.is_empty() {
        detail.push_str(&format!(" (and {} more)", rest.len()));
    }
    detail
}

impl Error {
    /// A bug of the engine.
    pub fn internal(detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self::Internal { detail }
    }

    /// A failed operation of the system on a path, or on a thread.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }

    /// A request with one problem and no code of its own.
    pub(crate) fn request(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::invalid("invalid_request", pointer, detail)
    }

    /// A request with one problem, which the value at `pointer` has.
    pub(crate) fn at(pointer: impl Into<String>, problem: ValidationError) -> Self {
        let pointer = pointer.into();
        Self::Invalid {
            code: "invalid_request",
            problems: vec![ValidationError { pointer, ..problem }],
        }
    }

    /// An invalid request with one problem.
    pub(crate) fn invalid(
        code: &'static str,
        pointer: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        let problem = ValidationError {
            pointer: pointer.into(),
            ..ValidationError::new(ValidationCode::InvalidValue, detail)
        };
        Self::Invalid {
            code,
            problems: vec![problem],
        }
    }

    /// Invalid records with these problems. The first of them decides the code.
    pub(crate) fn invalid_records(problems: Vec<ValidationError>) -> Self {
        let code = match problems.first().map(|problem| problem.code) {
            Some(ValidationCode::InvalidVector) => "invalid_vector",
            Some(ValidationCode::InvalidDimensions) => "invalid_dimensions",
            Some(ValidationCode::TooLarge) => "too_large",
            Some(ValidationCode::PreconditionFailed) => "precondition_failed",
            Some(ValidationCode::InvalidTime) => "invalid_time",
            Some(
                ValidationCode::MalformedJson
                | ValidationCode::TooDeep
                | ValidationCode::DuplicateMember
                | ValidationCode::LoneSurrogate
                | ValidationCode::NumberOutOfRange,
            ) => "invalid_json",
            _ => "invalid_record",
        };
        Self::Invalid { code, problems }
    }

    /// The stable code of the error, as HTTP and the library publish it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { code, .. } => code,
            Self::Vector(_) => "invalid_vector",
            Self::Dimensions { .. } => "invalid_dimensions",
            Self::DatabaseNotFound { .. } | Self::IndexFiles(FileError::Dropped) => {
                "database_not_found"
            }
            Self::ReembeddingNotFound { .. } => "reembedding_not_found",
            Self::RecordNotFound { .. } => "record_not_found",
            Self::IdentityConflict { .. } => "identity_conflict",
            Self::FeedRestarted { .. } => "feed_restarted",
            Self::ChangesRemoved { .. } => "changes_removed",
            Self::DeletionRefused { .. } => "deletion_refused",
            Self::Stale => "stale",
            Self::Stopped => "stopped",
            Self::ReadOnly => "read_only",
            Self::Busy { .. } => "busy",
            Self::Closed | Self::NotReady { .. } | Self::NotOpened { .. } => "not_ready",
            Self::Store(error) => error.code(),
            Self::Lock(LockError::Held { .. } | LockError::Own { .. }) => "data_locked",
            Self::Lock(LockError::Io { source, .. })
            | Self::File { source, .. }
            | Self::IndexFiles(FileError::Io { source, .. })
                if matches!(
                    source.kind(),
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
                ) =>
            {
                "disk_full"
            }
            Self::Lock(LockError::Io { .. }) | Self::File { .. } | Self::IndexFiles(_) => {
                "store_failed"
            }
            Self::Internal { .. } => "internal",
        }
    }

    /// Facts for programs that handle the code, as a JSON object.
    #[must_use]
    pub fn facts(&self) -> Value {
        match self {
            Self::Dimensions { expected, got } => json!({ "expected": expected, "got": got }),
            Self::Busy { limit, .. } => json!({ "limit": limit }),
            Self::DeletionRefused { missing, max } => json!({ "missing": missing, "max": max }),
            Self::NotReady { id } => json!({ "database": id }),
            Self::FeedRestarted { epoch, .. } => json!({ "epoch": epoch }),
            Self::ChangesRemoved { removed, .. } => json!({ "after": removed }),
            Self::NotOpened { id, reason } => json!({ "database": id, "reason": reason }),
            _ => json!({}),
        }
    }

    /// Whether a database that could not be opened because of this may open later: the disk was full, or the process had no
    /// file descriptor or memory left.
    pub(crate) fn may_pass(&self) -> bool {
        self.code() == "disk_full"
            || matches!(self, Self::Store(error) if error.is_for_want_of_resources())
    }

    /// The problems of the request, with pointers.
    #[must_use]
    pub fn problems(&self) -> Vec<ValidationError> {
        match self {
            Self::Invalid { problems, .. } => problems.clone(),
            Self::IdentityConflict { pointer, detail } => {
                vec![ValidationError {
                    pointer: pointer.clone(),
                    ..ValidationError::new(ValidationCode::IdentityConflict, detail)
                }]
            }
            _ => Vec::new(),
        }
    }
}
