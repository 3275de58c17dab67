//! The histogram facet: the numbers of a column by interval.

use crate::columns::{ColumnId, Mask};
use crate::error::Error;
use crate::facets::buckets::{Grain, NumberCounts};
use crate::facets::intervals::{invalid_interval, write_intervals, write_member};
use crate::json::write_number;
use crate::snapshot::Block;

/// How many records hold a number of each interval.
#[derive(Debug)]
pub(crate) struct Histogram {
    column: ColumnId,
    grain: Grain,
    numbers: NumberCounts,
    /// Records with a number.
    records: u64,
}

impl Histogram {
    pub(crate) fn new(column: ColumnId, interval: f64) -> Self {
        Self {
            column,
            grain: Grain::Interval(interval),
            numbers: NumberCounts::default(),
            records: 0,
        }
    }

    /// Counts the numbers of the records of `matches`; a list once for each interval with a number of it.
    pub(crate) fn count(&mut self, block: &Block, matches: &Mask) {
        let Some(column) = block.body.columns.column(self.column) else {
            return;
        };
        let rows = column.scalars.rows(matches);
        if let Some((values, rows)) = column.scalars.numbers(&rows) {
            self.records += rows.count() as u64;
            self.numbers.count(self.grain, values, &rows);
        }
        column.each_list(matches, |_, list| {
            self.records += u64::from(self.numbers.count_list(self.grain, list.numbers()));
        });
    }

    /// Counts everything so far `factor` times.
    pub(crate) fn multiply(&mut self, factor: u32) {
        self.records *= u64::from(factor);
        self.numbers.multiply(factor);
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.numbers.memory_bytes()
    }

    /// Adds the counts of other blocks, of the same column and interval.
    pub(crate) fn merge(&mut self, other: Self) {
        self.records += other.records;
        self.numbers.merge(other.numbers);
    }
}

/// Appends the intervals of a histogram. `at` is the facet's place in the request, `matches` the number of matches of the
/// request.
///
/// # Errors
/// [`Error::Invalid`] when there are more intervals than a response holds, or one begins below the least double.
pub(crate) fn write_histogram(
    histogram: &mut Histogram,
    at: usize,
    matches: u64,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let counts = histogram.numbers.counted(histogram.grain);
    let mut counts: Vec<_> = counts.collect();
    counts.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    if counts.first().is_some_and(|(start, _)| start.is_infinite()) {
        let detail = format!(
            "an interval of the matches begins below {:e}, the least number there is: take a shorter one",
            f64::MIN
        );
        return Err(invalid_interval(at, detail));
    }
    write_intervals(at, counts, write_number, out)?;
    write_member("missing", matches - histogram.records, out);
    Ok(())
}
