//! What an engine is opened with.

use std::time::Duration;

use cosift_engine::{Error, FilterLimits, Limits, ValidationCode, ValidationError};
use napi_derive::napi;

/// How an engine works.
#[napi(object)]
pub struct EngineOptions {
    /// Threads that scan; none given: one per core.
    pub threads: Option<f64>,
    /// Megabytes of exact vectors, and of low nibbles of codes, that searches keep in memory.
    pub vector_megabytes: f64,
    /// Whether nothing is written, because another process may have the directory open; none given: no.
    pub read_only: Option<bool>,
    /// What requests may hold at most.
    pub limits: EngineLimits,
}

/// What requests may hold at most.
#[napi(object)]
pub struct EngineLimits {
    /// Groups within groups of a filter, the outermost counted.
    pub filter_depth: f64,
    /// Rules of a filter.
    pub filter_rules: f64,
    /// Bytes of one string in a filter.
    pub filter_value_bytes: f64,
    /// Records of a batch.
    pub batch_records: f64,
    /// Bytes of one record of a batch.
    pub record_bytes: f64,
    /// Bytes of the records on one page.
    pub page_bytes: f64,
    /// Distinct column names of a database.
    pub database_columns: f64,
    /// Days that the change feed keeps a change.
    pub change_retention_days: f64,
}

impl TryFrom<EngineLimits> for Limits {
    type Error = Error;

    fn try_from(limits: EngineLimits) -> Result<Self, Error> {
        Ok(Self {
            filter: FilterLimits {
                depth: integer("filterDepth", limits.filter_depth)?,
                rules: integer("filterRules", limits.filter_rules)?,
                value_bytes: integer("filterValueBytes", limits.filter_value_bytes)?,
            },
            batch_records: integer("batchRecords", limits.batch_records)?,
            record_bytes: integer("recordBytes", limits.record_bytes)?,
            page_bytes: integer("pageBytes", limits.page_bytes)?,
            database_columns: integer("databaseColumns", limits.database_columns)?,
            keep_changes: Duration::from_secs(24 * 3600)
                * integer("changeRetentionDays", limits.change_retention_days)? as u32,
            ..Self::default()
        })
    }
}

/// Converts a number of JavaScript to an integer. The conversion of napi makes 4294967293 of -3, and 1 of 1.5.
///
/// # Errors
/// `invalid_request` unless it is a whole number from 0 to 2^32 - 1.
pub(crate) fn integer(name: &str, number: f64) -> Result<usize, Error> {
    if number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number) {
        return Ok(number as usize);
    }
    let detail = format!("is {number}, must be a whole number from 0 to {}", u32::MAX);
    let (pointer, code) = (format!("/{name}"), ValidationCode::NumberOutOfRange);
    let problems = vec![ValidationError {
        pointer,
        code,
        detail,
        changed_at: None,
    }];
    let code = "invalid_request";
    Err(Error::Invalid { code, problems })
}
