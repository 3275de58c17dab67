//! Records as callers send them, parsed from JSON.

mod data;
mod fields;
#[cfg(test)]
mod golden;
mod record;

pub(crate) use record::parse_data;
pub(super) use record::{GivenPassage, NewPatch, NewRecord, parse_batch, parse_line, parse_patch};
