//! How many records hold each type in a column.

use crate::record::Value;

/// How many records hold each type in a column. The other records lack the column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeCounts {
    /// Records with `null`.
    pub(crate) nulls: u32,
    /// Records with a boolean.
    pub(crate) booleans: u32,
    /// Records with a number.
    pub(crate) numbers: u32,
    /// Records with a string.
    pub(crate) texts: u32,
    /// Records with a list.
    pub(crate) lists: u32,
}

impl TypeCounts {
    /// The records with a value of any type.
    pub(crate) fn records(&self) -> u32 {
        self.nulls + self.booleans + self.numbers + self.texts + self.lists
    }

    /// The count of the type of a value.
    pub(crate) fn of_mut(&mut self, value: Value<'_>) -> &mut u32 {
        match value {
            Value::Null => &mut self.nulls,
            Value::Boolean(_) => &mut self.booleans,
            Value::Number(_) => &mut self.numbers,
            Value::Text(_) => &mut self.texts,
            Value::List(_) => &mut self.lists,
        }
    }
}

impl std::ops::AddAssign for TypeCounts {
    fn add_assign(&mut self, other: Self) {
        self.nulls += other.nulls;
        self.booleans += other.booleans;
        self.numbers += other.numbers;
        self.texts += other.texts;
        self.lists += other.lists;
    }
}
