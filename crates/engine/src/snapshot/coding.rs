//! The coding of new records.

use std::sync::Arc;

use crate::snapshot::basis::Basis;

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
