//! The vectors of a block as codes, and how new records are coded.

use std::sync::Arc;

use cosift_kernels::{Candidate, Codes, FullCodes, LowNibbles, Query, Wanted, refine, refine_low};

use crate::columns::BLOCK_RECORDS;
use crate::disk::FileError;
use crate::record::q30_to_f32;
use crate::runtime::give_way;
use crate::snapshot::basis::Basis;
use crate::snapshot::body::Body;
use crate::snapshot::exact_vectors::{ExactVectors, VectorBuffer};
use crate::snapshot::file_names::FileId;
use crate::snapshot::low_memory::LowMemory;

/// The vectors of a block as codes, and the basis of the codes.
pub(crate) struct Coded {
    pub(crate) file_id: FileId,
    pub(crate) basis: Arc<Basis>,
    /// The vectors of the records.
    pub(crate) codes: Codes,
    /// The vectors of the later rows, [`BLOCK_RECORDS`] in each but the last.
    pub(crate) later: Vec<Codes>,
    pub(super) low: Arc<LowMemory>,
}

/// Codes of the vectors of a block while they are made: first those of the records, then those of the later rows.
pub(super) struct CodedBuilder<'a> {
    basis: &'a Arc<Basis>,
    records: usize,
    codes: FullCodes,
    later: Vec<FullCodes>,
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
            codes: FullCodes::new(basis.layout(), records),
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

    /// Adds codes of the same basis, with their low nibbles.
    pub(super) fn append(&mut self, (codes, low): (&Codes, &LowNibbles)) {
        self.encode_waiting();
        for row in 0..codes.records() {
            give_way();
            self.next().push((codes, low), row);
        }
    }

    /// The codes to which the next vector is added.
    fn next(&mut self) -> &mut FullCodes {
        if self.codes.codes.records() < self.records {
            return &mut self.codes;
        }
        let is_full = |full: &FullCodes| full.codes.records() == BLOCK_RECORDS;
        if self.later.last().is_none_or(is_full) {
            self.later.push(FullCodes::new(self.basis.layout(), 0));
        }
        let last = self.later.len() - 1;
        &mut self.later[last]
    }

    pub(super) fn finish(mut self) -> Coded {
        self.encode_waiting();
        let later = self.later.into_iter().map(|full| (full.codes, full.low));
        let (later, later_low): (_, Vec<_>) = later.unzip();
        let low = std::iter::once(self.codes.low).chain(later_low).collect();
        Coded {
            file_id: FileId::next(),
            basis: Arc::clone(self.basis),
            codes: self.codes.codes,
            later,
            low: Arc::new(LowMemory::new(low)),
        }
    }
}

impl Coded {
    /// The codes of the records, then those of the later rows.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Codes> {
        std::iter::once(&self.codes).chain(&self.later)
    }

    /// Passes 2 and 3 over one of [`Coded::parts`]: narrows the bounds of candidates, and drops those that are not wanted. The
    /// bounds are wider where low nibbles are not in memory.
    pub(crate) fn refine(
        &self,
        part: usize,
        query: &Query,
        wanted: &mut Wanted<'_>,
        candidates: &mut Vec<Candidate>,
    ) {
        let codes = part
            .checked_sub(1)
            .map_or(&self.codes, |later| &self.later[later]);
        refine(codes, query, wanted, candidates);
        if candidates.is_empty() {
            return;
        }
        self.low.pass_to(candidates.len(), |low| {
            refine_low(codes, &low[part], query, wanted, candidates);
        });
    }

    /// The low nibbles of each of [`Coded::parts`].
    ///
    /// # Errors
    /// As [`LowMemory::get`].
    pub(crate) fn low(&self) -> Result<Arc<[LowNibbles]>, FileError> {
        self.low.get()
    }

    /// Whether the codes have low nibbles that wait for a file.
    pub(crate) fn waits_for_file(&self) -> bool {
        self.codes.layout().row_bytes() > 0 && !self.low.has_file()
    }

    /// Bytes in memory.
    pub(super) fn memory_bytes(&self) -> usize {
        self.parts().map(Codes::memory_bytes).sum::<usize>() + self.low.memory_bytes()
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
