//! Filters: parsed from JSON, bound to columns, run over blocks.

mod ast;
mod bound;
#[cfg(test)]
mod golden;
mod needles;
mod parse;
#[cfg(test)]
mod property;
mod suggest;
mod test;
mod trace;
mod watch;

pub use ast::{Condition, Filter, Group, Node, Operator, Rule};
pub use bound::BoundFilter;
pub use parse::FilterLimits;
pub use trace::Trace;
pub(crate) use watch::CHECK_BYTES;
pub use watch::{Stopped, Watch};
