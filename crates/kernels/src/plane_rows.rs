//! The rows of a plane of nibbles.

use crate::aligned::AlignedBytes;

/// A plane of the codes of a block: a row of nibbles for each record.
pub(crate) struct PlaneRows {
    row_bytes: usize,
    /// The rows, then [`OVERREAD`] bytes.
    bytes: AlignedBytes,
}

/// Readable bytes after the last row. Kernels read 64 bytes at a time, so they read past the end of a shorter row. The bytes
/// past the end are multiplied with zeros of the query.
const OVERREAD: usize = 64;

impl PlaneRows {
    /// No rows, with capacity for `capacity` rows of `row_bytes` bytes.
    pub(crate) fn new(row_bytes: usize, capacity: usize) -> Self {
        let mut bytes = AlignedBytes::with_capacity(capacity * row_bytes + OVERREAD);
        bytes.resize(OVERREAD);
        Self { row_bytes, bytes }
    }

    /// The rows that `bytes` begins with, and the bytes after them.
    pub(crate) fn split_from(bytes: &[u8], row_bytes: usize, rows: usize) -> (Self, &[u8]) {
        let mut plane = Self::new(row_bytes, rows);
        let (own, others) = bytes.split_at(rows * row_bytes);
        plane.resize(rows);
        plane.bytes.as_mut_bytes()[..own.len()].copy_from_slice(own);
        (plane, others)
    }

    pub(crate) fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Grows or shrinks to `rows` rows; new ones are zero.
    pub(crate) fn resize(&mut self, rows: usize) {
        self.bytes.resize(rows * self.row_bytes + OVERREAD);
    }

    /// All rows, without the bytes after them.
    pub(crate) fn rows(&self) -> &[u8] {
        let bytes = self.bytes.as_bytes();
        &bytes[..bytes.len() - OVERREAD]
    }

    pub(crate) fn row(&self, slot: usize) -> &[u8] {
        &self.rows()[slot * self.row_bytes..][..self.row_bytes]
    }

    pub(crate) fn row_mut(&mut self, slot: usize) -> &mut [u8] {
        &mut self.bytes.as_mut_bytes()[slot * self.row_bytes..][..self.row_bytes]
    }

    /// Where the first row begins. [`OVERREAD`] bytes after the last row may be read, too.
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.bytes.as_bytes().as_ptr()
    }

    /// Stores eight codes in each four bytes of the row at `slot`, each byte with the nibbles of two codes.
    pub(crate) fn write(&mut self, slot: usize, codes: &[i8], nibble: fn(i8) -> i8) {
        let row = self.row_mut(slot).chunks_exact_mut(4);
        for (packed, codes) in row.zip(codes.chunks_exact(8)) {
            packed.copy_from_slice(&nibble_pairs(codes, nibble));
        }
    }

    /// Bytes allocated, used or not.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.memory_bytes()
    }
}

/// Eight codes as four bytes, each with the nibbles of the codes `at` and `at + 4`.
pub(crate) fn nibble_pairs(codes: &[i8], nibble: fn(i8) -> i8) -> [u8; 4] {
    let stored = |at: usize| (nibble(codes[at]) + 8).cast_unsigned();
    std::array::from_fn(|at| stored(at) | stored(at + 4) << 4)
}

/// The sum of squares of the nibbles of a row.
pub(crate) fn sum_of_squares(row: &[u8]) -> u32 {
    let square = |nibble: u8| {
        let nibble = i32::from(nibble) - 8;
        (nibble * nibble).cast_unsigned()
    };
    let squares = row.iter().map(|byte| square(byte & 15) + square(byte >> 4));
    squares.sum()
}
