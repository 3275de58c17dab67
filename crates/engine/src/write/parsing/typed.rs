//! Values that must have a certain type. A value of another type is noted as a problem of the reader, and reading continues
//! after it.

use crate::json::{Reader, Shape};
use crate::record::{ValidationCode, ValidationError};

/// What was read, or why reading cannot go on.
pub(super) type Read<T> = Result<T, ValidationError>;

/// Reads an object. The pointer of a problem that `each` notes is prefixed with the name of the member.
pub(super) fn members(
    reader: &mut Reader<'_>,
    mut each: impl FnMut(&mut Reader<'_>, &str) -> Read<()>,
) -> Read<()> {
    if !expect(reader, Shape::Object)? {
        return Ok(());
    }
    reader.object(|reader, name| {
        let before = reader.problems.len();
        each(reader, name)?;
        reader.problems.point(before, name);
        Ok(())
    })
}

/// Reads an array. The pointer of a problem that `each` notes is prefixed with the index of the element.
pub(super) fn array(
    reader: &mut Reader<'_>,
    mut each: impl FnMut(&mut Reader<'_>, usize) -> Read<()>,
) -> Read<()> {
    if !expect(reader, Shape::Array)? {
        return Ok(());
    }
    reader.array(|reader, at| {
        let before = reader.problems.len();
        each(reader, at)?;
        reader.problems.point(before, at);
        Ok(())
    })
}

/// Reads a value of a type. `None` for a value of another type, and for one that `read` refuses.
pub(super) fn value<T>(
    reader: &mut Reader<'_>,
    shape: Shape,
    read: impl FnOnce(&mut Reader<'_>) -> Read<Result<T, ValidationError>>,
) -> Read<Option<T>> {
    if !expect(reader, shape)? {
        return Ok(None);
    }
    let value = read(reader)?;
    Ok(value.map_err(|problem| reader.problems.push(problem)).ok())
}

/// Whether the next value has this type. A value of another type is skipped and noted as a problem.
fn expect(reader: &mut Reader<'_>, shape: Shape) -> Read<bool> {
    let found = reader.shape()?;
    if found == shape {
        return Ok(true);
    }
    reader.skip()?;
    let detail = format!("expected {}, found {}", shape.name(), found.name());
    note(reader, ValidationCode::WrongType, detail);
    Ok(false)
}

/// Skips the value of an unknown member and notes the problem.
pub(super) fn unknown(reader: &mut Reader<'_>, name: &str, known: &[&str]) -> Read<()> {
    reader.skip()?;
    let detail = format!("unknown member {name:?}; known: {}", known.join(", "));
    note(reader, ValidationCode::UnknownMember, detail);
    Ok(())
}

/// Notes that a required member is absent.
pub(super) fn note_missing(reader: &mut Reader<'_>, member: &str) {
    let detail = format!("the member {member:?} is required");
    note(reader, ValidationCode::MissingMember, detail);
}

/// Notes a problem of the value that is being read.
pub(super) fn note(reader: &mut Reader<'_>, code: ValidationCode, detail: impl Into<String>) {
    reader.problems.push(ValidationError::new(code, detail));
}
