//! The exact vectors of a block, in memory or in a file.

use std::sync::Arc;

use crate::columns::Mask;
use crate::disk::FileError;
use crate::runtime::give_way;
use crate::snapshot::body::Body;
use crate::snapshot::vector_memory::{KeptVectors, VectorMemory};
use crate::store::{CRC_BYTES, Reader, VectorFile as StoredVectors, crc_of};

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
    /// The records of the rows.
    body: Arc<Body>,
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

    /// The rows of the records of `body` as a file holds them; those of records that are not `alive` are zeros.
    pub(super) fn to_bytes(&self, body: &Body, alive: &Mask) -> Vec<u8> {
        let size = self.dimensions * 4 + CRC_BYTES;
        let mut out = Vec::with_capacity(body.rows() * size);
        for (row, vector) in self.rows().enumerate() {
            give_way();
            let start = out.len();
            if alive.get(body.passage_of(row).0) {
                let components = vector.iter();
                components.for_each(|component| out.extend_from_slice(&component.to_le_bytes()));
            } else {
                out.resize(start + self.dimensions * 4, 0);
            }
            let crc = crc_of(body.id_of(row), &out[start..]);
            out.extend_from_slice(&crc.to_le_bytes());
        }
        out
    }
}

impl VectorFile {
    /// The rows of `file`, which has one for each vector of `body`.
    pub(super) fn new(
        file: Arc<StoredVectors>,
        dimensions: usize,
        body: Arc<Body>,
        store: Reader,
        memory: &Arc<VectorMemory>,
    ) -> Self {
        Self {
            file,
            dimensions,
            body,
            store,
            kept: KeptVectors::new(memory),
        }
    }

    /// Reads the vector of a row from the file into `buffer`.
    fn read_vector(&self, row: usize, buffer: &mut VectorBuffer) -> Result<(), FileError> {
        let id = self.body.id_of(row);
        let read = self.file.row((id, row), &mut buffer.bytes);
        let bytes = read.map_err(|error| self.lost(error))?;
        buffer.vector.clear();
        buffer.vector.extend(components(bytes));
        Ok(())
    }

    /// Keeps a vector that was read, and with it all others if they are few.
    fn keep(&self, row: usize, vector: &[i32]) {
        let bytes = self.body.rows() * self.dimensions * 4;
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
        read.vectors
            .reserve_exact(self.body.rows() * self.dimensions);
        let ids = (0..self.body.rows()).map(|row| self.body.id_of(row));
        for row in self.file.rows(ids, &mut buffer)? {
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

    /// Whether no file has the vectors.
    pub(crate) fn is_without_file(&self) -> bool {
        matches!(self, Self::Memory(_))
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
