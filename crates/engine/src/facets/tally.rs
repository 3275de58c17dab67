//! What one facet has counted.

use hashbrown::DefaultHashBuilder;

use crate::columns::{ColumnId, ColumnNames, Mask};
use crate::error::Error;
use crate::facets::buckets::Buckets;
use crate::facets::numbers::{Grain, NumberCounts};
use crate::facets::request::{Facet, RecordTime};
use crate::facets::texts::TextCounts;
use crate::facets::top::Top;
use crate::json::{write_integer, write_number, write_string, write_time, write_value};
use crate::record::Value;
use crate::snapshot::Block;

/// Intervals of one facet that a response holds at most.
const MAX_BUCKETS: usize = 10_000;

/// A facet's counts over some blocks.
#[derive(Debug)]
pub(crate) struct Tally {
    matches: u64,
    counts: Counts,
}

#[derive(Debug)]
enum Counts {
    /// Of a column that no record ever had.
    Nothing,
    Values {
        column: ColumnId,
        booleans: [u64; 2],
        numbers: NumberCounts,
        texts: TextCounts,
    },
    Numbers {
        column: ColumnId,
        grain: Grain,
        numbers: NumberCounts,
        records: u64,
    },
    Times(Buckets),
}

impl Tally {
    /// Tallies to be merged must share their hasher.
    pub(crate) fn new(facet: &Facet, names: &ColumnNames, hasher: &DefaultHashBuilder) -> Self {
        let counts = match facet {
            Facet::Values { column, .. } => names.id(column).map(|column| Counts::Values {
                column,
                booleans: [0; 2],
                numbers: NumberCounts::default(),
                texts: TextCounts::new(column, hasher.clone()),
            }),
            Facet::Histogram { column, interval } => {
                names.id(column).map(|column| Counts::Numbers {
                    column,
                    grain: Grain::Interval(*interval),
                    numbers: NumberCounts::default(),
                    records: 0,
                })
            }
            Facet::Times { .. } => Some(Counts::Times(Buckets::default())),
        };
        Self {
            matches: 0,
            counts: counts.unwrap_or(Counts::Nothing),
        }
    }

    /// Counts the records of `matches`.
    pub(crate) fn count(&mut self, facet: &Facet, block: &Block, matches: &Mask) {
        self.matches += matches.count() as u64;
        let column = |id| {
            block
                .body
                .columns
                .column(id)
                .map(|column| (column, column.rows(matches)))
        };
        match &mut self.counts {
            Counts::Nothing => {}
            Counts::Values {
                column: id,
                booleans,
                numbers,
                texts,
            } => {
                let Some((column, rows)) = column(*id) else {
                    return;
                };
                for (at, count) in booleans.iter_mut().enumerate() {
                    *count += column.booleans(at == 1, &rows).count() as u64;
                }
                if let Some((values, rows)) = column.numbers(&rows) {
                    numbers.count(Grain::Value, values, &rows);
                }
                if let Some((strings, rows)) = column.texts(&rows) {
                    texts.count(&block.body, strings, &rows);
                }
            }
            Counts::Numbers {
                column: id,
                grain,
                numbers,
                records,
            } => {
                let Some((column, rows)) = column(*id) else {
                    return;
                };
                if let Some((values, rows)) = column.numbers(&rows) {
                    *records += rows.count() as u64;
                    numbers.count(*grain, values, &rows);
                }
            }
            Counts::Times(buckets) => {
                let Facet::Times { time, interval } = facet else {
                    return;
                };
                let times = match time {
                    RecordTime::Created => &block.body.created,
                    RecordTime::Changed => &block.body.changed,
                    RecordTime::Synced => &*block.synced,
                };
                interval.count(times, matches, buckets);
            }
        }
    }

    /// Adds what another tally of the same facet has counted.
    pub(crate) fn merge(&mut self, other: Self) {
        self.matches += other.matches;
        match (&mut self.counts, other.counts) {
            (
                Counts::Values {
                    booleans,
                    numbers,
                    texts,
                    ..
                },
                Counts::Values {
                    booleans: other_booleans,
                    numbers: other_numbers,
                    texts: other_texts,
                    ..
                },
            ) => {
                booleans
                    .iter_mut()
                    .zip(other_booleans)
                    .for_each(|(count, other)| *count += other);
                numbers.merge(other_numbers);
                texts.merge(other_texts);
            }
            (
                Counts::Numbers {
                    numbers, records, ..
                },
                Counts::Numbers {
                    numbers: other_numbers,
                    records: other_records,
                    ..
                },
            ) => {
                *records += other_records;
                numbers.merge(other_numbers);
            }
            (Counts::Times(buckets), Counts::Times(other)) => buckets.merge(other),
            _ => {}
        }
    }

    /// Appends the counts as the response shows them; `at` is the facet's place in the request, and `text_bytes` how many
    /// bytes of listed texts the response has room for, from which those of this facet are taken.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there are more intervals than a response holds, one begins where no double does, or the
    /// listed texts are longer than there is room for.
    pub(crate) fn write(
        self,
        facet: &Facet,
        at: usize,
        text_bytes: &mut usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        match facet {
            Facet::Values { column, limit } => {
                out.extend_from_slice(b"{\"column\":");
                write_string(column, out);
                self.write_values(*limit, at, text_bytes, out)?;
            }
            Facet::Histogram { column, interval } => {
                out.extend_from_slice(b"{\"column\":");
                write_string(column, out);
                out.extend_from_slice(b",\"type\":\"histogram\",\"interval\":");
                write_number(*interval, out);
                self.write_intervals(at, out)?;
            }
            Facet::Times { time, interval } => {
                out.extend_from_slice(b"{\"time\":");
                write_string(time.name(), out);
                out.extend_from_slice(b",\"interval\":");
                write_string(interval.name(), out);
                let counts = match self.counts {
                    Counts::Times(buckets) => interval.finish(buckets),
                    _ => Default::default(),
                };
                write_buckets(at, counts, write_quoted_time, out)?;
            }
        }
        out.push(b'}');
        Ok(())
    }

    fn write_values(
        self,
        limit: usize,
        at: usize,
        text_bytes: &mut usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        // Outlives `top`, which borrows from it.
        let strings;
        let mut top = Top::new(limit);
        if let Counts::Values {
            booleans,
            numbers,
            texts,
            ..
        } = self.counts
        {
            for (count, value) in booleans.into_iter().zip([false, true]) {
                top.offer(count, || Value::Boolean(value));
            }
            for (number, count) in numbers.finish(Grain::Value) {
                top.offer(count, || Value::Number(number));
            }
            strings = texts;
            for (text, count) in strings.iter() {
                top.offer(count, || Value::Text(text.get()));
            }
        }
        let records = top.records();
        let (values, other) = top.finish();
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
                let room = text_bytes.checked_sub(out.len() - start);
                *text_bytes = room.ok_or_else(|| too_long(at))?;
            }
            write_member("count", counted.count, out);
            out.push(b'}');
        }
        out.push(b']');
        write_member("other", other, out);
        write_member("missing", self.matches - records, out);
        Ok(())
    }

    fn write_intervals(self, at: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let (mut counts, mut found) = (Vec::new(), 0);
        if let Counts::Numbers {
            grain,
            numbers,
            records,
            ..
        } = self.counts
        {
            counts.extend(numbers.finish(grain));
            counts.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            if counts.first().is_some_and(|(start, _)| start.is_infinite()) {
                let detail = format!(
                    "an interval of the matches begins below {:e}, the least number there is: take a shorter one",
                    f64::MIN
                );
                return Err(invalid_interval(at, detail));
            }
            found = records;
        }
        write_buckets(at, counts, write_number, out)?;
        write_member("missing", self.matches - found, out);
        Ok(())
    }
}

fn write_buckets<T>(
    at: usize,
    counts: impl IntoIterator<Item = (T, u64), IntoIter: ExactSizeIterator>,
    write_start: impl Fn(T, &mut Vec<u8>),
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let counts = counts.into_iter();
    if counts.len() > MAX_BUCKETS {
        let detail = format!(
            "the matches fall into {} intervals; a facet has at most {MAX_BUCKETS}: take a longer one",
            counts.len()
        );
        return Err(invalid_interval(at, detail));
    }
    out.extend_from_slice(b",\"buckets\":[");
    for (place, (start, count)) in counts.enumerate() {
        out.extend_from_slice(if place > 0 {
            b",{\"from\":"
        } else {
            b"{\"from\":"
        });
        write_start(start, out);
        write_member("count", count, out);
        out.push(b'}');
    }
    out.push(b']');
    Ok(())
}

fn too_long(at: usize) -> Error {
    let detail = "the texts that the facets list are longer than a page may be: take a lower limit";
    Error::invalid("invalid_request", format!("/facets/{at}"), detail)
}

fn invalid_interval(at: usize, detail: String) -> Error {
    Error::invalid("invalid_request", format!("/facets/{at}/interval"), detail)
}

fn write_quoted_time(time: i64, out: &mut Vec<u8>) {
    out.push(b'"');
    write_time(time, out);
    out.push(b'"');
}

fn write_member(name: &str, count: u64, out: &mut Vec<u8>) {
    out.push(b',');
    write_string(name, out);
    out.push(b':');
    write_integer(count, out);
}
