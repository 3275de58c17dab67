//! The files that have the vectors of blocks that are full, or were in memory when the database was closed: written once,
//! named by the table `vector_files`, in `vectors/` beside the main file.
//!
//! A file is synced before a transaction names it, and removed after a transaction has dropped its name and the log was moved
//! into the main file. So a file that no transaction names is left over from a process that ended, and is removed.
//!
//! A file is a parts file with two parts. Numbers are little-endian, four bytes each.
//!
//! | part | what |
//! |---|---|
//! | 0 | the number in its name, lower half first; dimensions; number of records; of a block with later passages, the first later row of each record, and the end of the last |
//! | 1 | the vectors of the records, then those of later passages; each as its components and their CRC-32 |

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;

use crate::disk::{
    Disk, FileError, Owner, SharedPartsFile, TEMPORARY, create_directories, write_parts_file,
};

/// The extension of the files.
const VECTORS: &str = "vectors";

const LAYOUT: usize = 0;
const ROWS: usize = 1;

/// Bytes of the checksum behind a vector.
pub(crate) const CRC_BYTES: usize = 4;

/// The vector files of a store.
#[derive(Debug)]
pub(crate) struct VectorFiles {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    owner: OnceLock<Owner>,
    /// Those that a block or a read of the store has.
    files: Mutex<HashMap<u64, Weak<VectorFile>>>,
    /// Held while a commit is read, whose files must stay.
    pin: Arc<()>,
}

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

/// The vector files while a commit is read. None is removed meanwhile.
#[derive(Debug)]
pub(super) struct PinnedFiles {
    files: Arc<VectorFiles>,
    _pin: Arc<()>,
}

impl Deref for PinnedFiles {
    type Target = VectorFiles;

    fn deref(&self) -> &VectorFiles {
        &self.files
    }
}

impl VectorFiles {
    /// The files of the store whose main file is `path`.
    pub(super) fn beside(disk: &Arc<dyn Disk>, path: &Path) -> Arc<Self> {
        Arc::new(Self {
            disk: Arc::clone(disk),
            directory: path.with_file_name("vectors"),
            owner: OnceLock::new(),
            files: Mutex::default(),
            pin: Arc::default(),
        })
    }

    /// Sets the store that the files belong to, unless it is set. Call this before a file is read or written.
    pub(super) fn belong_to(&self, owner: impl FnOnce() -> Option<Owner>) {
        if self.owner.get().is_none()
            && let Some(owner) = owner()
        {
            let _ = self.owner.set(owner);
        }
    }

    /// The files, which all stay until this is dropped. Call it before the transaction that names them.
    pub(super) fn pinned(self: &Arc<Self>) -> PinnedFiles {
        PinnedFiles {
            files: Arc::clone(self),
            _pin: Arc::clone(&self.pin),
        }
    }

    /// The file with a number that is never used twice.
    pub(crate) fn file(&self, id: u64) -> Arc<VectorFile> {
        let mut files = self.files.lock();
        if let Some(file) = files.get(&id).and_then(Weak::upgrade) {
            return file;
        }
        let owner = self.owner.get().copied().unwrap_or_default();
        let file = Arc::new(VectorFile {
            id,
            file: SharedPartsFile::at(&self.disk, self.path(id), owner),
            layout: OnceLock::new(),
        });
        files.insert(id, Arc::downgrade(&file));
        file
    }

    /// Writes a file and syncs it. `rows` are vectors with their checksums, first those of the records; `later` has the
    /// first later row of each record and the end of the last, and is empty where each record has one vector.
    ///
    /// # Errors
    /// [`FileError::Io`].
    pub(crate) fn write(
        &self,
        id: u64,
        (dimensions, records): (usize, usize),
        later: &[u32],
        rows: &[u8],
    ) -> Result<Arc<VectorFile>, FileError> {
        create_directories(&*self.disk, &self.directory)
            .map_err(|source| FileError::io(&self.directory, source))?;
        let numbers = [
            id as u32,
            (id >> 32) as u32,
            dimensions as u32,
            records as u32,
        ];
        let layout: Vec<u8> = (numbers.iter().chain(later))
            .flat_map(|number| number.to_le_bytes())
            .collect();
        let owner = self.owner.get().copied().unwrap_or_default();
        write_parts_file(&*self.disk, &self.path(id), &owner, &[&layout, rows])?;
        Ok(self.file(id))
    }

    /// Whether a commit is read, whose files must stay.
    pub(super) fn is_pinned(&self) -> bool {
        Arc::strong_count(&self.pin) > 1
    }

    /// Removes the files that are not `needed`, unless a commit is read that may name one of them. Returns whether it did.
    pub(super) fn remove_all_but(&self, needed: &HashSet<u64>) -> bool {
        if self.is_pinned() {
            return false;
        }
        for path in self.paths() {
            let id = path
                .file_stem()
                .and_then(|stem| stem.to_str()?.parse().ok());
            let kind = path.extension().and_then(|kind| kind.to_str());
            match (id, kind) {
                (Some(id), Some(VECTORS)) if !needed.contains(&id) => self.remove([id]),
                (_, Some(TEMPORARY)) => {
                    // The next start tries again to remove a file that cannot be removed now.
                    let _ = self.disk.remove_file(&path);
                }
                _ => {}
            }
        }
        true
    }

    /// Removes files. Searches that have one go on reading it.
    pub(crate) fn remove(&self, ids: impl IntoIterator<Item = u64>) {
        for id in ids {
            let file = self.files.lock().remove(&id);
            if let Some(file) = file.and_then(|file| file.upgrade()) {
                file.keep_open();
            }
            // The next start tries again to remove a file that cannot be removed now.
            let _ = self.disk.remove_file(&self.path(id));
        }
    }

    /// Bytes of all files.
    pub(crate) fn disk_bytes(&self) -> u64 {
        let paths = self.paths();
        let bytes = paths.iter().filter_map(|path| self.disk.length(path).ok());
        bytes.sum()
    }

    /// The paths in the directory; none when it cannot be read or does not exist.
    fn paths(&self) -> Vec<PathBuf> {
        self.disk.list(&self.directory).unwrap_or_default()
    }

    fn path(&self, id: u64) -> PathBuf {
        self.directory.join(format!("{id}.{VECTORS}"))
    }
}

impl VectorFile {
    /// Reads the vector of a row into `buffer`, and returns its bytes.
    ///
    /// # Errors
    /// [`FileError::Damaged`], also when the vector does not match its checksum; [`FileError::Io`].
    pub(crate) fn row<'a>(
        &self,
        row: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FileError> {
        let size = self.layout()?.row_bytes();
        buffer.resize(size, 0);
        self.file
            .get()?
            .read_at(ROWS, (row * size) as u64, buffer)?;
        self.checked(buffer)
    }

    /// Reads the vectors of the first `rows` rows into `buffer`, each with its checksum, and returns them.
    ///
    /// # Errors
    /// As [`VectorFile::row`].
    pub(crate) fn rows<'a>(
        &self,
        rows: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<impl Iterator<Item = Result<&'a [u8], FileError>>, FileError> {
        let size = self.layout()?.row_bytes();
        buffer.resize(rows * size, 0);
        self.file.get()?.read_at(ROWS, 0, buffer)?;
        Ok(buffer.chunks_exact(size).map(|row| self.checked(row)))
    }

    /// Appends the vectors of a record to `into`, without their checksums.
    ///
    /// # Errors
    /// As [`VectorFile::row`].
    pub(super) fn append_record(&self, slot: usize, into: &mut Vec<u8>) -> Result<(), FileError> {
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
            self.checked(&into[start..])?;
            into.truncate(start + size - CRC_BYTES);
        }
        Ok(())
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

    /// Keeps the file open, because its path is or will be that of another file or of none.
    pub(crate) fn keep_open(&self) {
        self.file.keep_open();
    }

    /// The error of a file whose content does not match.
    pub(crate) fn damaged(&self, what: &'static str) -> FileError {
        self.file.damaged(what)
    }

    fn checked<'a>(&self, row: &'a [u8]) -> Result<&'a [u8], FileError> {
        let (vector, crc) = row.split_at(row.len() - CRC_BYTES);
        if crc32fast::hash(vector).to_le_bytes() != crc {
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
        self.dimensions * 4 + CRC_BYTES
    }

    /// The rows of the later passages of a record.
    fn later_of(&self, slot: usize) -> Range<usize> {
        match self.later.get(slot..slot + 2) {
            Some(&[start, end]) => self.records + start as usize..self.records + end as usize,
            _ => 0..0,
        }
    }
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
