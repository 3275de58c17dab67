//! The encoding of columns in a file: little-endian, lengths before contents, no padding.

use std::fmt;

/// The bytes are not a valid encoding; which part of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged(pub(crate) &'static str);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged columns: {}", self.0)
    }
}

impl std::error::Error for Damaged {}

/// Reads an encoding front to back. Every length is checked against the bytes that are left.
pub(crate) struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Damaged("length"))?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Damaged("length"))?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Whether the next byte is `byte`, which is then consumed.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let rest = self.rest.strip_prefix(&[byte]);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Damaged> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Damaged> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Damaged> {
        self.array().map(u64::from_le_bytes)
    }

    /// A count of at most `max`.
    pub(crate) fn count(&mut self, max: usize) -> Result<usize, Damaged> {
        let count = self.u32()? as usize;
        if count <= max {
            Ok(count)
        } else {
            Err(Damaged("count"))
        }
    }

    /// `len` values of `N` bytes.
    pub(crate) fn values<const N: usize, T>(
        &mut self,
        len: usize,
        convert: fn([u8; N]) -> T,
    ) -> Result<Box<[T]>, Damaged> {
        let bytes = self.bytes(len.checked_mul(N).ok_or(Damaged("length"))?)?;
        Ok(bytes
            .as_chunks::<N>()
            .0
            .iter()
            .map(|&bytes| convert(bytes))
            .collect())
    }
}

/// Appends values of `N` bytes.
pub(crate) fn put_values<const N: usize, T: Copy>(
    values: &[T],
    convert: fn(T) -> [u8; N],
    out: &mut Vec<u8>,
) {
    out.reserve(values.len() * N);
    for &value in values {
        out.extend_from_slice(&convert(value));
    }
}

/// Appends a count. Counts in a block fit a u32.
pub(crate) fn put_count(count: usize, out: &mut Vec<u8>) {
    let count = u32::try_from(count).expect("counts in a block fit a u32");
    out.extend_from_slice(&count.to_le_bytes());
}
