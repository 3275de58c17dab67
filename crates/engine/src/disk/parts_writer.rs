//! Writing of parts files: index data in parts with checksums, written once.
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

use std::io;
use std::path::Path;

use crate::disk::directories::sync_parent;
use crate::disk::file_error::FileError;
use crate::disk::interface::Disk;

/// The extension of a file until it is complete.
pub(crate) const TEMPORARY: &str = "tmp";

/// Writes `parts` to the file at `path`, which replaces an old file there. A crash leaves either the old file or the new one.
///
/// # Errors
/// [`FileError::Io`]. The old file is untouched, unless syncing the directory was what failed.
pub(crate) fn write_parts_file(
    disk: &dyn Disk,
    path: &Path,
    owner: &Owner,
    parts: &[&[u8]],
) -> Result<(), FileError> {
    replace(disk, path, owner, parts).map_err(|source| FileError::io(path, source))
}

fn replace(disk: &dyn Disk, path: &Path, owner: &Owner, parts: &[&[u8]]) -> io::Result<()> {
    let mut name = path
        .file_name()
        .ok_or(io::ErrorKind::InvalidInput)?
        .to_owned();
    name.push(".");
    name.push(TEMPORARY);
    // In the same directory: a rename is atomic only within a file system.
    let temporary = path.with_file_name(name);
    let header = header(owner, parts)?;
    let written = disk
        .write_file(&temporary, &aligned(&header, parts))
        .and_then(|()| disk.rename(&temporary, path));
    if written.is_err() {
        // The first error gives the reason. A file that cannot be removed now is overwritten the next time.
        let _ = disk.remove_file(&temporary);
    }
    written?;
    sync_parent(disk, path)
}

/// The header and the parts, with zeros between.
fn aligned<'a>(header: &'a [u8], parts: &[&'a [u8]]) -> Vec<&'a [u8]> {
    const ZEROS: [u8; ALIGNMENT as usize] = [0; ALIGNMENT as usize];
    let mut content = vec![header];
    let mut end = header.len() as u64;
    for part in parts {
        let start = end.next_multiple_of(ALIGNMENT);
        content.push(&ZEROS[..(start - end) as usize]);
        content.push(part);
        end = start + part.len() as u64;
    }
    content
}

fn header(owner: &Owner, parts: &[&[u8]]) -> io::Result<Vec<u8>> {
    let count = u32::try_from(parts.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut header = Vec::with_capacity(HEADER_BYTES + parts.len() * 16 + 4);
    header.extend(MAGIC);
    header.extend(FORMAT.to_le_bytes());
    header.extend(count.to_le_bytes());
    header.extend(owner);
    for part in parts {
        header.extend((part.len() as u64).to_le_bytes());
        header.extend(crc32fast::hash(part).to_le_bytes());
        header.extend([0; 4]);
    }
    header.extend(crc32fast::hash(&header).to_le_bytes());
    Ok(header)
}

pub(super) const MAGIC: [u8; 8] = *b"cosift\0\0";

pub(super) const FORMAT: u32 = 2;

/// Bytes before the table of the parts.
pub(super) const HEADER_BYTES: usize = 32;

/// A cache line, so that rows of 64 bytes never straddle two.
pub(super) const ALIGNMENT: u64 = 64;

/// Id of the store that a file was made from.
pub(crate) type Owner = [u8; 16];
