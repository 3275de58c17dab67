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

pub use builder::ColumnsBuilder;
pub(crate) use column::Column;
pub use column::TypeCounts;
pub use form::Damaged;
pub use integers::Integers;
pub use mask::{BLOCK_RECORDS, Mask};
pub use names::{ColumnId, ColumnNames};
pub(crate) use numbers::{Comparison, Numbers};
pub(crate) use strings::Strings;
pub use table::Columns;
pub(crate) use texts::Texts;
pub use write::write_data;
