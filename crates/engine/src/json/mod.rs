//! Strict JSON: what is read is refused rather than guessed at, what is written JavaScript would write.

mod limits;
mod member_names;
mod number;
mod reader;
mod strings;
mod time;
mod tree;
mod write;

pub(crate) use limits::check_column;
pub(crate) use reader::{Reader, Shape};
pub(crate) use time::{civil_from_days, days_from_civil, parse_time, write_time};
pub use tree::check;
pub(crate) use tree::{Json, parse};
pub(crate) use write::{write_cells, write_integer, write_number, write_string, write_value};
