//! Reading what has to be of a certain type, going on after what is not.

use crate::json::reader::{Reader, Shape};
use crate::record::{ValidationCode, ValidationError, ValidationErrors};

/// Reads an object, or notes that the value is none; problems noted by `each` get its pointer.
pub(super) fn members(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
    mut each: impl FnMut(&mut Reader<'_>, &str, &mut ValidationErrors) -> Result<(), ValidationError>,
) -> Result<(), ValidationError> {
    if !expect(reader, Shape::Object, problems)? {
        return Ok(());
    }
    reader.object(|reader, name| {
        let before = problems.len();
        each(reader, name, problems)?;
        problems.point(before, name);
        Ok(())
    })
}

/// Reads an array, or notes that the value is none; problems noted by `each` get its pointer.
pub(super) fn array(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
    mut each: impl FnMut(&mut Reader<'_>, usize, &mut ValidationErrors) -> Result<(), ValidationError>,
) -> Result<(), ValidationError> {
    if !expect(reader, Shape::Array, problems)? {
        return Ok(());
    }
    reader.array(|reader, at| {
        let before = problems.len();
        each(reader, at, problems)?;
        problems.point(before, at);
        Ok(())
    })
}

/// Whether the next value is of this type; if not, takes it and notes the problem.
pub(super) fn expect(
    reader: &mut Reader<'_>,
    shape: Shape,
    problems: &mut ValidationErrors,
) -> Result<bool, ValidationError> {
    let found = reader.shape()?;
    if found == shape {
        return Ok(true);
    }
    reader.skip()?;
    let detail = format!("expected {}, found {}", shape.name(), found.name());
    problems.push(ValidationError::new(ValidationCode::WrongType, detail));
    Ok(false)
}

pub(super) fn unknown(
    reader: &mut Reader<'_>,
    name: &str,
    known: &[&str],
    problems: &mut ValidationErrors,
) -> Result<(), ValidationError> {
    reader.skip()?;
    let detail = format!("unknown member {name:?}; known: {}", known.join(", "));
    problems.push(ValidationError::new(ValidationCode::UnknownMember, detail));
    Ok(())
}

pub(super) fn missing(member: &str) -> ValidationError {
    ValidationError::new(
        ValidationCode::MissingMember,
        format!("the member {member:?} is required"),
    )
}
