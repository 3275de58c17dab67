//! Strings in JSON text.

use std::borrow::Cow;

use crate::json::reader::{Reader, malformed};
use crate::record::{ValidationCode, ValidationError};

impl<'a> Reader<'a> {
    /// Consumes a string. It is borrowed unless it has escapes.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, ValidationError> {
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
        let bytes = self.text.as_bytes();
        while let Some(eight) = bytes[self.at..].first_chunk() {
            let special = specials(u64::from_le_bytes(*eight));
            if special != 0 {
                self.at += special.trailing_zeros() as usize / 8;
                return;
            }
            self.at += eight.len();
        }
        let special = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < 0x20;
        self.at += bytes[self.at..]
            .iter()
            .take_while(|byte| !special(byte))
            .count();
    }

    /// Consumes an escape after its backslash.
    fn escape(&mut self) -> Result<char, ValidationError> {
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

    fn unicode(&mut self) -> Result<char, ValidationError> {
        let lone =
            || ValidationError::new(ValidationCode::LoneSurrogate, "half of a surrogate pair");
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

    fn hex(&mut self) -> Result<u32, ValidationError> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(malformed("expected four hexadecimal digits", self.at));
        }
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).expect("digits were checked"))
    }
}

/// Sets the top bit of each byte that is a quote, a backslash or a control character. Bits above the lowest set bit may be
/// wrong; the caller uses the lowest one only.
///
/// Source: "Determine if a word has a byte less than n",
/// <https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord>.
fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const TOPS: u64 = ONES << 7;
    let below = |word: u64, n: u64| word.wrapping_sub(ONES * n) & !word;
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    (below(word, 0x20) | below(quote, 1) | below(backslash, 1)) & TOPS
}
