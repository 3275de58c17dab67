//! Limits of the parts of a record.

use crate::record::{ValidationCode, ValidationError};

/// The longest column name, in bytes of UTF-8.
pub(crate) const MAX_COLUMN_BYTES: usize = 256;

/// Checks a column name: 1 to 256 bytes without control characters.
pub(crate) fn check_column(name: &str) -> Result<(), ValidationError> {
    let detail = if name.is_empty() {
        "a column name is not empty"
    } else if name.len() > MAX_COLUMN_BYTES {
        "a column name has at most 256 bytes of UTF-8"
    } else if name.chars().any(char::is_control) {
        "a column name holds no control characters"
    } else {
        return Ok(());
    };
    Err(ValidationError::new(ValidationCode::InvalidColumn, detail))
}
