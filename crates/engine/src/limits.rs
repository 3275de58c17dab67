//! What the engine takes at most from a request.

use crate::filter::FilterLimits;

/// Limits of requests; whoever opens the engine may set them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How large a filter may be.
    pub filter: FilterLimits,
    /// Records of a batch.
    pub batch_records: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { filter: FilterLimits::default(), batch_records: 1_000 }
    }
}
