//! A batch of a re-embedding.

use crate::store::{CommitRange, CopiedRecord};
use crate::write::VectorSource;

/// The records of some commits, before their texts are embedded.
#[derive(Debug)]
pub struct ReembeddingBatch {
    pub(super) texts: Vec<String>,
    /// The last commit of the re-embedding store when the batch was read.
    pub(super) since: u64,
    pub(super) commits: CommitRange,
    /// Each record with the source of its vector. For an unchanged record, the store has the vector.
    pub(super) records: Vec<(CopiedRecord, VectorSource)>,
}

impl ReembeddingBatch {
    /// The texts to embed. A commit expects their vectors in this order.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Whether the database had no later commits when the batch was read.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.commits.last
    }
}
