//! The memory of blocks.

/// Memory of a block by kind, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockMemory {
    pub(crate) codes: usize,
    pub(crate) columns: usize,
    pub(crate) identities: usize,
    /// Exact vectors that are in memory; see [`ExactVectors`](crate::snapshot::ExactVectors).
    pub(crate) exact: usize,
    /// The index of the words.
    pub(crate) lexical: usize,
}

impl BlockMemory {
    pub(crate) fn sum(&self) -> usize {
        self.codes + self.columns + self.identities + self.exact + self.lexical
    }
}
