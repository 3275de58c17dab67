//! A page of results, of a search or of a listing.

use std::time::Instant;

use crate::error::Error;
use crate::json::{write_integer, write_string, write_value};
use crate::record::{Ranked, Score, TimeRange, Value, Variant};
use crate::runtime::StopCheck;
use crate::search::common::Common;
use crate::search::explain::{BoundExplain, Report};
use crate::search::highlights::Highlights;
use crate::search::passages::PassageWriter;
use crate::search::record_writer::RecordWriter;
use crate::search::score_parts::ScoreParts;
use crate::snapshot::{Snapshot, VectorWriter, read_ahead};

/// An answered request.
#[derive(Clone, Debug)]
pub struct Page {
    /// The response body, JSON.
    pub body: Vec<u8>,
    /// Microseconds from arrival to answer.
    pub total_micros: u64,
}

/// The outcomes of searches, in their order.
pub type Pages = Vec<Result<Page, Error>>;

impl Page {
    /// The response to a request that arrived at `arrived`.
    pub(crate) fn new(body: Vec<u8>, arrived: Instant) -> Self {
        let total_micros = arrived.elapsed().as_micros() as u64;
        Self { body, total_micros }
    }
}

/// Bytes reserved for a response at once.
const RESERVED_BYTES: usize = 32 * 1024;

/// The start of a response.
const RESULTS: &[u8] = b"{\"results\":[";

/// A position of an order, as pages show it.
pub(crate) trait PagePosition: Sized {
    /// How records are found with a filter, and without one, for people.
    const PLANS: [&'static str; 2];

    /// Whether records have scores in this order.
    const IS_SCORED: bool;

    /// The score that the record at this position shows.
    fn score(&self) -> Option<Score>;

    /// The cursor of a page that ends with this position, before the records of `following`.
    fn cursor(&self, variant: Variant, following: &[Ranked<Self>]) -> Vec<u8>;
}

/// What a page is written from.
pub(crate) struct PageContent<'a, P> {
    pub(crate) request: &'a Common,
    pub(crate) snapshot: &'a Snapshot,
    /// The fingerprint of the model that made the vectors of the snapshot.
    pub(crate) fingerprint: Option<&'a str>,
    /// The records in order, more than the limit of the request if another page follows. The first record is shown even
    /// if it alone is longer than a page.
    pub(crate) records: &'a [Ranked<P>],
    /// The number of all matches, if the request asks for it.
    pub(crate) total: Option<u64>,
    /// The member `facets` as JSON, if the request asks for it.
    pub(crate) facets: Option<&'a Vec<u8>>,
    /// How many matches have the value of each record, if the request asks for it.
    pub(crate) group_sizes: Option<&'a Vec<u32>>,
    /// Writes the best passages of a record, if results show them.
    pub(crate) passages: Option<PassageWriter<'a>>,
    /// Writes which words of a record match, if results show it.
    pub(crate) highlights: Option<Highlights<'a>>,
    /// How the request was carried out, if the request asks for it.
    pub(crate) explain: Option<(&'a BoundExplain, Report)>,
    /// With `explain`, the parts of the score of each record that can be shown; empty where scores have one part.
    pub(crate) score_parts: Vec<ScoreParts>,
}

impl<P: PagePosition> PageContent<'_, P> {
    /// Writes the page: results, pagination, total, facets, explain.
    ///
    /// # Errors
    /// [`Error::Stopped`]; the error of a vector that cannot be read.
    pub(crate) fn write_page(&self, stop_check: &StopCheck<'_>) -> Result<Vec<u8>, Error> {
        let mut out = Vec::with_capacity(RESERVED_BYTES);
        out.extend_from_slice(RESULTS);
        let shown = self.write_records(stop_check, &mut out)?;
        let (shown, following) = self.records.split_at(shown);
        let last = shown.last().filter(|_| !following.is_empty());
        let next = last.map(|last| {
            let mut cursor = last.position.cursor(self.request.variant, following);
            let suffix = self.request.cursor_suffix.as_deref();
            cursor.extend_from_slice(suffix.unwrap_or_default().as_bytes());
            cursor
        });
        write_pagination(self.request.limit, next.as_deref(), &mut out);
        if let Some(total) = self.total {
            let total = format!("{{\"value\":{total}}}");
            write_member("total", total.as_bytes(), &mut out);
        }
        if let Some(facets) = self.facets {
            write_member("facets", facets, &mut out);
        }
        if let Some((explain, report)) = &self.explain {
            let plan = self.plan(explain);
            let kernel = P::IS_SCORED.then(cosift_kernels::kernel_name);
            let json = report.to_json((plan, kernel), explain, self.snapshot, stop_check)?;
            write_member("explain", json.to_string().as_bytes(), &mut out);
        }
        out.push(b'}');
        Ok(out)
    }

    /// How the request was carried out, for people. A forced filter does not show.
    fn plan(&self, explain: &BoundExplain) -> &'static str {
        let [filtered, all] = P::PLANS;
        if explain.is_filtered() || self.request.time_range != TimeRange::ALWAYS {
            filtered
        } else {
            all
        }
    }

    /// Writes the records that fit on the page, and returns how many.
    fn write_records(&self, stop_check: &StopCheck<'_>, out: &mut Vec<u8>) -> Result<usize, Error> {
        let mut writer = RecordWriter {
            snapshot: self.snapshot,
            variant: self.request.variant,
            shown: self.request.shown_columns(&self.snapshot.names),
            vectors: (self.request.vectors).then(|| VectorWriter::new(self.fingerprint)),
        };
        for record in self.records.iter().take(self.request.limit) {
            read_ahead(self.snapshot.at(record.row));
        }
        let mut shown = 0;
        for record in self.records.iter().take(self.request.limit) {
            let (block, slot) = self.snapshot.at(record.row);
            let score = record.position.score();
            let end = out.len();
            if shown > 0 {
                out.push(b',');
            }
            writer.write_open((block, slot), score, out)?;
            if let (Some(distinct), Some(sizes)) = (&self.request.distinct, self.group_sizes) {
                let column = self.snapshot.names.id(&distinct.column);
                let value = column.and_then(|column| block.body.columns.value(slot, column));
                write_group(value.unwrap_or(Value::Null), sizes[shown], out);
            }
            if let Some(passages) = &self.passages {
                passages.write(self.snapshot, (block, slot), out)?;
            }
            if let Some(highlights) = &self.highlights {
                out.extend_from_slice(b",\"highlights\":");
                let names = &self.snapshot.names;
                let columns = writer.shown.as_deref();
                highlights.write((block, slot), names, columns, stop_check, out)?;
            }
            if let Some((explain, _)) = &self.explain {
                out.extend_from_slice(b",\"explain\":");
                let parts = self.score_parts.get(shown);
                explain.write_record(block, slot, parts, stop_check, out)?;
            }
            out.push(b'}');
            if shown > 0 && out.len() - RESULTS.len() > self.request.page_bytes {
                out.truncate(end);
                break;
            }
            shown += 1;
        }
        Ok(shown)
    }
}

/// Writes the group of a record: its value, and how many matches have it.
fn write_group(value: Value<'_>, matches: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"group\":{\"value\":");
    write_value(value, out);
    out.extend_from_slice(b",\"count\":");
    write_integer(matches.into(), out);
    out.push(b'}');
}

/// Ends the results and adds `pagination`; `next` is the cursor of the next page, if there is one.
fn write_pagination(limit: usize, next: Option<&[u8]>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"],\"pagination\":{\"limit\":");
    write_integer(limit as u64, out);
    if let Some(next) = next {
        out.extend_from_slice(b",\"next_cursor\":");
        write_string(&String::from_utf8_lossy(next), out);
    }
    out.extend_from_slice(b",\"has_more\":");
    out.extend_from_slice(if next.is_some() { b"true}" } else { b"false}" });
}

/// Adds a member of the response; `json` is its value.
fn write_member(name: &str, json: &[u8], out: &mut Vec<u8>) {
    out.push(b',');
    write_string(name, out);
    out.push(b':');
    out.extend_from_slice(json);
}
