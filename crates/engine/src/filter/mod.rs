//! Filters: parsed from JSON, bound to columns, run over blocks.

mod ast;
mod bound;
#[cfg(test)]
mod golden;
mod needles;
mod parse;
#[cfg(test)]
mod property;
mod request;
mod suggest;
mod test;
mod trace;

pub(crate) use ast::Filter;
pub(crate) use bound::BoundFilter;
pub(crate) use request::{FilterKey, RequestReader};
