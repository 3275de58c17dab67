//! The vectors of a block as codes, and how new records are coded.

use std::sync::Arc;

use cosift_kernels::Codes;

use crate::columns::BLOCK_RECORDS;
use crate::disk::FileError;
use crate::record::q30_to_f32;
use crate::runtime::give_way;
use crate::snapshot::basis::Basis;
use crate::snapshot::body::Body;
use crate::snapshot::exact_vectors::{ExactVectors, VectorBuffer};
use crate::snapshot::file_names::FileId;

/// The vectors of a block as codes, and the basis of the codes.
pub(crate) struct Coded {
    pub(crate) file_id: FileId,
    pub(crate) basis: Arc<Basis>,
    /// The vectors of the records.
    pub(crate) codes: Codes,
    /// The vectors of the later rows, [`BLOCK_RECORDS`] in each but the last.
    pub(crate) later: Vec<Codes>,
}

/// Codes of the vectors of a block while they are made: first those of the records, then those of the later rows.
pub(super) struct CodedBuilder<'a> {
    basis: &'a Arc<Basis>,
    records: usize,
    codes: Codes,
    later: Vec<Codes>,
    /// The next vectors, which are encoded together.
    waiting: Vec<f32>,
    dimensions: usize,
    vector: Vec<f32>,
}

/// Components of vectors that are encoded together: 256 kB, which stay in the cache of a core with a part of the rotation.
/// With 384 dimensions, to rotate them takes less than a millisecond, in which no other thread gets the core.
const WAITING: usize = 1 << 16;

impl<'a> CodedBuilder<'a> {
    /// No codes yet, for `records` records.
    pub(super) fn new(basis: &'a Arc<Basis>, records: usize) -> Self {
        Self {
            basis,
            records,
            codes: Codes::new(basis.layout(), records),
            later: Vec::new(),
            waiting: Vec::new(),
            dimensions: 1,
            vector: Vec::new(),
        }
    }

    /// Adds a vector of Q30 components. All vectors have as many.
    pub(super) fn encode(&mut self, vector: &[i32]) {
        q30_to_f32(vector, &mut self.vector);
        self.dimensions = vector.len();
        self.waiting.extend_from_slice(&self.vector);
        if self.waiting.len() + vector.len() > WAITING {
            self.encode_waiting();
        }
    }

    fn encode_waiting(&mut self) {
        let (waiting, basis) = (std::mem::take(&mut self.waiting), self.basis);
        let rotated = basis.rotate(self.dimensions, &waiting);
        for vector in rotated.chunks_exact(basis.layout().dims()) {
            give_way();
            basis.encode(vector, self.next());
        }
    }

    /// Adds codes of the same basis.
    pub(super) fn append(&mut self, codes: &Codes) {
        self.encode_waiting();
        for row in 0..codes.records() {
            give_way();
            self.next().push(codes, row);
        }
    }

    /// The codes to which the next vector is added.
    fn next(&mut self) -> &mut Codes {
        if self.codes.records() < self.records {
            return &mut self.codes;
        }
        let is_full = |codes: &Codes| codes.records() == BLOCK_RECORDS;
        if self.later.last().is_none_or(is_full) {
            self.later.push(Codes::new(self.basis.layout(), 0));
        }
        let last = self.later.len() - 1;
        &mut self.later[last]
    }

    pub(super) fn finish(mut self) -> Coded {
        self.encode_waiting();
        Coded {
            file_id: FileId::next(),
            basis: Arc::clone(self.basis),
            codes: self.codes,
            later: self.later,
        }
    }
}

impl Coded {
    /// Bytes in memory.
    pub(super) fn memory_bytes(&self) -> usize {
        let codes = std::iter::once(&self.codes).chain(&self.later);
        codes.map(Codes::memory_bytes).sum()
    }
}

/// Codes the exact vectors of a block in `basis`; `None` as soon as `stop`, which is called before each vector, returns true.
pub(crate) fn recode(
    exact: &ExactVectors,
    body: &Body,
    basis: &Arc<Basis>,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Coded>, FileError> {
    let mut coded = CodedBuilder::new(basis, body.uuids.len());
    let mut buffer = VectorBuffer::default();
    for row in 0..body.rows() {
        if stop() {
            return Ok(None);
        }
        coded.encode(exact.vector(row, &mut buffer)?);
    }
    Ok(Some(coded.finish()))
}

/// The basis that new records are coded in.
#[derive(Clone)]
pub(crate) struct Coding {
    pub(crate) dimensions: usize,
    pub(crate) basis: Arc<Basis>,
    /// Number of records when a basis was last learned.
    pub(crate) trained_at: usize,
}

impl Coding {
    /// The coding of a database for which no basis was learned.
    pub(crate) fn untrained(dimensions: usize) -> Self {
        Self {
            dimensions,
            basis: Arc::new(Basis::untrained(dimensions)),
            trained_at: 0,
        }
    }
}
