//! A strict pull reader of JSON text.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::json::write::write_string;
use crate::record::{ValidationCode, ValidationError, ValidationErrors};

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Null,
    Boolean,
    Number,
    Text,
    Array,
    Object,
}

impl Shape {
    /// The name of the type with its article, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// Reads values front to back. Duplicate names, lone surrogates, numbers outside the range of a double and nesting beyond
/// the limit are errors.
pub(crate) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    depth: usize,
    max_depth: usize,
    /// What is wrong with values that were read, for a caller that goes on after them.
    pub(crate) problems: ValidationErrors,
}

impl<'a> Reader<'a> {
    /// Starts to read a document of at most `max_depth` nested arrays and objects.
    pub(crate) fn new(bytes: &'a [u8], max_depth: usize) -> Result<Self, ValidationError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| malformed("invalid UTF-8", error.valid_up_to()))?;
        Ok(Self {
            text,
            at: 0,
            depth: 0,
            max_depth,
            problems: ValidationErrors::default(),
        })
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not white space, without consuming it.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    /// The number of bytes that were not consumed yet.
    pub(crate) fn rest(&self) -> usize {
        self.text.len() - self.at
    }

    fn unexpected(&self, expected: &str) -> ValidationError {
        match self.text[self.at..].chars().next() {
            Some(found) => malformed(&format!("expected {expected}, found {found:?}"), self.at),
            None => malformed(&format!("expected {expected}, found the end"), self.at),
        }
    }

    pub(super) fn take(&mut self, byte: u8) -> Result<(), ValidationError> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(&format!("{:?}", char::from(byte))));
        }
        self.at += 1;
        Ok(())
    }

    /// The type of the next value, by its first byte.
    pub(crate) fn shape(&mut self) -> Result<Shape, ValidationError> {
        match self.peek() {
            Some(b'n') => Ok(Shape::Null),
            Some(b't' | b'f') => Ok(Shape::Boolean),
            Some(b'-' | b'0'..=b'9') => Ok(Shape::Number),
            Some(b'"') => Ok(Shape::Text),
            Some(b'[') => Ok(Shape::Array),
            Some(b'{') => Ok(Shape::Object),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), ValidationError> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.unexpected(word));
        }
        self.at += word.len();
        Ok(())
    }

    /// Consumes `null`.
    pub(crate) fn null(&mut self) -> Result<(), ValidationError> {
        self.peek();
        self.word("null")
    }

    /// Consumes `true` or `false`.
    pub(crate) fn boolean(&mut self) -> Result<bool, ValidationError> {
        if self.peek() == Some(b't') {
            self.word("true").map(|()| true)
        } else {
            self.word("false").map(|()| false)
        }
    }

    /// Consumes a number, which is finite.
    pub(crate) fn number(&mut self) -> Result<f64, ValidationError> {
        self.peek();
        let rest = &self.text[self.at..];
        let length = number_length(rest.as_bytes())
            .ok_or_else(|| malformed("expected a number", self.at))?;
        let value: f64 = rest[..length]
            .parse()
            .expect("JSON numbers are Rust numbers");
        if !value.is_finite() {
            return Err(ValidationError::new(
                ValidationCode::NumberOutOfRange,
                "a number beyond a double",
            ));
        }
        self.at += length;
        Ok(value)
    }

    /// Consumes an array. `each` must consume each element.
    pub(crate) fn array(
        &mut self,
        mut each: impl FnMut(&mut Self, usize) -> Result<(), ValidationError>,
    ) -> Result<(), ValidationError> {
        self.take(b'[')?;
        self.enter()?;
        if self.peek() == Some(b']') {
            self.at += 1;
        } else {
            for at in 0.. {
                each(self, at).map_err(|problem| problem.within(at))?;
                if !self.has_next(b']')? {
                    break;
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Consumes an object. `each` gets the name of each member and must consume its value.
    pub(crate) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, &Cow<'a, str>) -> Result<(), ValidationError>,
    ) -> Result<(), ValidationError> {
        self.take(b'{')?;
        self.enter()?;
        let mut names = Names::default();
        if self.peek() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                if self.peek() != Some(b'"') {
                    return Err(self.unexpected("a member name"));
                }
                let name = self.string()?;
                self.take(b':')?;
                if names.has(&name) {
                    let detail = format!("the name {name:?} occurs twice");
                    return Err(
                        ValidationError::new(ValidationCode::DuplicateMember, detail).within(&name),
                    );
                }
                each(self, &name).map_err(|problem| problem.within(&name))?;
                names.add(name);
                if !self.has_next(b'}')? {
                    break;
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Consumes a comma and returns true, or the closing bracket and returns false.
    fn has_next(&mut self, close: u8) -> Result<bool, ValidationError> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.unexpected(&format!("',' or {:?}", char::from(close)))),
        }
    }

    fn enter(&mut self) -> Result<(), ValidationError> {
        self.depth += 1;
        if self.depth > self.max_depth {
            let detail = format!("nested deeper than {} levels", self.max_depth);
            return Err(ValidationError::new(ValidationCode::TooDeep, detail));
        }
        Ok(())
    }

    /// Consumes any value.
    pub(crate) fn skip(&mut self) -> Result<(), ValidationError> {
        match self.shape()? {
            Shape::Null => self.null(),
            Shape::Boolean => self.boolean().map(drop),
            Shape::Number => self.number().map(drop),
            Shape::Text => self.string().map(drop),
            Shape::Array => self.array(|reader, _| reader.skip()),
            Shape::Object => self.object(|reader, _| reader.skip()),
        }
    }

    /// Whether the array that comes next has an array, an object or null in it. Of malformed text, this may be wrong.
    pub(crate) fn array_is_nested(&self) -> bool {
        let mut bytes = self.text.as_bytes()[self.at..].iter().skip(1);
        while let Some(byte) = bytes.next() {
            match byte {
                b'[' | b'{' | b'n' => return true,
                b']' => return false,
                b'"' => {
                    while let Some(byte) = bytes.next() {
                        match byte {
                            b'"' => break,
                            b'\\' => drop(bytes.next()),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// Consumes any value and appends its JSON: without white space, with the shortest form of every string, and numbers as
    /// they are written.
    pub(crate) fn compact(&mut self, out: &mut Vec<u8>) -> Result<(), ValidationError> {
        match self.shape()? {
            Shape::Array => {
                out.push(b'[');
                self.array(|reader, at| {
                    if at > 0 {
                        out.push(b',');
                    }
                    reader.compact(out)
                })?;
                out.push(b']');
            }
            Shape::Object => {
                let mut separator = b'{';
                self.object(|reader, name| {
                    out.push(separator);
                    separator = b',';
                    write_string(name, out);
                    out.push(b':');
                    reader.compact(out)
                })?;
                if separator == b'{' {
                    out.push(b'{');
                }
                out.push(b'}');
            }
            Shape::Text => write_string(&self.string()?, out),
            Shape::Null | Shape::Boolean | Shape::Number => {
                let start = self.at;
                self.skip()?;
                out.extend_from_slice(&self.text.as_bytes()[start..self.at]);
            }
        }
        Ok(())
    }

    /// Checks that only white space is left.
    pub(crate) fn end(&mut self) -> Result<(), ValidationError> {
        if self.peek().is_none() {
            Ok(())
        } else {
            Err(self.unexpected("the end"))
        }
    }
}

pub(super) fn malformed(what: &str, at: usize) -> ValidationError {
    ValidationError::new(
        ValidationCode::MalformedJson,
        format!("{what}, at byte {at}"),
    )
}

/// The length of the JSON number that `bytes` begin with; `None` when they begin with none.
pub(super) fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && bytes[at] == b'0') {
        return None;
    }
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    Some(at)
}

/// The names of an object that were read so far: the first ones in a list, which is faster for few names, the others
/// in a set. The hasher of the standard library is seeded at random, so that no document can force collisions.
#[derive(Default)]
pub(super) struct Names<'a> {
    list: Vec<Cow<'a, str>>,
    set: HashSet<Cow<'a, str>>,
}

impl<'a> Names<'a> {
    const SHORT: usize = 16;

    pub(super) fn has(&self, name: &str) -> bool {
        self.list.iter().any(|known| known == name) || self.set.contains(name)
    }

    pub(super) fn add(&mut self, name: Cow<'a, str>) {
        if self.list.len() < Self::SHORT {
            self.list.push(name);
        } else {
            self.set.insert(name);
        }
    }
}
