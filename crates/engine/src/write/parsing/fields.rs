//! The members of a record. Each function reads one value; a value that is not allowed is noted as a problem, and
//! reading continues after it.

use crate::json::{Reader, Shape, check_column, parse_time};
use crate::record::{
    Data, MAX_KEY_BYTES, MAX_RECORD_ID, OwnedValue, RecordKey, RecordUuid, ValidationCode,
    ValidationError, ValidationErrors,
};
use crate::write::parsing::typed::{array, expect, members, unknown};

pub(super) fn id(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
) -> Result<Option<u64>, ValidationError> {
    if !expect(reader, Shape::Number, problems)? {
        return Ok(None);
    }
    let number = reader.number()?;
    if number.fract() == 0.0 && (1.0..=MAX_RECORD_ID as f64).contains(&number) {
        return Ok(Some(number as u64));
    }
    problems.push(ValidationError::new(
        ValidationCode::InvalidId,
        "an id is an integer from 1 to 2^53 - 1",
    ));
    Ok(None)
}

/// An offset in a text.
pub(super) fn offset(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
) -> Result<Option<u32>, ValidationError> {
    if !expect(reader, Shape::Number, problems)? {
        return Ok(None);
    }
    let number = reader.number()?;
    if number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number) {
        return Ok(Some(number as u32));
    }
    let detail = "an offset is an integer from 0 to 2^32 - 1";
    problems.push(ValidationError::new(ValidationCode::InvalidValue, detail));
    Ok(None)
}

pub(super) fn uuid(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
) -> Result<Option<[u8; 16]>, ValidationError> {
    if !expect(reader, Shape::Text, problems)? {
        return Ok(None);
    }
    let uuid = RecordUuid::parse(&reader.string()?);
    if uuid.is_none() {
        let detail = "expected a UUID such as 0190a0b2-7c3d-7abc-8def-0123456789ab";
        problems.push(ValidationError::new(ValidationCode::InvalidUuid, detail));
    }
    Ok(uuid.map(|uuid| uuid.0))
}

pub(super) fn text(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
) -> Result<Option<String>, ValidationError> {
    if !expect(reader, Shape::Text, problems)? {
        return Ok(None);
    }
    Ok(Some(reader.string()?.into()))
}

pub(super) fn key(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
) -> Result<Option<RecordKey>, ValidationError> {
    if !expect(reader, Shape::Text, problems)? {
        return Ok(None);
    }
    let key = RecordKey::new(&reader.string()?);
    if key.is_none() {
        let detail = format!("a key has 1 to {MAX_KEY_BYTES} bytes of UTF-8");
        problems.push(ValidationError::new(ValidationCode::InvalidKey, detail));
    }
    Ok(key)
}

pub(super) fn data(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
) -> Result<Data, ValidationError> {
    let mut cells = Vec::new();
    members(reader, problems, |reader, name, problems| {
        if let Err(problem) = check_column(name) {
            problems.push(problem);
            return reader.skip();
        }
        let value = match reader.shape()? {
            Shape::Null => reader.null().map(|()| OwnedValue::Null)?,
            Shape::Boolean => OwnedValue::Boolean(reader.boolean()?),
            // Adding zero turns -0 into 0, which is how it would be written.
            Shape::Number => OwnedValue::Number(reader.number()? + 0.0),
            Shape::Text => OwnedValue::Text(reader.string()?.into()),
            shape @ (Shape::Array | Shape::Object) => {
                let detail = format!(
                    "a value is a string, number, boolean or null, not {}",
                    shape.name()
                );
                problems.push(ValidationError::new(ValidationCode::WrongType, detail));
                return reader.skip();
            }
        };
        cells.push((name.into(), value));
        Ok(())
    })?;
    Ok(Data::new(cells))
}

/// The created, changed and synced times.
pub(super) fn times(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
) -> Result<[Option<i64>; 3], ValidationError> {
    let mut times = [None; 3];
    const A: [&str; 3] = ["created_at", "changed_at", "synced_at"];
    const B: [&str; 3] = ["first_seen_time", "last_changed_time", "last_seen_time"];
    let mut first: Option<String> = None;
    members(reader, problems, |reader, name, problems| {
        let place = |names: [&str; 3]| names.iter().position(|&known| known == name);
        let Some(at) = place(A).or_else(|| place(B)) else {
            return unknown(reader, name, &[A, B].concat(), problems);
        };
        let other = first.get_or_insert_with(|| name.to_owned());
        if A.contains(&name) != A.contains(&other.as_str()) {
            let detail = format!("{name} and {other} are names of different variants");
            problems.push(ValidationError::new(ValidationCode::MixedTimeNames, detail));
            return reader.skip();
        }
        if !expect(reader, Shape::Text, problems)? {
            return Ok(());
        }
        match parse_time(&reader.string()?) {
            Ok(time) => {
                times[at] = Some(time.milliseconds);
            }
            Err(error) => {
                problems.push(ValidationError::new(
                    ValidationCode::InvalidTime,
                    error.to_string(),
                ));
            }
        }
        Ok(())
    })?;
    Ok(times)
}

pub(super) fn vector(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
) -> Result<Option<Vec<f64>>, ValidationError> {
    let mut vector = Vec::new();
    array(reader, problems, |reader, _, problems| {
        if !expect(reader, Shape::Number, problems)? {
            return Ok(());
        }
        let number = reader.number()?;
        // The square of a component must be finite too.
        if !(number as f32).is_finite() {
            let detail = "a number beyond single precision";
            problems.push(ValidationError::new(
                ValidationCode::NumberOutOfRange,
                detail,
            ));
        }
        vector.push(number);
        Ok(())
    })?;
    Ok(Some(vector))
}
