//! What the engine takes at most from a request.

use std::time::Duration;

/// Limits of requests, and how long changes are kept; whoever opens the engine may set them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How large a filter may be.
    pub filter: FilterLimits,
    /// Records of a batch.
    pub batch_records: usize,
    /// Bytes of one record of a batch as JSON.
    pub record_bytes: usize,
    /// Bytes of the records on one page. A page always holds at least one record.
    pub page_bytes: usize,
    /// Distinct column names of a database. A database that has more keeps them.
    pub database_columns: usize,
    /// How long the change feed keeps a change.
    pub keep_changes: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            filter: FilterLimits::default(),
            batch_records: 1_000,
            record_bytes: 1 << 20,
            page_bytes: 4 << 20,
            database_columns: 10_000,
            keep_changes: Duration::from_secs(30 * 24 * 3600),
        }
    }
}

/// How large a filter may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterLimits {
    /// Nested groups, the outermost counted.
    pub depth: usize,
    /// Comparisons in all.
    pub rules: usize,
    /// Bytes of a string value.
    pub value_bytes: usize,
}

impl Default for FilterLimits {
    fn default() -> Self {
        Self {
            depth: 32,
            rules: 1000,
            value_bytes: 10_000,
        }
    }
}
