//! Arrays in the binary format of PostgreSQL, which a client binds as they are.

use crate::buffer::Buffer;

const BYTEA: u32 = 17;
const INT8: u32 = 20;
const INT2: u32 = 21;
const TEXT: u32 = 25;
const UUID: u32 = 2950;
const JSONB: u32 = 3802;

/// An array that is being written.
pub(crate) struct Array {
    bytes: Vec<u8>,
    length: i32,
}

impl Array {
    /// An array of elements of a type, which is named by its number.
    pub(crate) fn of_type(element: u32) -> Self {
        let mut bytes = Vec::new();
        // One dimension; NULL may occur.
        bytes.extend_from_slice(&1_i32.to_be_bytes());
        bytes.extend_from_slice(&1_i32.to_be_bytes());
        bytes.extend_from_slice(&element.to_be_bytes());
        // The length, and the number of the first element.
        bytes.extend_from_slice(&0_i32.to_be_bytes());
        bytes.extend_from_slice(&1_i32.to_be_bytes());
        Self { bytes, length: 0 }
    }

    pub(crate) fn bytes() -> Self {
        Self::of_type(BYTEA)
    }

    pub(crate) fn integers() -> Self {
        Self::of_type(INT8)
    }

    pub(crate) fn small_integers() -> Self {
        Self::of_type(INT2)
    }

    pub(crate) fn texts() -> Self {
        Self::of_type(TEXT)
    }

    pub(crate) fn uuids() -> Self {
        Self::of_type(UUID)
    }

    pub(crate) fn json() -> Self {
        Self::of_type(JSONB)
    }

    /// Adds an element in the binary format of its type.
    pub(crate) fn push(&mut self, element: Option<&[u8]>) {
        self.length += 1;
        match element {
            Some(element) => {
                let length = element.len() as i32;
                self.bytes.extend_from_slice(&length.to_be_bytes());
                self.bytes.extend_from_slice(element);
            }
            None => self.bytes.extend_from_slice(&(-1_i32).to_be_bytes()),
        }
    }

    pub(crate) fn push_integer(&mut self, value: i64) {
        self.push(Some(&value.to_be_bytes()));
    }

    /// Adds JSON text to an array of `jsonb`.
    pub(crate) fn push_json(&mut self, json: &[u8]) {
        // The version of the format.
        let mut element = vec![1];
        encode_json(json, &mut element);
        self.push(Some(&element));
    }

    /// Adds components in single precision to an array of `vector`.
    pub(crate) fn push_vector(&mut self, vector: &[f32]) {
        let mut element = Vec::with_capacity(4 + 4 * vector.len());
        element.extend_from_slice(&(vector.len() as i16).to_be_bytes());
        element.extend_from_slice(&[0, 0]);
        for component in vector {
            element.extend_from_slice(&component.to_be_bytes());
        }
        self.push(Some(&element));
    }

    pub(crate) fn finish(mut self) -> Buffer {
        self.bytes[12..16].copy_from_slice(&self.length.to_be_bytes());
        self.bytes.into()
    }
}

/// Encodes the texts of JSON that the engine wrote, in which control characters are escaped, as `encodeText` of
/// `src/store/postgres/text.ts` does: `jsonb` stores no NUL.
fn encode_json(json: &[u8], out: &mut Vec<u8>) {
    const CODES: [&str; 4] = [
        "\\u0001\\u0002\\u0002",
        "\\u0001\\u0002\\u0003",
        "\\u0001\\u0003\\u0002",
        "\\u0001\\u0003\\u0003",
    ];
    let mut rest = json;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        let (escape, code) = match &rest[at..] {
            [b'\\', b'u', b'0', b'0', b'0', digit @ b'0'..=b'3', ..] => {
                (6, CODES[usize::from(digit - b'0')].as_bytes())
            }
            // An escaped backslash is passed over, because it is no beginning of an escape.
            escape => (2, &escape[..2]),
        };
        out.extend_from_slice(code);
        rest = &rest[at + escape..];
    }
    out.extend_from_slice(rest);
}
