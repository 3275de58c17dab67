//! Values that must have a certain type. A value of another type is noted as a problem, and reading continues after it.

use crate::json::{Reader, Shape};
use crate::record::{ValidationCode, ValidationError, ValidationErrors};

/// Reads an object. The pointer of a problem that `each` notes is prefixed with the name of the member.
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

/// Reads an array. The pointer of a problem that `each` notes is prefixed with the index of the element.
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

/// Whether the next value has this type. A value of another type is skipped and noted as a problem.
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

/// Skips the value of an unknown member and notes the problem.
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
