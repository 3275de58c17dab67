//! Records as callers send them.

use crate::json::checked::{array, expect, members, missing, unknown};
use crate::json::limits::{MAX_ID, check_column};
use crate::json::reader::{Reader, Shape};
use crate::json::time::parse_time;
use crate::limits::Limits;
use crate::record::{
    Data, OwnedValue, ValidationCode, ValidationError, ValidationErrors, parse_uuid,
};

/// A record to be stored, as parsed; what the caller left out is for the engine to make.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewRecord {
    /// 1 to 2^53 - 1.
    pub id: Option<u64>,
    /// The other identity.
    pub uuid: Option<[u8; 16]>,
    /// Columns and values, in order.
    pub data: Data,
    /// When it was first seen, milliseconds since 1970, UTC.
    pub created: Option<i64>,
    /// When its content last changed, milliseconds since 1970, UTC.
    pub changed: Option<i64>,
    /// When it was last seen, milliseconds since 1970, UTC.
    pub synced: Option<i64>,
    /// Its embedding, as given: finite numbers, not normalised.
    pub vector: Option<Vec<f64>>,
}

/// More than a batch needs (the batch, its array, a record, its members), so that a nested value is
/// reported as a value of the wrong type and not as nested too deep.
const DEPTH: usize = 16;

/// Parses `{ "records": [ … ] }` of as many records, of as many bytes each, as `limits` say.
///
/// # Errors
/// Every problem found, with pointers such as `/records/3/data/name`; only the first where the JSON
/// itself is at fault.
pub fn parse_batch(bytes: &[u8], limits: &Limits) -> Result<Vec<NewRecord>, Vec<ValidationError>> {
    let max_records = limits.batch_records;
    let mut records = None;
    let mut problems = ValidationErrors::default();
    whole(bytes, |reader| {
        members(reader, &mut problems, |reader, name, problems| match name {
            "records" => {
                let list = records.insert(Vec::new());
                array(reader, problems, |reader, at, problems| {
                    if at == max_records {
                        problems.push(too_many(max_records));
                    }
                    if at >= max_records {
                        return reader.skip();
                    }
                    // White space before the record does not count.
                    reader.shape()?;
                    let start = reader.rest();
                    let record = record(reader, problems)?;
                    if start - reader.rest() > limits.record_bytes {
                        problems.push(too_large(limits.record_bytes));
                    } else {
                        list.push(record);
                    }
                    Ok(())
                })
            }
            _ => unknown(reader, name, &["records"], problems),
        })
    })?;
    // What is no object at all has no member to miss.
    if records.is_none() && problems.is_empty() {
        problems.push(missing("records"));
    }
    problems.or(records.unwrap_or_default())
}

/// Parses one record: a line of NDJSON.
///
/// # Errors
/// As [`parse_batch`], with pointers such as `/data/name`.
pub fn parse_line(bytes: &[u8]) -> Result<NewRecord, Vec<ValidationError>> {
    let mut problems = ValidationErrors::default();
    let record = whole(bytes, |reader| record(reader, &mut problems))?;
    problems.or(record)
}

/// Parses a record's data alone, as [`super::write_cells`] writes it.
///
/// # Errors
/// As [`parse_batch`], with pointers such as `/name`.
pub fn parse_data(bytes: &[u8]) -> Result<Data, Vec<ValidationError>> {
    let mut problems = ValidationErrors::default();
    let data = whole(bytes, |reader| data(reader, &mut problems))?;
    problems.or(data)
}

fn whole<T>(
    bytes: &[u8],
    parse: impl FnOnce(&mut Reader<'_>) -> Result<T, ValidationError>,
) -> Result<T, Vec<ValidationError>> {
    let mut reader = Reader::new(bytes, DEPTH).map_err(|problem| vec![problem])?;
    let value = parse(&mut reader).map_err(|problem| vec![problem])?;
    reader.end().map_err(|problem| vec![problem])?;
    Ok(value)
}

fn record(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
) -> Result<NewRecord, ValidationError> {
    const MEMBERS: [&str; 5] = ["id", "uuid", "data", "timestamps", "vector"];
    let mut record = NewRecord::default();
    let mut has_data = false;
    let is_object = reader.shape()? == Shape::Object;
    members(reader, problems, |reader, name, problems| {
        match name {
            "id" => record.id = id(reader, problems)?,
            "uuid" => record.uuid = uuid(reader, problems)?,
            "data" => {
                has_data = true;
                record.data = data(reader, problems)?;
            }
            "timestamps" => times(reader, &mut record, problems)?,
            "vector" => record.vector = vector(reader, problems)?,
            _ => return unknown(reader, name, &MEMBERS, problems),
        }
        Ok(())
    })?;
    if is_object && !has_data {
        problems.push(missing("data"));
    }
    Ok(record)
}

fn id(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
) -> Result<Option<u64>, ValidationError> {
    if !expect(reader, Shape::Number, problems)? {
        return Ok(None);
    }
    let number = reader.number()?;
    if number.fract() == 0.0 && (1.0..=MAX_ID as f64).contains(&number) {
        return Ok(Some(number as u64));
    }
    problems.push(ValidationError::new(
        ValidationCode::InvalidId,
        "an id is an integer from 1 to 2^53 - 1",
    ));
    Ok(None)
}

fn uuid(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
) -> Result<Option<[u8; 16]>, ValidationError> {
    if !expect(reader, Shape::Text, problems)? {
        return Ok(None);
    }
    let uuid = parse_uuid(&reader.string()?);
    if uuid.is_none() {
        let detail = "expected a UUID such as 0190a0b2-7c3d-7abc-8def-0123456789ab";
        problems.push(ValidationError::new(ValidationCode::InvalidUuid, detail));
    }
    Ok(uuid)
}

fn data(reader: &mut Reader<'_>, problems: &mut ValidationErrors) -> Result<Data, ValidationError> {
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

fn times(
    reader: &mut Reader<'_>,
    record: &mut NewRecord,
    problems: &mut ValidationErrors,
) -> Result<(), ValidationError> {
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
                *[&mut record.created, &mut record.changed, &mut record.synced][at] = Some(time);
            }
            Err(error) => {
                problems.push(ValidationError::new(
                    ValidationCode::InvalidTime,
                    error.to_string(),
                ));
            }
        }
        Ok(())
    })
}

fn vector(
    reader: &mut Reader<'_>,
    problems: &mut ValidationErrors,
) -> Result<Option<Vec<f64>>, ValidationError> {
    let mut vector = Vec::new();
    array(reader, problems, |reader, _, problems| {
        if !expect(reader, Shape::Number, problems)? {
            return Ok(());
        }
        let number = reader.number()?;
        // Its square must be a number too.
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

fn too_large(max: usize) -> ValidationError {
    ValidationError::new(
        ValidationCode::TooLarge,
        format!("the record is larger than {max} bytes"),
    )
}

fn too_many(max: usize) -> ValidationError {
    ValidationError::new(
        ValidationCode::TooManyRecords,
        format!("a batch has at most {max} records"),
    )
}
