//! The checks of a record that depend on its database.

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::json::write_text;
use crate::record::{Data, OwnedValue, ValidationCode, ValidationError, Vectors, to_unit_q30};
use crate::settings::{MAX_PASSAGES, Settings};
use crate::write::parsing::{GivenPassage, NewRecord};

pub(super) fn invalid_vector(detail: impl Into<String>) -> ValidationError {
    ValidationError::new(ValidationCode::InvalidVector, detail).within("vector")
}

/// Checks that a record comes with a vector if the database has no model, and with a vector of the model or none if it
/// has one. `given` is the number of values of the vector.
///
/// # Errors
/// A validation error at `/vector` or `/embedded_by`.
pub(crate) fn check_vector(
    settings: &Settings,
    given: Option<usize>,
    embedded_by: Option<&str>,
) -> Result<(), ValidationError> {
    if given.is_none() && embedded_by.is_some() {
        return Err(ValidationError {
            pointer: "/embedded_by".into(),
            ..invalid_vector("says what made the vector, and the record has no vector")
        });
    }
    if let (Some(model), Some(_)) = (&settings.model, given) {
        let fingerprint = settings.fingerprint.as_deref().unwrap_or_default();
        match embedded_by {
            Some(by) if by == fingerprint => {}
            Some(_) => {
                return Err(ValidationError {
                    pointer: "/embedded_by".into(),
                    ..invalid_vector(format!(
                        "the vector comes from another model than {model} of this database, whose fingerprint is \
                         {fingerprint}: leave the vector out"
                    ))
                });
            }
            None => {
                return Err(invalid_vector(format!(
                    "this database embeds its records with model {model}: leave the vector out, or give \
                     \"embedded_by\": \"{fingerprint}\" with a vector that the model made"
                )));
            }
        }
    }
    match given {
        None if settings.model.is_none() => Err(invalid_vector(format!(
            "this database has no model: give {} numbers",
            settings.dimensions
        ))),
        Some(got) if got != settings.dimensions => {
            let error = Error::Dimensions {
                expected: settings.dimensions,
                got,
            };
            Err(ValidationError {
                code: ValidationCode::InvalidDimensions,
                ..invalid_vector(error.to_string())
            })
        }
        None | Some(_) => Ok(()),
    }
}

/// Checks the passages of a record, which come from an export, and returns their vectors as unit vectors.
///
/// # Errors
/// A validation error with a pointer that begins with `/passages` or `/embedded_by`.
pub(super) fn check_passages(
    settings: &Settings,
    record: &NewRecord,
    passages: Vec<GivenPassage>,
) -> Result<Vectors, ValidationError> {
    let refused = |code, detail: String| ValidationError::new(code, detail).within("passages");
    if record.vector.is_some() {
        let detail = "a record has either a vector or passages";
        return Err(refused(ValidationCode::InvalidVector, detail.into()));
    }
    if settings.model.is_none() {
        let detail = "this database has no model: give a vector";
        return Err(refused(ValidationCode::InvalidVector, detail.into()));
    }
    if passages.is_empty() {
        let detail = "must have at least one passage";
        return Err(refused(ValidationCode::InvalidValue, detail.into()));
    }
    // The setting is not asked: a record that is stored stays valid when it changes.
    if passages.len() > MAX_PASSAGES as usize {
        let detail = format!(
            "there are {} passages, at most {MAX_PASSAGES} are allowed",
            passages.len()
        );
        return Err(refused(ValidationCode::TooManyPassages, detail));
    }
    let mut units = Vec::with_capacity(passages.len());
    for (at, GivenPassage { place, vector }) in passages.into_iter().enumerate() {
        let within = |problem: ValidationError| match problem.pointer.as_str() {
            "/embedded_by" => problem,
            _ => problem.within(at).within("passages"),
        };
        check_vector(settings, Some(vector.len()), record.embedded_by.as_deref())
            .map_err(within)?;
        let length = match record.data.get(&place.column) {
            Some(OwnedValue::Number(_) | OwnedValue::Boolean(_)) => usize::MAX,
            Some(value) => {
                let mut text = Vec::new();
                write_text(value.borrow(), &mut text);
                String::from_utf8_lossy(&text).encode_utf16().count()
            }
            None => 0,
        };
        if place.start >= place.end || place.end as usize > length {
            let detail = "must be a range of characters of a column of the record";
            let problem = ValidationError::new(ValidationCode::InvalidValue, detail);
            return Err(within(problem));
        }
        let unit = to_unit_q30(&vector);
        let unit = unit.map_err(|error| within(invalid_vector(error.to_string())))?;
        units.push((place, unit));
    }
    Ok(Vectors::of_passages(settings.dimensions, units.into_iter()))
}

/// Checks that a database with the columns `names` has at most `max` columns with those of `data`.
///
/// # Errors
/// A validation error at the first column that is too many; with `flatten` at the data, because the column may be the member of
/// a member.
pub(super) fn check_columns(
    names: &ColumnNames,
    data: &Data,
    max: usize,
    flatten: bool,
) -> Result<(), ValidationError> {
    let given = data.cells().iter().map(|(name, _)| &**name);
    let Some(name) = names.beyond(max, given) else {
        return Ok(());
    };
    let code = ValidationCode::TooManyColumns;
    let detail = format!("the database has {max} columns and can have no more");
    let problem = if flatten {
        ValidationError::new(code, format!("{detail}: {name:?} would be one"))
    } else {
        ValidationError::new(code, detail).within(name)
    };
    Err(problem.within("data"))
}
