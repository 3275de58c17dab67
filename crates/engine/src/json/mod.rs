//! Strict JSON: what is read is refused rather than guessed at, what is written JavaScript would write.

mod checked;
#[cfg(test)]
mod golden;
mod limits;
mod member_names;
mod number;
mod reader;
mod record;
mod strings;
mod time;
mod tree;
mod write;

pub(crate) use limits::check_column;
pub use limits::{MAX_COLUMN_BYTES, MAX_ID};
pub use record::{NewRecord, parse_batch, parse_data, parse_line};
pub use time::{InvalidTime, parse_time, write_time};
pub(crate) use time::{civil_from_days, days_from_civil};
pub use tree::{Json, check, parse};
pub use write::{write_cells, write_integer, write_number, write_string, write_value};
