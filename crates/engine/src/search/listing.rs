//! The filter-only operation: exact criteria, no scores, any order, the same paging promises.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use serde_json::json;

use crate::error::Error;
use crate::facets::{Facet, FacetCounter};
use crate::filter::{Filter, FilterKey, RequestReader};
use crate::limits::Limits;
use crate::record::{IdKey, RecordRow, TimeRange, Variant};
use crate::runtime::{StopCheck, StopFlag};
use crate::search::explain::{Explain, milliseconds};
use crate::search::page::{Page, PageWriter};
use crate::search::searchable::Searchable;
use crate::search::sort::{Cursor, Place, Sort, SortBy, Start, write_cursor};
use crate::snapshot::{Block, Selection, Snapshot};

const LOST_CURSOR: &str = "the record that the cursor names and those that followed it are changed or gone: begin with the first page again";

/// A filter-only request, parsed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    variant: Variant,
    limit: usize,
    page_bytes: usize,
    filter: Option<Filter>,
    /// The part of `filter` that the key forces.
    forced: Option<Filter>,
    filter_key: Option<FilterKey>,
    time_range: TimeRange,
    sort: Sort,
    cursor: Option<Cursor>,
    total: bool,
    facets: Vec<Facet>,
    explain: Option<Explain>,
}

/// A record that the page may show; the heap's root is the last of them.
struct Entry<'a> {
    place: Place<'a>,
    row: RecordRow,
    sort: &'a Sort,
}

impl Ord for Entry<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sort.rank(&self.place, &other.place)
    }
}

impl PartialOrd for Entry<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry<'_> {}

impl Query {
    /// Reads a query from JSON: `variant`, `limit`, `filter`, `forced_filter`, `time_range`, `sort`,
    /// `cursor`, `total`, `facets`, `explain`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer for whatever does not fit.
    pub(crate) fn parse(json: &str, limits: &Limits) -> Result<Self, Error> {
        let request = RequestReader::new(json, limits)?;
        let variant = request.variant()?;
        let cursor = match request.text("cursor")? {
            None => None,
            Some(text) => Some(Cursor::parse(variant, text).ok_or_else(|| {
                invalid_cursor("must be a next_cursor of this operation and variant")
            })?),
        };
        Ok(Self {
            variant,
            limit: request.limit()?,
            page_bytes: limits.page_bytes,
            filter: request.filter(variant)?,
            forced: request.filter_of("forced_filter", variant)?,
            filter_key: request.filter_key(),
            time_range: request.time_range()?,
            sort: Sort::parse(&request)?,
            cursor,
            total: request.flag("total")?,
            facets: Facet::of(&request)?,
            explain: Explain::parse(&request, variant)?,
        })
    }

    /// Binds the query to the newest snapshot.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor whose place can't be found any more; [`Error::Stopped`].
    pub(crate) fn bind(self, target: &Searchable, stop: StopFlag) -> Result<BoundQuery, Error> {
        let start = Instant::now();
        let (snapshot, named) = {
            let published = target.published.read();
            let cursor = self.cursor.as_ref();
            let named = cursor.map(|cursor| (cursor, cursor.rows(&published, self.variant)));
            (Arc::clone(&published.snapshot), named)
        };
        let after = match named {
            None => None,
            Some((cursor, rows)) => {
                let forced = Selection::bind(&snapshot, self.forced.as_ref(), TimeRange::ALWAYS);
                let stop_check = StopCheck::new(&stop);
                let visible = |record: (&Block, usize)| forced.holds(record, &stop_check);
                let found = cursor.find(&snapshot, &rows, &self.sort, visible)?;
                Some(found.ok_or_else(|| invalid_cursor(LOST_CURSOR))?)
            }
        };
        let mut selection = Selection::bind(&snapshot, self.filter.as_ref(), self.time_range);
        selection.keep_in(target.filters.look(self.filter_key, &snapshot));
        Ok(BoundQuery {
            query: self,
            snapshot,
            selection,
            after,
            start,
            stop,
        })
    }
}

/// A query bound to a snapshot.
pub(crate) struct BoundQuery {
    query: Query,
    snapshot: Arc<Snapshot>,
    selection: Selection,
    after: Option<Start>,
    start: Instant,
    stop: StopFlag,
}

impl BoundQuery {
    /// Whether other queries must not wait for this one.
    pub(crate) fn is_heavy(&self) -> bool {
        let explained = self.query.explain.as_ref().map_or(0, |_| self.query.limit);
        self.selection.is_heavy(&self.snapshot, explained)
    }

    /// Runs the query.
    ///
    /// # Errors
    /// [`Error::Stopped`] once the stop flag is set; [`Error::Invalid`] when a facet has more intervals than a
    /// response holds.
    pub(crate) fn run(&self) -> Result<Page, Error> {
        let Self {
            query,
            snapshot,
            selection,
            after,
            start,
            stop,
        } = self;
        let Query { sort, limit, .. } = query;
        // The cursor of a long text names records beyond the page.
        let places = *limit + 1 + sort.places_beyond();
        let stop_check = &StopCheck::new(stop);
        let facets = FacetCounter::bind(&query.facets, &snapshot.names);
        let column = match &sort.by {
            SortBy::Column(name) => snapshot.names.id(name),
            _ => None,
        };
        let mut kept: BinaryHeap<Entry<'_>> = BinaryHeap::new();
        let mut matches = 0;
        for block in &snapshot.blocks {
            if stop.load(Relaxed) {
                return Err(Error::Stopped);
            }
            let mask = selection.mask(block, stop_check)?;
            matches += mask.count();
            facets.count(block, &mask);
            for slot in mask.iter() {
                let key = sort.key(block, slot, column);
                let place = Place {
                    key,
                    id: IdKey::new(query.variant, block.id(slot), block.uuid(slot)),
                };
                if after
                    .as_ref()
                    .is_some_and(|after| !after.admits(sort, &place))
                {
                    continue;
                }
                let entry = Entry {
                    place,
                    row: block.row(slot),
                    sort,
                };
                if kept.len() < places {
                    kept.push(entry);
                } else if kept.peek().is_some_and(|last| entry < *last) {
                    kept.pop();
                    kept.push(entry);
                }
            }
        }
        let scan = start.elapsed();
        let explain = query
            .explain
            .as_ref()
            .map(|explain| explain.bind(&snapshot.names));
        let entries = kept.into_sorted_vec();
        let mut writer =
            PageWriter::new(snapshot, query.variant, query.page_bytes, explain.as_ref());
        let mut shown = 0;
        for entry in entries.iter().take(*limit) {
            let (block, slot) = snapshot.at(entry.row);
            if !writer.record(block, slot, None, stop_check)? {
                break;
            }
            shown += 1;
        }
        let next = entries[..shown]
            .last()
            .filter(|_| shown < entries.len())
            .map(|last| {
                let following = entries[shown..].iter().map(|entry| &entry.place);
                write_cursor(query.variant, &last.place, following)
            });
        writer.pagination(*limit, next.as_deref());
        if query.total {
            writer.member("total", format!("{{\"value\":{matches}}}").as_bytes());
        }
        if !query.facets.is_empty() {
            writer.member("facets", &facets.write(query.page_bytes)?);
        }
        if let Some(explain) = &explain {
            let filtered = explain.is_filtered() || query.time_range != TimeRange::ALWAYS;
            let told = json!({
                "plan": if filtered { "filter" } else { "all records" },
                "records": explain.records(snapshot, stop_check)?,
                "matches": matches,
                "times_ms": { "scan": milliseconds(scan), "total": milliseconds(start.elapsed()) },
            });
            writer.member("explain", told.to_string().as_bytes());
        }
        let scan_micros = scan.as_micros() as u64;
        Ok(Page {
            body: writer.finish(),
            scan_micros,
            total_micros: start.elapsed().as_micros() as u64,
        })
    }
}

fn invalid_cursor(detail: &str) -> Error {
    Error::invalid("invalid_cursor", "/pagination/cursor", detail)
}
