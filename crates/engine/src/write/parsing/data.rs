//! The data of a record: a value for each column.

use std::collections::HashSet;

use crate::json::{MAX_COLUMN_BYTES, Reader, Shape, check_column};
use crate::record::{Data, MAX_LIST_ELEMENTS, OwnedValue, ValidationCode, ValidationError};
use crate::write::parsing::fields::{Read, array, members, note};

/// Names of members in the name of a column at most: an object that is nested deeper is stored as its JSON text.
const MAX_PATH_NAMES: usize = 16;

/// The columns of a record, while they are read.
struct Columns {
    cells: Vec<(Box<str>, OwnedValue)>,
    flattened: Option<Flattened>,
}

/// The names of flattened columns. Two members can have the same name, and short members can have long names.
struct Flattened {
    names: HashSet<Box<str>>,
    bytes: usize,
    max_bytes: usize,
}

/// Reads the data of a record. With `flatten`, the members of an object are columns such as `address.city`, and a list
/// with an object, a list or null in it is its JSON text; the names of all columns may have this number of bytes.
pub(super) fn data(reader: &mut Reader<'_>, flatten: Option<usize>) -> Read<Data> {
    let mut columns = Columns {
        cells: Vec::new(),
        flattened: flatten.map(|max_bytes| Flattened {
            names: HashSet::new(),
            bytes: 0,
            max_bytes,
        }),
    };
    members(reader, |reader, name| columns.read(reader, name, 1))?;
    Ok(Data::new(columns.cells))
}

impl Columns {
    /// Reads the value of the column `name`, which consists of the names of `names` members.
    fn read(&mut self, reader: &mut Reader<'_>, name: &str, names: usize) -> Read<()> {
        let shape = reader.shape()?;
        let flatten = self.flattened.is_some();
        if shape == Shape::Object && flatten && names < MAX_PATH_NAMES {
            // Every member would repeat it.
            if name.len() > MAX_COLUMN_BYTES {
                return self.refuse(reader, name);
            }
            return members(reader, |reader, member| {
                self.read(reader, &format!("{name}.{member}"), names + 1)
            });
        }
        if check_column(name).is_err() {
            return self.refuse(reader, name);
        }
        if let Some(Err(problem)) = self.flattened.as_mut().map(|all| all.add(name)) {
            reader.problems.push(problem);
            return reader.skip();
        }
        let value = match shape {
            Shape::Null => reader.null().map(|()| OwnedValue::Null)?,
            Shape::Array if flatten && reader.array_is_nested() => text(reader)?,
            Shape::Array => list(reader)?,
            Shape::Object if flatten => text(reader)?,
            Shape::Object => {
                let detail = "a value is a string, number, boolean, null or a list, not an object; \
                              the setting flatten of the database makes columns of its members";
                note(reader, ValidationCode::WrongType, detail);
                return reader.skip();
            }
            shape => scalar(reader, shape)?,
        };
        self.cells.push((name.into(), value));
        Ok(())
    }

    /// Notes what is wrong with the name of a column, and skips its value.
    fn refuse(&self, reader: &mut Reader<'_>, name: &str) -> Read<()> {
        if let Err(problem) = check_column(name) {
            reader.problems.push(problem);
        }
        reader.skip()
    }
}

impl Flattened {
    fn add(&mut self, name: &str) -> Result<(), ValidationError> {
        self.bytes += name.len();
        if self.bytes > self.max_bytes {
            let detail = format!(
                "the names of the columns have more than {} bytes",
                self.max_bytes
            );
            return Err(ValidationError::new(ValidationCode::TooLarge, detail));
        }
        if self.names.insert(name.into()) {
            return Ok(());
        }
        let detail = format!("another member is the column {name:?}, too");
        Err(ValidationError::new(ValidationCode::InvalidColumn, detail))
    }
}

/// A value as its JSON text.
fn text(reader: &mut Reader<'_>) -> Read<OwnedValue> {
    let mut text = Vec::new();
    reader.compact(&mut text)?;
    let text = String::from_utf8(text).expect("JSON is UTF-8");
    Ok(OwnedValue::Text(text.into()))
}

/// A list of at most [`MAX_LIST_ELEMENTS`] strings, numbers and booleans.
fn list(reader: &mut Reader<'_>) -> Read<OwnedValue> {
    let mut elements = Vec::new();
    let mut count = 0;
    array(reader, |reader, at| {
        count = at + 1;
        let shape = reader.shape()?;
        if let Shape::Null | Shape::Array | Shape::Object = shape {
            let detail = format!(
                "an element of a list is a string, number or boolean, not {}; the setting flatten of the database stores the \
                 list as its JSON text",
                shape.name()
            );
            note(reader, ValidationCode::WrongType, detail);
            return reader.skip();
        }
        if count > MAX_LIST_ELEMENTS {
            return reader.skip();
        }
        elements.push(scalar(reader, shape)?);
        Ok(())
    })?;
    if count > MAX_LIST_ELEMENTS {
        let detail = format!("a list has at most {MAX_LIST_ELEMENTS} elements, not {count}");
        note(reader, ValidationCode::TooManyValues, detail);
    }
    Ok(OwnedValue::List(elements.into()))
}

/// A string, number or boolean.
fn scalar(reader: &mut Reader<'_>, shape: Shape) -> Read<OwnedValue> {
    Ok(match shape {
        Shape::Boolean => OwnedValue::Boolean(reader.boolean()?),
        // Adding zero turns -0 into 0, which is how it would be written.
        Shape::Number => OwnedValue::Number(reader.number()? + 0.0),
        _ => OwnedValue::Text(reader.string()?.into()),
    })
}
