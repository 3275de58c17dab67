//! A strict pull reader of JSON text.

use std::borrow::Cow;

use hashbrown::HashSet;

use super::number;
use crate::problem::{Problem, ProblemCode};

/// What the next value is.
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
    /// The type with its article, for messages.
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

/// Reads values front to back. Duplicate names, lone surrogates, numbers beyond a double and
/// nesting beyond the limit are refused wherever they occur.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    max_depth: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the front of a document of at most `max_depth` nested arrays and objects.
    pub(crate) fn new(bytes: &'a [u8], max_depth: usize) -> Result<Self, Problem> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| malformed("invalid UTF-8", error.valid_up_to()))?;
        Ok(Self {
            text,
            at: 0,
            depth: 0,
            max_depth,
        })
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not white space, not taken.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    fn unexpected(&self, expected: &str) -> Problem {
        match self.text[self.at..].chars().next() {
            Some(found) => malformed(&format!("expected {expected}, found {found:?}"), self.at),
            None => malformed(&format!("expected {expected}, found the end"), self.at),
        }
    }

    fn take(&mut self, byte: u8) -> Result<(), Problem> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(&format!("{:?}", char::from(byte))));
        }
        self.at += 1;
        Ok(())
    }

    /// What the next value is, judged by its first byte.
    pub(crate) fn shape(&mut self) -> Result<Shape, Problem> {
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

    fn word(&mut self, word: &str) -> Result<(), Problem> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.unexpected(word));
        }
        self.at += word.len();
        Ok(())
    }

    /// Takes `null`.
    pub(crate) fn null(&mut self) -> Result<(), Problem> {
        self.peek();
        self.word("null")
    }

    /// Takes `true` or `false`.
    pub(crate) fn boolean(&mut self) -> Result<bool, Problem> {
        if self.peek() == Some(b't') {
            self.word("true").map(|()| true)
        } else {
            self.word("false").map(|()| false)
        }
    }

    /// Takes a number; it is finite.
    pub(crate) fn number(&mut self) -> Result<f64, Problem> {
        self.peek();
        let rest = &self.text[self.at..];
        let length = number::length(rest.as_bytes())
            .ok_or_else(|| malformed("expected a number", self.at))?;
        let value: f64 = rest[..length]
            .parse()
            .expect("JSON numbers are Rust numbers");
        if !value.is_finite() {
            return Err(Problem::new(
                ProblemCode::NumberOutOfRange,
                "a number beyond a double",
            ));
        }
        self.at += length;
        Ok(value)
    }

    /// Takes a string; borrowed unless it has escapes.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Problem> {
        self.take(b'"')?;
        let start = self.at;
        self.plain();
        if self.byte() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(&self.text[start..self.at - 1]));
        }
        let mut text = self.text[start..self.at].to_owned();
        loop {
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                Some(_) => return Err(malformed("control character in a string", self.at)),
                None => return Err(malformed("string without an end", self.at)),
            }
            let start = self.at;
            self.plain();
            text.push_str(&self.text[start..self.at]);
        }
    }

    /// Skips to the next quote, backslash or control character.
    fn plain(&mut self) {
        let special = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < 0x20;
        let bytes = self.text.as_bytes();
        // Without an early exit inside a chunk, this is vector code.
        while let Some(chunk) = bytes[self.at..].first_chunk::<16>() {
            if chunk.iter().fold(false, |any, byte| any | special(byte)) {
                break;
            }
            self.at += chunk.len();
        }
        self.at += bytes[self.at..]
            .iter()
            .take_while(|byte| !special(byte))
            .count();
    }

    /// Takes what follows a backslash.
    fn escape(&mut self) -> Result<char, Problem> {
        let byte = self
            .byte()
            .ok_or_else(|| malformed("string without an end", self.at))?;
        let plain = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(malformed("unknown escape", self.at)),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self) -> Result<char, Problem> {
        let lone = || Problem::new(ProblemCode::LoneSurrogate, "half of a surrogate pair");
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first).ok_or_else(lone);
        }
        if !self.text[self.at..].starts_with("\\u") {
            return Err(lone());
        }
        self.at += 2;
        let second = self.hex()?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(lone());
        }
        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or_else(lone)
    }

    fn hex(&mut self) -> Result<u32, Problem> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(malformed("expected four hexadecimal digits", self.at));
        }
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).expect("digits were checked"))
    }

    /// Takes an array, handing each element to `each`, which must take it.
    pub(crate) fn array(
        &mut self,
        mut each: impl FnMut(&mut Self, usize) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        self.take(b'[')?;
        self.enter()?;
        if self.peek() == Some(b']') {
            self.at += 1;
        } else {
            for at in 0.. {
                each(self, at).map_err(|problem| problem.within(at))?;
                if !self.goes_on(b']')? {
                    break;
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Takes an object, handing each member's name to `each`, which must take the value.
    pub(crate) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, &Cow<'a, str>) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
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
                    return Err(Problem::new(ProblemCode::DuplicateMember, detail).within(&name));
                }
                each(self, &name).map_err(|problem| problem.within(&name))?;
                names.add(name);
                if !self.goes_on(b'}')? {
                    break;
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Takes the comma (true) or the closing bracket (false).
    fn goes_on(&mut self, close: u8) -> Result<bool, Problem> {
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

    fn enter(&mut self) -> Result<(), Problem> {
        self.depth += 1;
        if self.depth > self.max_depth {
            let detail = format!("nested deeper than {} levels", self.max_depth);
            return Err(Problem::new(ProblemCode::TooDeep, detail));
        }
        Ok(())
    }

    /// Takes any value and forgets it.
    pub(crate) fn skip(&mut self) -> Result<(), Problem> {
        match self.shape()? {
            Shape::Null => self.null(),
            Shape::Boolean => self.boolean().map(drop),
            Shape::Number => self.number().map(drop),
            Shape::Text => self.string().map(drop),
            Shape::Array => self.array(|reader, _| reader.skip()),
            Shape::Object => self.object(|reader, _| reader.skip()),
        }
    }

    /// Makes sure that nothing but white space is left.
    pub(crate) fn end(&mut self) -> Result<(), Problem> {
        if self.peek().is_none() {
            Ok(())
        } else {
            Err(self.unexpected("the end"))
        }
    }
}

fn malformed(what: &str, at: usize) -> Problem {
    Problem::new(ProblemCode::MalformedJson, format!("{what}, at byte {at}"))
}

/// The names of an object so far: a list while it is short, a set (with a random seed, so that no
/// document can make it slow) from then on.
#[derive(Default)]
struct Names<'a> {
    list: Vec<Cow<'a, str>>,
    set: HashSet<Cow<'a, str>, std::hash::RandomState>,
}

impl<'a> Names<'a> {
    const SHORT: usize = 16;

    fn has(&self, name: &str) -> bool {
        self.list.iter().any(|known| known == name) || self.set.contains(name)
    }

    fn add(&mut self, name: Cow<'a, str>) {
        if self.list.len() < Self::SHORT {
            self.list.push(name);
        } else {
            self.set.insert(name);
        }
    }
}
