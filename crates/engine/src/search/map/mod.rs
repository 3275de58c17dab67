//! The map of a request: its first matches as points, along the two directions in which their vectors differ most.

mod axes;
mod points;
