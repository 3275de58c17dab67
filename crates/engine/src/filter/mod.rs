//! Filters: parsed from JSON, bound to columns, evaluated on the records of a block.

mod ast;
mod bind;
mod bound;
mod evaluate;
mod explanation;
mod multi_pattern;
mod parse;
mod predicate;
mod request;
mod split;
mod suggestion;
#[cfg(test)]
mod tests;

pub(crate) use ast::Filter;
pub(crate) use bound::BoundFilter;
pub(crate) use explanation::ExplainedFilter;
pub(crate) use parse::TIME_FORM;
pub(crate) use request::{FilterKey, RequestReader};
