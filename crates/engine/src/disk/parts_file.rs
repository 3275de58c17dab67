//! Reading of parts files.

use std::io;
use std::path::Path;

use crate::disk::file_error::FileError;
use crate::disk::interface::Disk;
use crate::disk::open_file::OpenFile;
use crate::disk::parts_writer::{ALIGNMENT, FORMAT, HEADER_BYTES, MAGIC, Owner};

/// An open parts file. Its length and its header were checked; the checksum of a part is checked when it is read.
#[derive(Debug)]
pub(crate) struct PartsFile {
    file: OpenFile,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    start: u64,
    length: u64,
    crc: u32,
}

impl PartsFile {
    /// Opens the file at `path`, made from the store `owner`.
    ///
    /// # Errors
    /// [`FileError::Io`], [`FileError::Damaged`].
    pub(crate) fn open(
        disk: &dyn Disk,
        path: &Path,
        owner: &Owner,
    ) -> Result<PartsFile, FileError> {
        let io = |source| FileError::io(path, source);
        let damaged = |what| FileError::damaged(path, what);
        let file = disk.open(path).map_err(io)?;
        let length = file.length().map_err(io)?;
        let mut header = vec![0; HEADER_BYTES];
        read_header(&file, &mut header, 0)
            .map_err(io)?
            .ok_or_else(|| damaged("header cut short"))?;
        if header[..8] != MAGIC {
            return Err(damaged("not a cosift file"));
        }
        if number(&header[8..12]) != u64::from(FORMAT) {
            return Err(damaged("another format"));
        }
        let count = number(&header[12..16]);
        // Until the checksum of the table is checked, the count may be any number: it must not decide how much is allocated.
        if count > length / 16 {
            return Err(damaged("header cut short"));
        }
        let mut table = vec![0; count as usize * 16 + 4];
        read_header(&file, &mut table, HEADER_BYTES as u64)
            .map_err(io)?
            .ok_or_else(|| damaged("header cut short"))?;
        let crc = table.split_off(table.len() - 4);
        header.extend(table);
        if u64::from(crc32fast::hash(&header)) != number(&crc) {
            return Err(damaged("header changed"));
        }
        if header[16..HEADER_BYTES] != *owner {
            return Err(damaged("made from another database"));
        }
        let mut end = header.len() as u64 + 4;
        let mut parts = Vec::new();
        for entry in header[HEADER_BYTES..].chunks_exact(16) {
            let part = Part {
                start: end.next_multiple_of(ALIGNMENT),
                length: number(&entry[..8]),
                crc: number(&entry[8..12]) as u32,
            };
            if part.length > length {
                return Err(damaged("another length than the header says"));
            }
            end = part.start + part.length;
            parts.push(part);
        }
        if length != end {
            return Err(damaged("another length than the header says"));
        }
        Ok(PartsFile { file, parts })
    }

    /// The error of a part whose content does not match.
    pub(crate) fn damaged(&self, what: &'static str) -> FileError {
        FileError::damaged(self.file.path(), what)
    }

    /// Number of parts.
    pub(crate) fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// Length of a part in bytes.
    pub(crate) fn part_bytes(&self, part: usize) -> u64 {
        self.parts[part].length
    }

    /// Reads a whole part and checks its checksum.
    ///
    /// # Errors
    /// [`FileError::Io`], [`FileError::Damaged`].
    pub(crate) fn read_part(&self, part: usize) -> Result<Vec<u8>, FileError> {
        let mut bytes = vec![0; self.parts[part].length as usize];
        self.read_at(part, 0, &mut bytes)?;
        if crc32fast::hash(&bytes) != self.parts[part].crc {
            return Err(self.damaged("a part changed"));
        }
        Ok(bytes)
    }

    /// Fills `into` with the bytes of a part from `start` on. The checksum covers whole parts, so it is not checked.
    ///
    /// # Errors
    /// [`FileError::Io`], also when the bytes asked for reach past the end of the part.
    pub(crate) fn read_at(
        &self,
        part: usize,
        start: u64,
        into: &mut [u8],
    ) -> Result<(), FileError> {
        let io = |source| FileError::io(self.file.path(), source);
        let Part {
            start: base,
            length,
            ..
        } = self.parts[part];
        if start
            .checked_add(into.len() as u64)
            .is_none_or(|end| end > length)
        {
            return Err(io(io::ErrorKind::UnexpectedEof.into()));
        }
        self.file.read_exact_at(into, base + start).map_err(io)
    }
}

/// Fills `into`, or `None` when the file ends before.
fn read_header(file: &OpenFile, into: &mut [u8], offset: u64) -> io::Result<Option<()>> {
    match file.read_exact_at(into, offset) {
        Ok(()) => Ok(Some(())),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
