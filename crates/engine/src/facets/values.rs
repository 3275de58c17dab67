//! The values facet: the most frequent values of a column.

use std::cmp::{Ordering, Reverse};

use hashbrown::DefaultHashBuilder;

use crate::columns::{ColumnId, Mask};
use crate::error::Error;
use crate::facets::buckets::{Grain, NumberCounts};
use crate::facets::intervals::write_member;
use crate::facets::texts::{TEXT_BYTES, TextCounts};
use crate::json::write_value;
use crate::record::{TopK, Value};
use crate::runtime::{StopCheck, Stopped};
use crate::snapshot::Block;

/// How many records hold each value of a column.
#[derive(Debug)]
pub(crate) struct ValueCounts {
    column: ColumnId,
    /// Records with a value other than null and `[]`.
    records: u64,
    /// Records with `false`, records with `true`.
    booleans: [u64; 2],
    numbers: NumberCounts,
    texts: TextCounts,
}

impl ValueCounts {
    /// Counts that are merged must share their hasher.
    pub(crate) fn new(column: ColumnId, hasher: &DefaultHashBuilder) -> Self {
        Self {
            column,
            records: 0,
            booleans: [0; 2],
            numbers: NumberCounts::default(),
            texts: TextCounts::new(column, hasher.clone()),
        }
    }

    /// Counts the values of the records of `matches`, and each distinct element of a list.
    pub(crate) fn count(&mut self, block: &Block, matches: &Mask) {
        let Some(column) = block.body.columns.column(self.column) else {
            return;
        };
        self.records += column.with_value(matches).count() as u64;
        column.each_part(matches, |at, part, rows| {
            for (at, count) in self.booleans.iter_mut().enumerate() {
                *count += part.booleans(at == 1, rows).count() as u64;
            }
            if let Some((values, rows)) = part.numbers(rows) {
                self.numbers.count(Grain::Value, values, &rows);
            }
            if let Some((strings, rows)) = part.texts(rows) {
                self.texts.count(&block.body, at, strings, &rows);
            }
        });
    }

    /// Counts everything so far `factor` times.
    pub(crate) fn multiply(&mut self, factor: u32) {
        self.records *= u64::from(factor);
        (self.booleans.iter_mut()).for_each(|count| *count *= u64::from(factor));
        self.numbers.multiply(factor);
        self.texts.multiply(factor);
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.numbers.memory_bytes() + self.texts.memory_bytes()
    }

    /// Adds the counts of other blocks of the same column.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn merge(&mut self, other: Self, stop_check: &StopCheck<'_>) -> Result<(), Stopped> {
        self.records += other.records;
        for (count, other) in self.booleans.iter_mut().zip(other.booleans) {
            *count += other;
        }
        self.numbers.merge(other.numbers);
        self.texts.merge(other.texts, stop_check)
    }
}

/// Where a values facet is written.
pub(crate) struct ValuesWriter<'a> {
    /// The facet's place in the request.
    pub(crate) at: usize,
    /// Values to list at most.
    pub(crate) limit: usize,
    /// Matches of the request.
    pub(crate) matches: u64,
    /// Bytes of listed texts that the response has room for. Those of this facet are subtracted.
    pub(crate) text_bytes: &'a mut usize,
    pub(crate) out: &'a mut Vec<u8>,
}

impl ValuesWriter<'_> {
    /// Appends the most frequent values.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the listed texts are longer than the response has room for; [`Error::Stopped`].
    pub(crate) fn write(
        self,
        counts: &mut ValueCounts,
        stop_check: &StopCheck<'_>,
    ) -> Result<(), Error> {
        let mut top = TopValues::new(self.limit);
        for (count, value) in counts.booleans.into_iter().zip([false, true]) {
            top.add(count, || Value::Boolean(value));
        }
        for (number, count) in counts.numbers.counted(Grain::Value) {
            top.add(count, || Value::Number(number));
        }
        for (text, count) in counts.texts.iter() {
            stop_check.before_testing(TEXT_BYTES)?;
            top.add(count, || Value::Text(text.get()));
        }
        let (values, other) = top.finish();
        let out = self.out;
        out.extend_from_slice(b",\"type\":\"values\",\"values\":[");
        for (place, counted) in values.iter().enumerate() {
            out.extend_from_slice(if place > 0 {
                b",{\"value\":"
            } else {
                b"{\"value\":"
            });
            let start = out.len();
            write_value(counted.value, out);
            if matches!(counted.value, Value::Text(_)) {
                let room = self.text_bytes.checked_sub(out.len() - start);
                *self.text_bytes = room.ok_or_else(|| too_long(self.at))?;
            }
            write_member("count", counted.count, out);
            out.push(b'}');
        }
        out.push(b']');
        write_member("other", other, out);
        write_member("missing", self.matches - counts.records, out);
        Ok(())
    }
}

fn too_long(at: usize) -> Error {
    let detail = "the texts that the facets list are longer than a page may be: take a lower limit";
    Error::request(format!("/facets/{at}"), detail)
}

/// Keeps the first values of the order: count descending, then type, then value ascending.
pub(crate) struct TopValues<'a> {
    top: TopK<Counted<'a>>,
    /// The sum of all counts.
    sum: u64,
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
            sum: 0,
        }
    }

    /// Adds a value with its count, each value once. `value` is only called when the count may be high enough.
    pub(crate) fn add(&mut self, count: u64, value: impl FnOnce() -> Value<'a>) {
        self.sum += count;
        if count > 0 && self.top.last().is_none_or(|last| count >= last.count) {
            let value = value();
            self.top.push(Counted { value, count });
        }
    }

    /// The values kept, in order, and the sum of the counts of others.
    pub(crate) fn finish(self) -> (Vec<Counted<'a>>, u64) {
        let listed: u64 = self.top.iter().map(|counted| counted.count).sum();
        (self.top.into_sorted(), self.sum - listed)
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
        Value::List(_) => 4,
    };
    match (a, b) {
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(&b),
        (Value::Number(a), Value::Number(b)) => a.total_cmp(&b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        _ => kind(a).cmp(&kind(b)),
    }
}
