//! The exact vectors of a block, in memory or in a file.

use std::sync::Arc;

use crate::disk::{FileError, SharedPartsFile};
use crate::runtime::give_way;
use crate::snapshot::body::Body;
use crate::snapshot::vector_memory::{KeptVectors, VectorMemory};
use crate::store::Reader;

/// The exact vectors of a block, Q30 components of unit vectors: that of each record, by slot, then those of the later
/// rows; see [`PassageTable`](crate::snapshot::passage_table::PassageTable).
///
/// A block that is still growing has its vectors in memory. A full block has them in its file, and after a restart, all
/// blocks do. Few of these files are open at a time. A vector is read by a call of the system; those that searches have read
/// stay in memory as long as the budget of [`VectorMemory`] allows it.
#[derive(Clone, Debug)]
pub(crate) enum ExactVectors {
    Memory(VectorsInMemory),
    File(VectorFile),
}

/// Bytes of exact vectors that a thread scans in about 40 microseconds, and in 200 if no code excludes a record: 1,024
/// vectors of 384 dimensions. To wake another thread, or to read one of them from a file, takes a large part of that time.
pub(crate) const FEW_VECTOR_BYTES: usize = 1_024 * 384 * 4;

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
    /// The rows that searches have read.
    kept: Arc<KeptVectors>,
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
        memory: &Arc<VectorMemory>,
    ) -> Self {
        Self {
            file,
            part,
            dimensions,
            body,
            store,
            kept: KeptVectors::new(memory),
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

    /// Reads the vector of a row from the file into `buffer`.
    fn read_vector(&self, row: usize, buffer: &mut VectorBuffer) -> Result<(), FileError> {
        let bytes = self.read(row, &mut buffer.bytes)?;
        buffer.vector.clear();
        buffer.vector.extend(components(bytes));
        Ok(())
    }

    /// The vector of a row.
    fn checked<'a>(&self, row: &'a [u8]) -> Result<&'a [u8], FileError> {
        let (vector, crc) = row.split_at(row.len() - CRC_BYTES);
        if crc32fast::hash(vector).to_le_bytes() != crc {
            return Err(self.file.damaged("a vector does not match its checksum"));
        }
        Ok(vector)
    }

    /// Keeps a vector that was read, and with it all others if they are few.
    fn keep(&self, row: usize, vector: &[i32]) {
        let rows = self.body.rows();
        let bytes = rows * self.dimensions * 4;
        if bytes <= FEW_VECTOR_BYTES && self.kept.make_room(bytes) {
            // Where the file is damaged, vectors are kept one by one.
            if let Ok(all) = self.read_all(rows) {
                return self.kept.keep(all.rows().enumerate());
            }
        }
        if self.kept.make_room(size_of_val(vector)) {
            self.kept.keep(std::iter::once((row, vector)));
        }
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
                if let Err(error) = rows.read_vector(row, buffer) {
                    let stored = rows.read_from_store(row, version);
                    buffer.vector = stored.ok_or_else(|| rows.lost(error))?;
                }
                Ok(&buffer.vector)
            }
        }
    }

    /// Passes the exact vector of a row to `read`, as [`ExactVectors::vector`] returns it, and keeps it in memory for later
    /// searches.
    pub(crate) fn read_for_search<T>(
        &self,
        row: usize,
        buffer: &mut VectorBuffer,
        read: impl FnOnce(&[i32]) -> T,
    ) -> Result<T, FileError> {
        let Self::File(file) = self else {
            return Ok(read(self.vector(row, buffer)?));
        };
        if let Some(kept) = file.kept.get(row) {
            return Ok(read(&kept));
        }
        if file.read_vector(row, buffer).is_err() {
            // The vector of the store may be newer than the row, so it is not kept.
            return Ok(read(self.vector(row, buffer)?));
        }
        file.keep(row, &buffer.vector);
        Ok(read(&buffer.vector))
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
            Self::File(rows) => rows.kept.len() == rows.body.rows(),
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
            Self::File(rows) => rows.kept.len() * rows.dimensions * 4,
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
