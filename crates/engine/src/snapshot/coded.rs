//! The vectors of a block as codes.

use std::sync::Arc;

use cosift_kernels::Codes;

use crate::disk::FileError;
use crate::record::q30_to_f32;
use crate::snapshot::basis::Basis;
use crate::snapshot::exact_vectors::{ExactVectors, VectorBuffer};
use crate::snapshot::file_id::FileId;

/// The vectors of a block as codes, and the basis of the codes.
pub(crate) struct Coded {
    pub(crate) file_id: FileId,
    pub(crate) basis: Arc<Basis>,
    pub(crate) codes: Codes,
}

/// Codes the exact vectors of a block in `basis`; `None` as soon as `stop`, which is called before each vector, returns true.
pub(crate) fn recode(
    exact: &ExactVectors,
    records: usize,
    basis: &Arc<Basis>,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Coded>, FileError> {
    let mut codes = Codes::new(basis.layout(), records);
    let mut buffer = VectorBuffer::default();
    let mut vector = Vec::new();
    for slot in 0..records {
        if stop() {
            return Ok(None);
        }
        q30_to_f32(exact.vector(slot, &mut buffer)?, &mut vector);
        basis.encode(&vector, &mut codes);
    }
    Ok(Some(Coded {
        file_id: FileId::next(),
        basis: Arc::clone(basis),
        codes,
    }))
}
