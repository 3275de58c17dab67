//! JSON values as a tree, for small documents such as filters.

use std::borrow::Cow;

use crate::json::reader::{Reader, Shape};
use crate::record::ValidationError;

/// A JSON value; members keep their order, and no name occurs twice. Strings without escapes are those of the document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A finite number.
    Number(f64),
    /// A string.
    Text(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl Json<'_> {
    /// The name of the type with its article, for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => Shape::Null,
            Self::Boolean(_) => Shape::Boolean,
            Self::Number(_) => Shape::Number,
            Self::Text(_) => Shape::Text,
            Self::Array(_) => Shape::Array,
            Self::Object(_) => Shape::Object,
        }
        .name()
    }
}

/// Parses a whole document of at most `max_depth` nested arrays and objects.
///
/// # Errors
/// The first [`ValidationError`]: malformed text, too deep nesting, a duplicate name, a lone surrogate, or a number outside
/// the range of a double.
pub(crate) fn parse(bytes: &[u8], max_depth: usize) -> Result<Json<'_>, ValidationError> {
    let mut reader = Reader::new(bytes, max_depth)?;
    let value = value(&mut reader)?;
    reader.end()?;
    Ok(value)
}

fn value<'a>(reader: &mut Reader<'a>) -> Result<Json<'a>, ValidationError> {
    Ok(match reader.shape()? {
        Shape::Null => reader.null().map(|()| Json::Null)?,
        Shape::Boolean => Json::Boolean(reader.boolean()?),
        Shape::Number => Json::Number(reader.number()?),
        Shape::Text => Json::Text(reader.string()?),
        Shape::Array => {
            let mut elements = Vec::new();
            reader.array(|reader, _| {
                elements.push(value(reader)?);
                Ok(())
            })?;
            Json::Array(elements)
        }
        Shape::Object => {
            let mut members = Vec::new();
            reader.object(|reader, name| {
                members.push((name.clone(), value(reader)?));
                Ok(())
            })?;
            Json::Object(members)
        }
    })
}

/// Checks a whole document without keeping its values.
///
/// # Errors
/// As [`parse`].
pub fn check(bytes: &[u8], max_depth: usize) -> Result<(), ValidationError> {
    let mut reader = Reader::new(bytes, max_depth)?;
    reader.skip()?;
    reader.end()
}
