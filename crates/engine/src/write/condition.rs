//! The condition of a write on the stored record.

use crate::json::time_text;
use crate::record::{RecordId, ValidationCode, ValidationError};

/// The member of a record, a patch or a deletion that has the condition.
pub(crate) const IF_CHANGED_AT: &str = "if_changed_at";

/// What a write requires of the stored record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// There is no record.
    Absent,
    /// The content of the record last changed at this time, milliseconds since 1970.
    ChangedAt(i64),
}

impl Condition {
    /// Checks the stored record: its id, and when its content last changed. `None`: there is no record.
    ///
    /// # Errors
    /// A validation error at `/if_changed_at`.
    pub(crate) fn check(self, stored: Option<(RecordId, i64)>) -> Result<(), ValidationError> {
        let detail = match (self, stored) {
            (Self::Absent, None) => return Ok(()),
            (Self::ChangedAt(time), Some((_, changed))) if time == changed => return Ok(()),
            (Self::Absent, Some((RecordId(id), _))) => format!("record {id} exists"),
            (Self::ChangedAt(_), Some((RecordId(id), changed))) => {
                format!("record {id} was changed at {}", time_text(changed))
            }
            (Self::ChangedAt(_), None) => "there is no such record".to_owned(),
        };
        let code = ValidationCode::PreconditionFailed;
        Err(ValidationError {
            changed_at: stored.map(|(_, changed)| changed),
            ..ValidationError::new(code, detail).within(IF_CHANGED_AT)
        })
    }
}
