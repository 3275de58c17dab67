//! What an engine is opened with.

use std::time::Duration;

use cosift_engine::FilterLimits;
use cosift_engine::{Error, Limits};
use cosift_engine::{ValidationCode, ValidationError};
use napi_derive::napi;

/// How an engine works.
#[napi(object)]
pub struct EngineOptions {
    /// Threads that scan; none given: one per core.
    pub threads: Option<f64>,
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
                depth: whole("filterDepth", limits.filter_depth)?,
                rules: whole("filterRules", limits.filter_rules)?,
                value_bytes: whole("filterValueBytes", limits.filter_value_bytes)?,
            },
            batch_records: whole("batchRecords", limits.batch_records)?,
            record_bytes: whole("recordBytes", limits.record_bytes)?,
            page_bytes: whole("pageBytes", limits.page_bytes)?,
            database_columns: whole("databaseColumns", limits.database_columns)?,
            keep_changes: days(whole("changeRetentionDays", limits.change_retention_days)?),
        })
    }
}

fn days(days: usize) -> Duration {
    Duration::from_secs(days as u64 * 24 * 3600)
}

/// A number of JavaScript as a whole one. napi's own conversion makes 4294967293 of -3, and 1 of 1.5.
///
/// # Errors
/// `invalid_request` unless it is a whole number from 0 to 2^32 - 1.
pub(crate) fn whole(name: &str, number: f64) -> Result<usize, Error> {
    if number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number) {
        return Ok(number as usize);
    }
    let detail = format!("is {number}, must be a whole number from 0 to {}", u32::MAX);
    Err(Error::Invalid {
        code: "invalid_request",
        problems: vec![ValidationError {
            pointer: format!("/{name}"),
            code: ValidationCode::NumberOutOfRange,
            detail,
        }],
    })
}
