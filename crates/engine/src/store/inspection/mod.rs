//! A complete check of a store that goes on after damage, to say all that is affected.

mod changes;
mod continuation;
mod inspected;
mod next_rows;
mod repair;
mod rows;
mod structure;

pub(crate) use changes::LastChanges;
pub(crate) use continuation::Continuation;
pub(crate) use inspected::{Findings, Inspection, Problem};
pub(crate) use repair::{Repaired, remove_acknowledged};
pub(crate) use rows::Rows;
