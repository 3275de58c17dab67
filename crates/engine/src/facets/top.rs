//! The most frequent values.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::record::Value;

/// Keeps the first `limit` values of the order: count falling, then type, then value rising.
pub(crate) struct Top<'a> {
    limit: usize,
    // The root is the last value kept.
    kept: BinaryHeap<Counted<'a>>,
    records: u64,
}

/// A value and how many records hold it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) value: Value<'a>,
    pub(crate) count: u64,
}

impl<'a> Top<'a> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: BinaryHeap::with_capacity(limit + 1),
            records: 0,
        }
    }

    /// Offers a value, each once; it is only looked at when its count may do.
    pub(crate) fn offer(&mut self, count: u64, value: impl FnOnce() -> Value<'a>) {
        self.records += count;
        if count == 0 {
            return;
        }
        if self.kept.len() < self.limit {
            self.kept.push(Counted {
                value: value(),
                count,
            });
        } else if let Some(mut last) = self.kept.peek_mut()
            && count >= last.count
        {
            let new = Counted {
                value: value(),
                count,
            };
            if new < *last {
                *last = new;
            }
        }
    }

    /// Records with a value that was offered.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// The values kept, in order, and how many records hold others.
    pub(crate) fn finish(self) -> (Vec<Counted<'a>>, u64) {
        let listed: u64 = self.kept.iter().map(|counted| counted.count).sum();
        (self.kept.into_sorted_vec(), self.records - listed)
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
