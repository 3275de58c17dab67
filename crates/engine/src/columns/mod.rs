//! Typed, compact columns of a block of records.

mod bits;
mod builder;
mod column;
mod form;
mod integers;
mod mask;
mod names;
mod numbers;
mod strings;
mod table;
mod texts;
mod write;

pub(crate) use builder::ColumnsBuilder;
pub(crate) use column::Column;
pub(crate) use form::Damaged;
pub(crate) use integers::Integers;
pub(crate) use mask::{BLOCK_RECORDS, Mask};
pub(crate) use names::{ColumnId, ColumnNames};
pub(crate) use numbers::{Comparison, Numbers};
pub(crate) use strings::Strings;
pub(crate) use table::Columns;
pub(crate) use texts::Texts;
pub(crate) use write::write_data;
