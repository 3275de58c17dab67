//! The values of a record.

/// One value of a record, borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    /// JSON `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A finite double.
    Number(f64),
    /// A string.
    Text(&'a str),
}

/// One value of a record, owned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OwnedValue {
    /// JSON `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A finite double.
    Number(f64),
    /// A string.
    Text(Box<str>),
}

impl OwnedValue {
    /// The same value, borrowed.
    pub(crate) fn borrow(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Boolean(boolean) => Value::Boolean(*boolean),
            Self::Number(number) => Value::Number(*number),
            Self::Text(text) => Value::Text(text),
        }
    }
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Boolean(boolean) => Self::Boolean(boolean),
            Value::Number(number) => Self::Number(number),
            Value::Text(text) => Self::Text(text.into()),
        }
    }
}

/// A record's data: column names and values in the order they were given, no name twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Data {
    cells: Vec<(Box<str>, OwnedValue)>,
}

impl Data {
    /// Takes cells whose names are distinct.
    pub(crate) fn new(cells: Vec<(Box<str>, OwnedValue)>) -> Self {
        Self { cells }
    }

    /// The cells, in order.
    pub(crate) fn cells(&self) -> &[(Box<str>, OwnedValue)] {
        &self.cells
    }

    /// Leaves only the columns that `keep` accepts.
    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.cells.retain(|(name, _)| keep(name));
    }

    /// The value of a column; `None` when the record lacks it.
    pub(crate) fn get(&self, name: &str) -> Option<&OwnedValue> {
        self.cells
            .iter()
            .find(|(cell, _)| &**cell == name)
            .map(|(_, value)| value)
    }
}
