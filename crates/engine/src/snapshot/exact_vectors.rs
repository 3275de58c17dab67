//! The exact vectors of a block, in memory or in a file.

use std::io;
use std::sync::{Arc, OnceLock};

use cosift_kernels::BLOCK_RECORDS;

use crate::disk::{FileError, SharedPartsFile};
use crate::runtime::give_way;
use crate::snapshot::body::Body;
use crate::store::Reader;

/// The exact vectors of a block, Q30 components of unit vectors: that of each record, by slot, then those of the later
/// rows; see [`PassageTable`](crate::snapshot::passage_table::PassageTable).
///
/// A block that is still growing has its vectors in memory. A full block reads them from its file, one row a call, through
/// the system's page cache, so they take no memory of the process. Few of these files are open at a time.
///
/// After a restart, all blocks have their vectors in files. A block that is not full and whose vectors take at most
/// [`FEW_VECTOR_BYTES`] keeps them in memory once one of them was read.
#[derive(Clone, Debug)]
pub(crate) enum ExactVectors {
    Memory(VectorsInMemory),
    File(VectorFile),
}

/// Bytes of exact vectors that a thread scans in about 20 microseconds, and in 100 if no code excludes a record: 512
/// vectors of 384 dimensions. To read one of them from a file takes a large part of that time.
pub(crate) const FEW_VECTOR_BYTES: usize = 512 * 384 * 4;

#[derive(Clone, Debug, Default)]
pub(crate) struct VectorsInMemory {
    dimensions: usize,
    vectors: Vec<i32>,
}

/// The rows in a part of a file: the components of a row as little-endian i32, then their CRC-32.
#[derive(Clone, Debug)]
pub(crate) struct VectorFile {
    file: Arc<SharedPartsFile>,
    part: usize,
    dimensions: usize,
    body: Arc<Body>,
    /// The store has the vectors too: they are read from it when the file is damaged.
    store: Reader,
    /// All rows, once they were read; `None` when the file is damaged.
    few: OnceLock<Option<VectorsInMemory>>,
}

/// Buffers for reading rows, kept by the caller from row to row.
#[derive(Debug, Default)]
pub(crate) struct VectorBuffer {
    bytes: Vec<u8>,
    vector: Vec<i32>,
}

const CRC_BYTES: usize = 4;

impl VectorsInMemory {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            vectors: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, vector: &[i32]) {
        debug_assert_eq!(vector.len(), self.dimensions);
        self.vectors.extend_from_slice(vector);
    }

    fn row(&self, row: usize) -> &[i32] {
        &self.vectors[row * self.dimensions..][..self.dimensions]
    }

    /// The rows in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[i32]> {
        self.vectors.chunks_exact(self.dimensions)
    }

    /// The rows as a file holds them.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(
            self.vectors.len() * 4 + self.vectors.len() / self.dimensions * CRC_BYTES,
        );
        for vector in self.vectors.chunks_exact(self.dimensions) {
            give_way();
            let start = out.len();
            vector
                .iter()
                .for_each(|component| out.extend_from_slice(&component.to_le_bytes()));
            let crc = crc32fast::hash(&out[start..]);
            out.extend_from_slice(&crc.to_le_bytes());
        }
        out
    }
}

impl VectorFile {
    /// The rows of a part, which must hold one for each vector of `body`; see [`VectorFile::fits`].
    pub(crate) fn new(
        file: Arc<SharedPartsFile>,
        part: usize,
        dimensions: usize,
        body: Arc<Body>,
        store: Reader,
    ) -> Self {
        Self {
            file,
            part,
            dimensions,
            body,
            store,
            few: OnceLock::new(),
        }
    }

    /// Whether a part of `bytes` bytes holds a row for each vector of `body`.
    pub(crate) fn fits(bytes: u64, dimensions: usize, body: &Body) -> bool {
        bytes == (body.rows() * row_bytes(dimensions)) as u64
    }

    fn read<'a>(&self, row: usize, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], FileError> {
        let size = row_bytes(self.dimensions);
        buffer.resize(size, 0);
        let file = self.file.get()?;
        file.read_at(self.part, (row * size) as u64, buffer)?;
        self.checked(buffer)
    }

    /// The vector of a row.
    fn checked<'a>(&self, row: &'a [u8]) -> Result<&'a [u8], FileError> {
        let (vector, crc) = row.split_at(row.len() - CRC_BYTES);
        if crc32fast::hash(vector).to_le_bytes() != crc {
            return Err(self.file.damaged("a vector does not match its checksum"));
        }
        Ok(vector)
    }

    /// All rows in memory, if their block is not full and they are few. Reads them the first time.
    fn few(&self) -> Option<&VectorsInMemory> {
        let rows = self.body.rows();
        if rows >= BLOCK_RECORDS || rows * self.dimensions * 4 > FEW_VECTOR_BYTES {
            return None;
        }
        if self.few.get().is_none() {
            let few = match self.read_all(rows) {
                Ok(few) => Some(few),
                Err(FileError::Damaged { .. }) => None,
                Err(FileError::Io { source, .. })
                    if source.kind() == io::ErrorKind::UnexpectedEof =>
                {
                    None
                }
                // The next read tries again: there may have been too many open files.
                Err(FileError::Io { .. } | FileError::Dropped) => return None,
            };
            // Another thread may have read the same rows.
            let _ = self.few.set(few);
        }
        self.few.get()?.as_ref()
    }

    fn read_all(&self, rows: usize) -> Result<VectorsInMemory, FileError> {
        let size = row_bytes(self.dimensions);
        let mut bytes = vec![0; rows * size];
        self.file.get()?.read_at(self.part, 0, &mut bytes)?;
        let mut read = VectorsInMemory::new(self.dimensions);
        read.vectors.reserve_exact(rows * self.dimensions);
        for row in bytes.chunks_exact(size) {
            read.vectors.extend(components(self.checked(row)?));
        }
        Ok(read)
    }

    /// The bytes of the rows that are in memory; `None` as long as they are read from the file.
    fn bytes_in_memory(&self) -> Option<usize> {
        let few = self.few.get()?.as_ref()?;
        Some(few.vectors.len() * 4)
    }

    /// The vector as the store has it; `None` when a commit after `version` wrote the record.
    fn read_from_store(&self, row: usize, version: u64) -> Option<Vec<i32>> {
        let (slot, passage) = self.body.passage_of(row);
        let id = self.body.ids.get(slot) as u64;
        let vectors = self.store.vectors(id, version).ok().flatten()?;
        let vector = vectors.get(passage)?;
        (vector.len() == self.dimensions).then(|| vector.to_vec())
    }

    /// The error of a vector that neither the file nor the store has.
    fn lost(&self, error: FileError) -> FileError {
        match error {
            _ if self.store.has_ended() => FileError::Dropped,
            FileError::Io { .. } | FileError::Dropped => error,
            FileError::Damaged { .. } => self.file.damaged(
                "a vector does not match its checksum, and the store has a later one or none: try again",
            ),
        }
    }
}

impl ExactVectors {
    /// The exact vector of a row. If the file is damaged, it is the vector that the store has now, which may be newer
    /// than the snapshot of the caller.
    pub(crate) fn vector<'a>(
        &'a self,
        row: usize,
        buffer: &'a mut VectorBuffer,
    ) -> Result<&'a [i32], FileError> {
        self.vector_as_of(row, u64::MAX, buffer)
    }

    /// The exact vector of a row of the snapshot of commit `version`.
    ///
    /// # Errors
    /// When the file is damaged, and the store does not have the vector or a commit after `version` wrote the record.
    pub(crate) fn vector_as_of<'a>(
        &'a self,
        row: usize,
        version: u64,
        buffer: &'a mut VectorBuffer,
    ) -> Result<&'a [i32], FileError> {
        match self {
            Self::Memory(rows) => Ok(rows.row(row)),
            Self::File(rows) => {
                if let Some(few) = rows.few() {
                    return Ok(few.row(row));
                }
                match rows.read(row, &mut buffer.bytes) {
                    Ok(bytes) => {
                        buffer.vector.clear();
                        buffer.vector.extend(components(bytes));
                    }
                    Err(error) => {
                        let stored = rows.read_from_store(row, version);
                        buffer.vector = stored.ok_or_else(|| rows.lost(error))?;
                    }
                }
                Ok(&buffer.vector)
            }
        }
    }

    /// Checks that the vector of a row is in memory, or in a file that is not damaged.
    ///
    /// # Errors
    /// Why the file cannot be used.
    pub(crate) fn verify(&self, row: usize, buffer: &mut VectorBuffer) -> Result<(), FileError> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::File(rows) => rows.read(row, &mut buffer.bytes).map(|_| ()),
        }
    }

    /// Keeps the file of the vectors open, because its directory will be replaced.
    pub(crate) fn keep_open(&self) {
        if let Self::File(rows) = self {
            rows.file.keep_open();
        }
    }

    /// Whether no vector is read from a file.
    pub(crate) fn is_in_memory(&self) -> bool {
        match self {
            Self::Memory(_) => true,
            Self::File(rows) => rows.bytes_in_memory().is_some(),
        }
    }

    /// Components of a vector.
    pub(crate) fn dimensions(&self) -> usize {
        match self {
            Self::Memory(rows) => rows.dimensions,
            Self::File(rows) => rows.dimensions,
        }
    }

    /// Bytes held in memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Memory(rows) => rows.vectors.len() * 4,
            Self::File(rows) => rows.bytes_in_memory().unwrap_or(0),
        }
    }
}

/// The components of a vector in a file.
fn components(vector: &[u8]) -> impl Iterator<Item = i32> {
    let (components, _) = vector.as_chunks::<4>();
    components.iter().map(|&bytes| i32::from_le_bytes(bytes))
}

/// Bytes of one row in a file.
fn row_bytes(dimensions: usize) -> usize {
    dimensions * 4 + CRC_BYTES
}
