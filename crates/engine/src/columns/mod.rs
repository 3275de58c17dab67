//! The data of a block of records by column: typed, compressed and immutable.

mod builder;
mod column;
mod encoding;
mod integers;
mod lists;
mod mask;
mod names;
mod numbers;
mod row_set;
mod scalars;
mod scalars_builder;
mod strings;
mod table;
mod texts;
mod type_counts;
mod value_set;

pub(crate) use builder::ColumnsBuilder;
pub(crate) use column::Column;
pub(crate) use encoding::Damaged;
pub(crate) use integers::Integers;
pub(crate) use mask::{BLOCK_RECORDS, Mask};
pub(crate) use names::{ColumnId, ColumnNames};
pub(crate) use numbers::{Comparison, Numbers};
pub(crate) use scalars::Scalars;
pub(crate) use strings::Strings;
pub(crate) use table::{Columns, write_data};
pub(crate) use texts::Texts;
pub(crate) use type_counts::TypeCounts;
pub(crate) use value_set::ValueSet;
