//! A file with the exact vectors of a block, written once.
//!
//! A file is a parts file with two parts. Numbers are little-endian, four bytes each.
//!
//! | part | what |
//! |---|---|
//! | 0 | the number in its name, lower half first; dimensions; number of records; of a block with later passages, the first later row of each record, and the end of the last |
//! | 1 | the vectors of the records, then those of later passages; each as its components, and the CRC-32 of these and of the id of the record |

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::disk::{Disk, FileError, Owner, SharedPartsFile};

const LAYOUT: usize = 0;
const ROWS: usize = 1;

/// Bytes of the checksum behind a vector, which is [`crc_of`] of it.
pub(crate) const CRC_BYTES: usize = 4;

/// A vector file. It is open only while it is read.
#[derive(Debug)]
pub(crate) struct VectorFile {
    id: u64,
    file: SharedPartsFile,
    layout: OnceLock<Layout>,
}

/// Which vectors a file has.
#[derive(Debug)]
struct Layout {
    dimensions: usize,
    records: usize,
    /// The first later row of each record, and the end of the last; empty where each record has one vector.
    later: Vec<u32>,
}

impl VectorFile {
    /// The file with a number and a path, of the store `owner`.
    pub(super) fn at(disk: &Arc<dyn Disk>, (id, path): (u64, PathBuf), owner: Owner) -> Self {
        Self {
            id,
            file: SharedPartsFile::at(disk, path, owner),
            layout: OnceLock::new(),
        }
    }

    /// Reads the vector of a row, which is one of the record `id`, into `buffer`, and returns its bytes.
    ///
    /// # Errors
    /// [`FileError::Damaged`], also when the vector does not match its checksum; [`FileError::Io`].
    pub(crate) fn row<'a>(
        &self,
        (id, row): (u64, usize),
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FileError> {
        let size = self.layout()?.row_bytes();
        buffer.resize(size, 0);
        self.file
            .get()?
            .read_at(ROWS, (row * size) as u64, buffer)?;
        self.checked(id, buffer)
    }

    /// Reads the vectors of the first rows, one for each id of a record in `ids`, into `buffer`, each with its checksum, and
    /// returns them.
    ///
    /// # Errors
    /// As [`VectorFile::row`].
    pub(crate) fn rows<'a>(
        &self,
        ids: impl ExactSizeIterator<Item = u64>,
        buffer: &'a mut Vec<u8>,
    ) -> Result<impl Iterator<Item = Result<&'a [u8], FileError>>, FileError> {
        let size = self.layout()?.row_bytes();
        buffer.resize(ids.len() * size, 0);
        self.file.get()?.read_at(ROWS, 0, buffer)?;
        let rows = ids.zip(buffer.chunks_exact(size));
        Ok(rows.map(|(id, row)| self.checked(id, row)))
    }

    /// Appends the vectors of a record to `into`, without their checksums, and returns how many they are.
    ///
    /// # Errors
    /// As [`VectorFile::row`].
    pub(super) fn append_record(
        &self,
        (id, slot): (u64, usize),
        into: &mut Vec<u8>,
    ) -> Result<usize, FileError> {
        let layout = self.layout()?;
        if slot >= layout.records {
            return Err(self.damaged("it has fewer records than its name says"));
        }
        let size = layout.row_bytes();
        let file = self.file.get()?;
        for row in std::iter::once(slot).chain(layout.later_of(slot)) {
            let start = into.len();
            into.resize(start + size, 0);
            file.read_at(ROWS, (row * size) as u64, &mut into[start..])?;
            self.checked(id, &into[start..])?;
            into.truncate(start + size - CRC_BYTES);
        }
        Ok(1 + layout.later_of(slot).len())
    }

    /// Checks the whole file, also the vectors of records that are gone.
    ///
    /// # Errors
    /// As [`VectorFile::row`].
    pub(super) fn verify(&self) -> Result<(), FileError> {
        self.layout()?;
        self.file.get()?.read_part(ROWS).map(drop)
    }

    /// Bytes of the file; 0 where it is missing.
    pub(super) fn bytes(&self) -> u64 {
        self.file.length()
    }

    /// Opens the file and keeps it open, because another process may remove it.
    ///
    /// # Errors
    /// [`FileError::Io`], [`FileError::Damaged`].
    pub(super) fn hold(&self) -> Result<(), FileError> {
        self.file.keep_open();
        self.file.get().map(drop)
    }

    /// Keeps the file open, because it is removed.
    pub(crate) fn keep_open(&self) {
        self.file.keep_open();
    }

    /// The error of a file whose content does not match.
    pub(crate) fn damaged(&self, what: &'static str) -> FileError {
        self.file.damaged(what)
    }

    fn checked<'a>(&self, id: u64, row: &'a [u8]) -> Result<&'a [u8], FileError> {
        let (vector, crc) = row.split_at(row.len() - CRC_BYTES);
        if crc_of(id, vector).to_le_bytes() != crc {
            return Err(self.damaged("a vector does not match its checksum"));
        }
        Ok(vector)
    }

    fn layout(&self) -> Result<&Layout, FileError> {
        if let Some(layout) = self.layout.get() {
            return Ok(layout);
        }
        let file = self.file.get()?;
        if file.part_count() != ROWS + 1 {
            return Err(self.damaged("another number of parts"));
        }
        let (id, layout) = Layout::read(&file.read_part(LAYOUT)?, file.part_bytes(ROWS))
            .ok_or_else(|| self.damaged("another number of vectors"))?;
        if id != self.id {
            return Err(self.damaged("it is another vector file"));
        }
        Ok(self.layout.get_or_init(|| layout))
    }
}

impl Layout {
    /// Reads the number in the name and the layout of a file whose vectors have `bytes` bytes.
    fn read(part: &[u8], bytes: u64) -> Option<(u64, Self)> {
        let (numbers, []) = part.as_chunks::<4>() else {
            return None;
        };
        let numbers: Vec<u32> = numbers
            .iter()
            .map(|bytes| u32::from_le_bytes(*bytes))
            .collect();
        let (&[low, high, dimensions, records], later) = numbers.split_first_chunk::<4>()?;
        let id = u64::from(high) << 32 | u64::from(low);
        let layout = Self {
            dimensions: dimensions as usize,
            records: records as usize,
            later: later.to_vec(),
        };
        let rows = u64::from(records) + u64::from(later.last().copied().unwrap_or(0));
        let fits = (later.is_empty() || later.len() == layout.records + 1)
            && later.is_sorted()
            && rows * layout.row_bytes() as u64 == bytes;
        fits.then_some((id, layout))
    }

    fn row_bytes(&self) -> usize {
        row_bytes(self.dimensions)
    }

    /// The rows of the later passages of a record.
    fn later_of(&self, slot: usize) -> Range<usize> {
        match self.later.get(slot..slot + 2) {
            Some(&[start, end]) => self.records + start as usize..self.records + end as usize,
            _ => 0..0,
        }
    }
}

/// The bytes of the layout of a file, with the number in its name.
pub(super) fn layout_bytes(
    id: u64,
    (dimensions, records): (usize, usize),
    later: &[u32],
) -> Vec<u8> {
    let numbers = [
        id as u32,
        (id >> 32) as u32,
        dimensions as u32,
        records as u32,
    ];
    let numbers = numbers.iter().chain(later);
    numbers.flat_map(|number| number.to_le_bytes()).collect()
}

/// Bytes of a vector with its checksum.
pub(super) fn row_bytes(dimensions: usize) -> usize {
    dimensions * 4 + CRC_BYTES
}

/// The checksum over what a model made of the record `id`.
pub(crate) fn crc_of(id: u64, made: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(made);
    hasher.update(&id.to_le_bytes());
    hasher.finalize()
}

/// The file that an error is about.
pub(super) fn file_of(error: &FileError) -> Option<u64> {
    let (FileError::Io { path, .. } | FileError::Damaged { path, .. }) = error else {
        return None;
    };
    path.file_stem()?.to_str()?.parse().ok()
}

/// Whether an error says that a file is missing or damaged, and not that it cannot be read at the moment.
pub(super) fn is_loss(error: &FileError) -> bool {
    match error {
        FileError::Io { source, .. } => matches!(
            source.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof
        ),
        FileError::Damaged { .. } => true,
        FileError::Dropped => false,
    }
}
