//! The counts of one facet.

use hashbrown::DefaultHashBuilder;

use crate::columns::{ColumnId, ColumnNames, Mask};
use crate::error::Error;
use crate::facets::buckets::Buckets;
use crate::facets::histogram::{Histogram, write_histogram};
use crate::facets::intervals::{Calendar, write_intervals, write_quoted_time};
use crate::facets::request::Facet;
use crate::facets::values::{ValueCounts, ValuesWriter};
use crate::json::{write_number, write_string};
use crate::record::RecordTime;
use crate::runtime::{StopCheck, Stopped};
use crate::snapshot::Block;

/// A facet's counts over some blocks.
#[derive(Debug)]
pub(crate) struct FacetTally {
    matches: u64,
    counts: Counts,
}

/// The counts of each kind of facet, and the parameters of the facet.
#[derive(Debug)]
enum Counts {
    Values(String, usize, ValueCounts),
    Histogram(String, f64, Histogram),
    Times(RecordTime, Calendar, Buckets),
}

impl FacetTally {
    /// Tallies that are merged must share their hasher.
    pub(crate) fn new(facet: &Facet, names: &ColumnNames, hasher: &DefaultHashBuilder) -> Self {
        // No block has a column that no record ever had.
        let column = |name| names.id(name).unwrap_or(ColumnId(u32::MAX));
        let counts = match facet {
            Facet::Values {
                column: name,
                limit,
            } => Counts::Values(name.clone(), *limit, ValueCounts::new(column(name), hasher)),
            Facet::Histogram {
                column: name,
                interval,
            } => Counts::Histogram(
                name.clone(),
                *interval,
                Histogram::new(column(name), *interval),
            ),
            Facet::Times { time, interval } => Counts::Times(*time, *interval, Buckets::default()),
        };
        Self { matches: 0, counts }
    }

    /// Counts the records of `matches`.
    pub(crate) fn count(&mut self, block: &Block, matches: &Mask) {
        self.matches += matches.count() as u64;
        match &mut self.counts {
            Counts::Values(.., values) => values.count(block, matches),
            Counts::Histogram(.., histogram) => histogram.count(block, matches),
            Counts::Times(time, interval, buckets) => {
                interval.count(block.times_of(*time), matches, buckets);
            }
        }
    }

    /// Counts everything so far `factor` times.
    pub(crate) fn multiply(&mut self, factor: u32) {
        self.matches *= u64::from(factor);
        match &mut self.counts {
            Counts::Values(.., values) => values.multiply(factor),
            Counts::Histogram(.., histogram) => histogram.multiply(factor),
            Counts::Times(.., buckets) => buckets.multiply(factor),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match &self.counts {
            Counts::Values(.., values) => values.memory_bytes(),
            Counts::Histogram(.., histogram) => histogram.memory_bytes(),
            Counts::Times(.., buckets) => buckets.memory_bytes(),
        }
    }

    /// Adds the counts of another tally of the same facet.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn merge(&mut self, other: Self, stop_check: &StopCheck<'_>) -> Result<(), Stopped> {
        self.matches += other.matches;
        match (&mut self.counts, other.counts) {
            (Counts::Values(.., values), Counts::Values(.., other)) => {
                values.merge(other, stop_check)?
            }
            (Counts::Histogram(.., histogram), Counts::Histogram(.., other)) => {
                histogram.merge(other)
            }
            (Counts::Times(.., buckets), Counts::Times(.., other)) => buckets.merge(other),
            _ => {}
        }
        Ok(())
    }

    /// Appends the counts as the response shows them. `at` is the facet's place in the request. `text_bytes` is how many
    /// bytes of listed texts the response has room for; those of this facet are subtracted.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there are more intervals than a response holds, one begins below the least double, or the
    /// listed texts are longer than there is room for; [`Error::Stopped`].
    pub(crate) fn write(
        &mut self,
        at: usize,
        text_bytes: &mut usize,
        stop_check: &StopCheck<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let matches = self.matches;
        match &mut self.counts {
            Counts::Values(column, limit, values) => {
                out.extend_from_slice(b"{\"column\":");
                write_string(column, out);
                let writer = ValuesWriter {
                    at,
                    limit: *limit,
                    matches,
                    text_bytes,
                    out,
                };
                writer.write(values, stop_check)?;
            }
            Counts::Histogram(column, interval, histogram) => {
                out.extend_from_slice(b"{\"column\":");
                write_string(column, out);
                out.extend_from_slice(b",\"type\":\"histogram\",\"interval\":");
                write_number(*interval, out);
                write_histogram(histogram, at, matches, out)?;
            }
            Counts::Times(time, interval, buckets) => {
                out.extend_from_slice(b"{\"time\":");
                write_string(time.name(), out);
                out.extend_from_slice(b",\"interval\":");
                write_string(interval.name(), out);
                write_intervals(at, interval.counted(buckets), write_quoted_time, out)?;
            }
        }
        out.push(b'}');
        Ok(())
    }
}
