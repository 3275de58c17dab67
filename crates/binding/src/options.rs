//! What an engine is opened with.

use cosift_engine::Limits;
use cosift_engine::filter::FilterLimits;
use napi_derive::napi;

/// How an engine works.
#[napi(object)]
pub struct EngineOptions {
    /// Threads that scan; none given: one per core.
    pub threads: Option<u32>,
    /// What requests may hold at most.
    pub limits: EngineLimits,
}

/// What requests may hold at most.
#[napi(object)]
pub struct EngineLimits {
    /// Groups within groups of a filter, the outermost counted.
    pub filter_depth: u32,
    /// Rules of a filter.
    pub filter_rules: u32,
    /// Bytes of one string in a filter.
    pub filter_value_bytes: u32,
    /// Records of a batch.
    pub batch_records: u32,
    /// Bytes of the records on one page.
    pub page_bytes: u32,
    /// Distinct column names of a database.
    pub database_columns: u32,
}

impl From<EngineLimits> for Limits {
    fn from(limits: EngineLimits) -> Self {
        Self {
            filter: FilterLimits {
                depth: limits.filter_depth as usize,
                rules: limits.filter_rules as usize,
                value_bytes: limits.filter_value_bytes as usize,
            },
            batch_records: limits.batch_records as usize,
            page_bytes: limits.page_bytes as usize,
            database_columns: limits.database_columns as usize,
        }
    }
}
