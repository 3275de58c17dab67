//! Exports: all records of one snapshot, or those that pass a filter, as NDJSON in the order of their ids.

mod in_order;
mod lines;
mod reader;

pub(crate) use lines::LineWriter;
pub(crate) use reader::ExportReader;
