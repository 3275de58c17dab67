//! Strict JSON: ambiguous text is refused, and values are written as JavaScript writes them.

mod calendar;
mod duration;
mod limits;
mod reader;
mod record_members;
mod strings;
mod time;
mod tree;
mod write;

pub(crate) use calendar::{civil_from_days, days_from_civil};
pub(crate) use duration::parse_duration;
pub(crate) use limits::{MAX_COLUMN_BYTES, check_column};
pub(crate) use reader::{Reader, Shape};
pub(crate) use record_members::{write_id, write_key, write_passage, write_times};
pub use time::time_text;
pub(crate) use time::{Instant, parse_time, write_time};
pub use tree::check;
pub(crate) use tree::{Json, parse};
pub(crate) use write::{
    write_cells, write_integer, write_number, write_string, write_text, write_value,
};
