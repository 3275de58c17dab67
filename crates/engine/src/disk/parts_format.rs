//! The format of a parts file: index data in parts with checksums, written once.
//!
//! All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `cosift` and two zero bytes |
//! | 4 | format, 2 |
//! | 4 | number of parts, n |
//! | 16 | id of the store that the file was made from |
//! | 16 n | per part: length (8), CRC-32 of the part (4), zero (4) |
//! | 4 | CRC-32 of everything before |
//! | … | the parts, each from the next multiple of 64 on, zeros between |

pub(super) const MAGIC: [u8; 8] = *b"cosift\0\0";

pub(super) const FORMAT: u32 = 2;

/// Bytes before the table of the parts.
pub(super) const HEADER_BYTES: usize = 32;

/// A cache line, so that rows of 64 bytes never straddle two.
pub(super) const ALIGNMENT: u64 = 64;

/// Id of the store that a file was made from.
pub(crate) type Owner = [u8; 16];
