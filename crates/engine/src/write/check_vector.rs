//! The check whether a record comes with a vector.

use crate::error::Error;
use crate::record::{ValidationCode, ValidationError};
use crate::settings::Settings;

pub(super) fn invalid_vector(detail: impl Into<String>) -> ValidationError {
    ValidationError {
        pointer: "/vector".into(),
        code: ValidationCode::InvalidVector,
        detail: detail.into(),
    }
}

/// Checks that a record comes with a vector if and only if the database has no model. `given` is the number of values
/// of the vector.
///
/// # Errors
/// A validation error at `/vector`.
pub(crate) fn check_vector(
    settings: &Settings,
    given: Option<usize>,
) -> Result<(), ValidationError> {
    match (&settings.model, given) {
        (Some(model), Some(_)) => Err(invalid_vector(format!(
            "this database embeds its records with model {model}: leave the vector out"
        ))),
        (None, None) => Err(invalid_vector(format!(
            "this database has no model: give {} numbers",
            settings.dimensions
        ))),
        (None, Some(got)) if got != settings.dimensions => {
            let error = Error::Dimensions {
                expected: settings.dimensions,
                got,
            };
            Err(ValidationError {
                code: ValidationCode::InvalidDimensions,
                ..invalid_vector(error.to_string())
            })
        }
        (Some(_), None) | (None, Some(_)) => Ok(()),
    }
}
