//! The most frequent values.

use std::cmp::{Ordering, Reverse};

use crate::record::{TopK, Value};

/// Keeps the first values of the order: count descending, then type, then value ascending.
pub(crate) struct TopValues<'a> {
    top: TopK<Counted<'a>>,
    /// Records with a value that was added.
    records: u64,
}

/// A value and how many records hold it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) value: Value<'a>,
    pub(crate) count: u64,
}

impl<'a> TopValues<'a> {
    /// Keeps up to `limit` values, at least 1.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            top: TopK::new(limit),
            records: 0,
        }
    }

    /// Adds a value with its count, each value once. `value` is only called when the count may be high enough.
    pub(crate) fn add(&mut self, count: u64, value: impl FnOnce() -> Value<'a>) {
        self.records += count;
        if count > 0 && self.top.last().is_none_or(|last| count >= last.count) {
            let value = value();
            self.top.push(Counted { value, count });
        }
    }

    /// Records with a value that was added.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// The values kept, in order, and how many records hold others.
    pub(crate) fn finish(self) -> (Vec<Counted<'a>>, u64) {
        let listed: u64 = self.top.iter().map(|counted| counted.count).sum();
        (self.top.into_sorted(), self.records - listed)
    }
}

impl Ord for Counted<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        Reverse(self.count)
            .cmp(&Reverse(other.count))
            .then_with(|| by_value(self.value, other.value))
    }
}

impl PartialOrd for Counted<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Counted<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Counted<'_> {}

fn by_value(a: Value<'_>, b: Value<'_>) -> Ordering {
    let kind = |value| match value {
        Value::Null => 0,
        Value::Boolean(_) => 1,
        Value::Number(_) => 2,
        Value::Text(_) => 3,
    };
    match (a, b) {
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(&b),
        (Value::Number(a), Value::Number(b)) => a.total_cmp(&b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        _ => kind(a).cmp(&kind(b)),
    }
}
