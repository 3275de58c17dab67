//! The values of a record.

use std::fmt;
use std::ops::Range;

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
    /// Strings, numbers and booleans, in their order.
    List(List<'a>),
}

impl<'a> Value<'a> {
    /// The elements of a list, or else the value alone.
    pub(crate) fn elements(self) -> impl Iterator<Item = Self> {
        let (alone, list) = match self {
            Self::List(list) => (None, Some(list)),
            value => (Some(value), None),
        };
        alone
            .into_iter()
            .chain(list.into_iter().flat_map(List::iter))
    }

    /// The strings among the elements.
    pub(crate) fn strings(self) -> impl Iterator<Item = &'a str> {
        self.elements().filter_map(|element| match element {
            Value::Text(text) => Some(text),
            _ => None,
        })
    }
}

/// The elements of a list, which are consecutive places of a sequence of values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<'a> {
    values: &'a dyn Elements,
    start: u32,
    end: u32,
}

/// Values by their place.
pub(crate) trait Elements: fmt::Debug + Sync {
    /// The value at a place, which must be below the number of values.
    fn at(&self, place: usize) -> Value<'_>;
}

impl<'a> List<'a> {
    /// The values at the places `range`.
    pub(crate) fn new(values: &'a dyn Elements, range: Range<usize>) -> Self {
        Self {
            values,
            start: range.start as u32,
            end: range.end as u32,
        }
    }

    /// The number of elements.
    pub(crate) fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// The numbers among the elements.
    pub(crate) fn numbers(self) -> impl Iterator<Item = f64> {
        self.iter().filter_map(|element| match element {
            Value::Number(number) => Some(number),
            _ => None,
        })
    }

    /// The elements, in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = Value<'a>> {
        (self.start..self.end).map(move |place| self.values.at(place as usize))
    }
}

impl PartialEq for List<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Elements for Box<[OwnedValue]> {
    fn at(&self, place: usize) -> Value<'_> {
        self[place].borrow()
    }
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
    /// At most [`MAX_LIST_ELEMENTS`] strings, numbers and booleans, in their order.
    List(Box<[OwnedValue]>),
}

/// The elements of a list, at most.
pub(crate) const MAX_LIST_ELEMENTS: usize = 1000;

impl OwnedValue {
    /// The same value, borrowed.
    pub(crate) fn borrow(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Boolean(boolean) => Value::Boolean(*boolean),
            Self::Number(number) => Value::Number(*number),
            Self::Text(text) => Value::Text(text),
            Self::List(elements) => Value::List(List::new(elements, 0..elements.len())),
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
            Value::List(list) => Self::List(list.iter().map(Self::from).collect()),
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
