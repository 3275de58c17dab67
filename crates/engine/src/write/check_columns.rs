//! The check of the number of columns.

use crate::columns::ColumnNames;
use crate::record::{Data, ValidationCode, ValidationError};

/// Checks that a database with the columns `names` has at most `max` columns with those of `data`.
///
/// # Errors
/// A validation error at the first column that is too many.
pub(super) fn check_columns(
    names: &ColumnNames,
    data: &Data,
    max: usize,
) -> Result<(), ValidationError> {
    let given = data.cells().iter().map(|(name, _)| &**name);
    let Some(name) = names.beyond(max, given) else {
        return Ok(());
    };
    let detail = format!("the database has {max} columns and can have no more");
    Err(ValidationError::new(ValidationCode::TooManyColumns, detail)
        .within(name)
        .within("data"))
}
