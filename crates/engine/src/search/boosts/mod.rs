//! Boosts: parts of a score that depend on the data and the times of a record.

mod bound;
mod request;

pub(crate) use bound::{BlockBoosts, BoundBoosts};
pub(crate) use request::Boost;
