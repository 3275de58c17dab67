//! Reading what has to be of a certain type, going on after what is not.

use crate::json::reader::{Reader, Shape};
use crate::record::{Problem, ProblemCode, Problems};

/// Reads an object, or notes that the value is none; problems noted by `each` get its pointer.
pub(super) fn members(
    reader: &mut Reader<'_>,
    problems: &mut Problems,
    mut each: impl FnMut(&mut Reader<'_>, &str, &mut Problems) -> Result<(), Problem>,
) -> Result<(), Problem> {
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
    problems: &mut Problems,
    mut each: impl FnMut(&mut Reader<'_>, usize, &mut Problems) -> Result<(), Problem>,
) -> Result<(), Problem> {
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
    problems: &mut Problems,
) -> Result<bool, Problem> {
    let found = reader.shape()?;
    if found == shape {
        return Ok(true);
    }
    reader.skip()?;
    let detail = format!("expected {}, found {}", shape.name(), found.name());
    problems.push(Problem::new(ProblemCode::WrongType, detail));
    Ok(false)
}

pub(super) fn unknown(
    reader: &mut Reader<'_>,
    name: &str,
    known: &[&str],
    problems: &mut Problems,
) -> Result<(), Problem> {
    reader.skip()?;
    let detail = format!("unknown member {name:?}; known: {}", known.join(", "));
    problems.push(Problem::new(ProblemCode::UnknownMember, detail));
    Ok(())
}

pub(super) fn missing(member: &str) -> Problem {
    Problem::new(
        ProblemCode::MissingMember,
        format!("the member {member:?} is required"),
    )
}
