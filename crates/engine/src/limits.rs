//! Limits of requests, of the change feed, and of memory.

use std::time::Duration;

/// Limits of requests, of the change feed, and of memory, set when the engine is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Limits of a filter.
    pub filter: FilterLimits,
    /// Maximal number of records of a batch.
    pub batch_records: usize,
    /// Maximal bytes of one record of a batch, as JSON.
    pub record_bytes: usize,
    /// Maximal bytes of the records of a page. A page always has at least one record.
    pub page_bytes: usize,
    /// Maximal number of distinct column names of a database. A database that has more already keeps them.
    pub database_columns: usize,
    /// How long the change feed keeps a change.
    pub keep_changes: Duration,
    /// Maximal bytes of exact vectors, and of low nibbles of codes, that searches keep in memory, of all databases.
    pub vector_bytes: usize,
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
            vector_bytes: 1 << 30,
        }
    }
}

/// Limits of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterLimits {
    /// Maximal depth of nested groups; the outermost group has depth 1.
    pub depth: usize,
    /// Maximal number of rules.
    pub rules: usize,
    /// Maximal bytes of a string value.
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
