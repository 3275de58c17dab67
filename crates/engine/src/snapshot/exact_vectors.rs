//! The exact vectors of a block, in memory or in a file.

use std::sync::Arc;

use crate::disk::FileError;
use crate::runtime::give_way;
use crate::snapshot::body::Body;
use crate::snapshot::vector_memory::{KeptVectors, VectorMemory};
use crate::store::{CRC_BYTES, Reader, VectorFile as StoredVectors};

/// The exact vectors of a block, Q30 components of unit vectors: that of each record, by slot, then those of the later
/// rows; see [`PassageTable`](crate::snapshot::passage_table::PassageTable).
///
/// A block that is still growing has its vectors in memory, a full block in its vector file, and so has a growing one that
/// was loaded. Few of these files are open at a time. A vector is read by a call of the system; those that searches have
/// read stay in memory as long as the budget of [`VectorMemory`] allows it.
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

/// The rows of a vector file.
#[derive(Clone, Debug)]
pub(crate) struct VectorFile {
    file: Arc<StoredVectors>,
    dimensions: usize,
    rows: usize,
    /// The reader of the store that the file belongs to.
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

impl VectorsInMemory {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            vectors: Vec::new(),
        }
    }

    /// Room for `rows` rows, which are all 0.
    pub(super) fn zeros(dimensions: usize, rows: usize) -> Self {
        Self {
            dimensions,
            vectors: vec![0; rows * dimensions],
        }
    }

    /// Sets the vector of a row.
    pub(super) fn set(&mut self, row: usize, vector: &[i32]) {
        self.vectors[row * self.dimensions..][..self.dimensions].copy_from_slice(vector);
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

    /// The rows as a file holds them; those of `erased` are zeros.
    pub(crate) fn to_bytes(&self, erased: impl Iterator<Item = usize>) -> Vec<u8> {
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
        let mut zeros = vec![0; self.dimensions * 4];
        let crc = crc32fast::hash(&zeros);
        zeros.extend_from_slice(&crc.to_le_bytes());
        for row in erased {
            out[row * zeros.len()..][..zeros.len()].copy_from_slice(&zeros);
        }
        out
    }
}

impl VectorFile {
    /// The rows of `file`, which has one for each vector of `body`.
    pub(super) fn new(
        file: Arc<StoredVectors>,
        dimensions: usize,
        body: &Body,
        store: Reader,
        memory: &Arc<VectorMemory>,
    ) -> Self {
        Self {
            file,
            dimensions,
            rows: body.rows(),
            store,
            kept: KeptVectors::new(memory),
        }
    }

    /// Reads the vector of a row from the file into `buffer`.
    fn read_vector(&self, row: usize, buffer: &mut VectorBuffer) -> Result<(), FileError> {
        let read = self.file.row(row, &mut buffer.bytes);
        let bytes = read.map_err(|error| self.lost(error))?;
        buffer.vector.clear();
        buffer.vector.extend(components(bytes));
        Ok(())
    }

    /// Keeps a vector that was read, and with it all others if they are few.
    fn keep(&self, row: usize, vector: &[i32]) {
        let bytes = self.rows * self.dimensions * 4;
        if bytes <= FEW_VECTOR_BYTES && self.kept.make_room(bytes) {
            // Where the file is damaged, vectors are kept one by one.
            if let Ok(all) = self.read_all() {
                return self.kept.keep(all.rows().enumerate());
            }
        }
        if self.kept.make_room(size_of_val(vector)) {
            self.kept.keep(std::iter::once((row, vector)));
        }
    }

    fn read_all(&self) -> Result<VectorsInMemory, FileError> {
        let mut buffer = Vec::new();
        let mut read = VectorsInMemory::new(self.dimensions);
        read.vectors.reserve_exact(self.rows * self.dimensions);
        for row in self.file.rows(self.rows, &mut buffer)? {
            read.vectors.extend(components(row?));
        }
        Ok(read)
    }

    fn lost(&self, error: FileError) -> FileError {
        if self.store.has_ended() {
            FileError::Dropped
        } else {
            error
        }
    }
}

impl ExactVectors {
    /// The exact vector of a row.
    ///
    /// # Errors
    /// When its file cannot be read or is damaged.
    pub(crate) fn vector<'a>(
        &'a self,
        row: usize,
        buffer: &'a mut VectorBuffer,
    ) -> Result<&'a [i32], FileError> {
        match self {
            Self::Memory(rows) => Ok(rows.row(row)),
            Self::File(rows) => {
                rows.read_vector(row, buffer)?;
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
        file.read_vector(row, buffer)?;
        file.keep(row, &buffer.vector);
        Ok(read(&buffer.vector))
    }

    /// Keeps the file of the vectors open, because its directory will be replaced.
    pub(crate) fn keep_open(&self) {
        if let Self::File(rows) = self {
            rows.file.keep_open();
        }
    }

    /// Whether no file has the vectors.
    pub(crate) fn is_without_file(&self) -> bool {
        matches!(self, Self::Memory(_))
    }

    /// Whether no vector is read from a file.
    pub(crate) fn is_in_memory(&self) -> bool {
        match self {
            Self::Memory(_) => true,
            Self::File(rows) => rows.kept.len() == rows.rows,
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
