//! The members of a record. Each function reads one value; a value that is not allowed is noted as a problem of the reader,
//! and reading continues after it.

use std::ops::RangeInclusive;

use crate::json::{Reader, Shape, parse_time};
use crate::record::{
    MAX_KEY_BYTES, MAX_RECORD_ID, RecordKey, RecordUuid, ValidationCode, ValidationError,
};
use crate::write::condition::Condition;

pub(super) fn id(reader: &mut Reader<'_>) -> Read<Option<u64>> {
    let refused = "an id is an integer from 1 to 2^53 - 1";
    integer(
        reader,
        1..=MAX_RECORD_ID,
        ValidationCode::InvalidId,
        refused,
    )
}

/// An offset in a text.
pub(super) fn offset(reader: &mut Reader<'_>) -> Read<Option<u32>> {
    let (code, refused) = (
        ValidationCode::InvalidValue,
        "an offset is an integer from 0 to 2^32 - 1",
    );
    let offset = integer(reader, 0..=u32::MAX.into(), code, refused)?;
    Ok(offset.map(|offset| offset as u32))
}

fn integer(
    reader: &mut Reader<'_>,
    range: RangeInclusive<u64>,
    code: ValidationCode,
    refused: &str,
) -> Read<Option<u64>> {
    value(reader, Shape::Number, |reader| {
        let number = reader.number()?;
        let range = *range.start() as f64..=*range.end() as f64;
        let is_allowed = number.fract() == 0.0 && range.contains(&number);
        let integer = is_allowed.then_some(number as u64);
        Ok(integer.ok_or_else(|| ValidationError::new(code, refused)))
    })
}

pub(super) fn uuid(reader: &mut Reader<'_>) -> Read<Option<[u8; 16]>> {
    value(reader, Shape::Text, |reader| {
        let uuid = RecordUuid::parse(&reader.string()?).map(|uuid| uuid.0);
        let refused = "expected a UUID such as 0190a0b2-7c3d-7abc-8def-0123456789ab";
        Ok(uuid.ok_or_else(|| ValidationError::new(ValidationCode::InvalidUuid, refused)))
    })
}

pub(super) fn text(reader: &mut Reader<'_>) -> Read<Option<String>> {
    value(reader, Shape::Text, |reader| {
        Ok(Ok(reader.string()?.into()))
    })
}

pub(super) fn key(reader: &mut Reader<'_>) -> Read<Option<RecordKey>> {
    value(reader, Shape::Text, |reader| {
        let refused = || {
            let detail = format!("a key has 1 to {MAX_KEY_BYTES} bytes of UTF-8");
            ValidationError::new(ValidationCode::InvalidKey, detail)
        };
        Ok(RecordKey::new(&reader.string()?).ok_or_else(refused))
    })
}

/// The created, changed and synced times.
pub(super) fn times(reader: &mut Reader<'_>) -> Read<[Option<i64>; 3]> {
    let mut times = [None; 3];
    const A: [&str; 3] = ["created_at", "changed_at", "synced_at"];
    const B: [&str; 3] = ["first_seen_time", "last_changed_time", "last_seen_time"];
    let mut first: Option<String> = None;
    members(reader, |reader, name| {
        let place = |names: [&str; 3]| names.iter().position(|&known| known == name);
        let Some(at) = place(A).or_else(|| place(B)) else {
            return unknown(reader, name, &[A, B].concat());
        };
        let other = first.get_or_insert_with(|| name.to_owned());
        if A.contains(&name) != A.contains(&other.as_str()) {
            let detail = format!("{name} and {other} are names of different variants");
            note(reader, ValidationCode::MixedTimeNames, detail);
            return reader.skip();
        }
        times[at] = time(reader)?;
        Ok(())
    })?;
    Ok(times)
}

/// A time in milliseconds since 1970.
pub(super) fn time(reader: &mut Reader<'_>) -> Read<Option<i64>> {
    value(reader, Shape::Text, |reader| {
        let refused = |error| ValidationError::new(ValidationCode::InvalidTime, error);
        let time = parse_time(&reader.string()?).map(|time| time.milliseconds);
        Ok(time.map_err(|error| refused(error.to_string())))
    })
}

/// When the content of the stored record must have changed last; null: no record must be stored.
pub(super) fn condition(reader: &mut Reader<'_>) -> Read<Option<Condition>> {
    if reader.shape()? == Shape::Null {
        reader.null()?;
        return Ok(Some(Condition::Absent));
    }
    Ok(time(reader)?.map(Condition::ChangedAt))
}

pub(super) fn vector(reader: &mut Reader<'_>) -> Read<Option<Vec<f64>>> {
    let mut vector = Vec::new();
    array(reader, |reader, _| {
        let number = value(reader, Shape::Number, |reader| Ok(Ok(reader.number()?)))?;
        // The square of a component must be finite too.
        if number.is_some_and(|number| !(number as f32).is_finite()) {
            let detail = "a number beyond single precision";
            note(reader, ValidationCode::NumberOutOfRange, detail);
        }
        vector.extend(number);
        Ok(())
    })?;
    Ok(Some(vector))
}

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
