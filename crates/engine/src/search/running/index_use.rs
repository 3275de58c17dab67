//! Whether a search used the approximate index.

use serde_json::{Value, json};

use crate::approximate::Coverage;

/// How a search with `approximate` used the index.
pub(crate) enum IndexUse {
    /// The candidates of the index were ranked. Blocks that it does not cover are still to be scanned.
    Used {
        coverage: Coverage,
        candidates: usize,
    },
    /// The search scans every block.
    NotUsed { reason: &'static str },
}

impl IndexUse {
    /// Whether the records of a block, by its place in the snapshot, were ranked.
    pub(crate) fn covers(&self, at: usize) -> bool {
        match self {
            Self::Used { coverage, .. } => coverage.covers(at),
            Self::NotUsed { .. } => false,
        }
    }

    /// The member `approximate` of `explain`.
    pub(crate) fn explain(&self) -> Value {
        match self {
            Self::Used {
                coverage,
                candidates,
            } => json!({ "indexed": coverage.living, "candidates": candidates }),
            Self::NotUsed { reason } => json!({ "not_used": reason }),
        }
    }
}
