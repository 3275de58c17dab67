//! The filter-only operation: exact criteria, no scores, any order, the same paging promises.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use crate::block::Block;
use crate::columns::{ColumnId, Value};
use crate::cursor;
use crate::database::Database;
use crate::error::Error;
use crate::explain::{Explain, milliseconds};
use crate::facets::{Facet, FacetCounter};
use crate::filter::{Filter, Watch};
use crate::identity::{IdKey, RecordRow, Variant};
use crate::limits::Limits;
use crate::search::{FilterKey, Page, PageWriter, RequestReader, StopFlag, TimeRange};
use crate::select::Selection;
use crate::snapshot::Snapshot;

/// A filter-only request, parsed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    variant: Variant,
    limit: usize,
    page_bytes: usize,
    filter: Option<Filter>,
    filter_key: Option<FilterKey>,
    time_range: TimeRange,
    sort: Sort,
    cursor: Option<Place>,
    total: bool,
    facets: Vec<Facet>,
    explain: Option<Explain>,
}

/// What orders the records; ties by identity, ascending.
#[derive(Clone, Debug)]
struct Sort {
    by: SortBy,
    descending: bool,
}

#[derive(Clone, Debug)]
enum SortBy {
    Created,
    Changed,
    Synced,
    Column(String),
}

/// A value that records are ordered by. Records without one come last in either direction.
#[derive(Clone, Debug, PartialEq)]
enum SortKey {
    Time(i64),
    Boolean(bool),
    Number(f64),
    Text(String),
    Missing,
}

/// A place in the order.
#[derive(Clone, Debug)]
struct Place {
    key: SortKey,
    id: IdKey,
}

impl SortKey {
    fn kind(&self) -> u8 {
        match self {
            Self::Time(_) => 0,
            Self::Boolean(_) => 1,
            Self::Number(_) => 2,
            Self::Text(_) => 3,
            Self::Missing => 4,
        }
    }

    fn of(value: Option<Value<'_>>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Missing,
            Some(Value::Boolean(value)) => Self::Boolean(value),
            Some(Value::Number(value)) => Self::Number(value),
            Some(Value::Text(value)) => Self::Text(value.to_owned()),
        }
    }

    fn compare(&self, other: &Self, descending: bool) -> Ordering {
        let order = match (self, other) {
            (Self::Missing, Self::Missing) => return Ordering::Equal,
            (Self::Missing, _) => return Ordering::Greater,
            (_, Self::Missing) => return Ordering::Less,
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (a, b) => a.kind().cmp(&b.kind()),
        };
        if descending { order.reverse() } else { order }
    }

    /// As a cursor holds it: a letter for the kind, then the value.
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Time(ms) => out.extend_from_slice(format!("t{ms}").as_bytes()),
            Self::Boolean(value) => out.extend_from_slice(if *value { b"b1" } else { b"b0" }),
            // Hexadecimal bits: the exact number, without a character that the cursor's shape uses.
            Self::Number(value) => {
                out.extend_from_slice(format!("n{:x}", value.to_bits()).as_bytes())
            }
            Self::Text(text) => {
                out.push(b's');
                out.extend_from_slice(URL_SAFE_NO_PAD.encode(text).as_bytes());
            }
            Self::Missing => out.push(b'm'),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let kind = text.chars().next()?;
        let rest = &text[kind.len_utf8()..];
        match kind {
            't' => rest.parse().ok().map(Self::Time),
            'b' => matches!(rest, "0" | "1").then(|| Self::Boolean(rest == "1")),
            'n' => u64::from_str_radix(rest, 16)
                .ok()
                .map(|bits| Self::Number(f64::from_bits(bits))),
            's' => String::from_utf8(URL_SAFE_NO_PAD.decode(rest).ok()?)
                .ok()
                .map(Self::Text),
            'm' => rest.is_empty().then_some(Self::Missing),
            _ => None,
        }
    }
}

impl Sort {
    fn parse(request: &RequestReader) -> Result<Self, Error> {
        let Some(sort) = request.get("sort") else {
            return Ok(Self {
                by: SortBy::Synced,
                descending: true,
            });
        };
        let member = |name: &str| sort.get(name).and_then(|value| value.as_str());
        let by = match (member("column"), member("time")) {
            (Some(column), None) => SortBy::Column(column.to_owned()),
            (None, Some("created_at" | "first_seen_time")) => SortBy::Created,
            (None, Some("changed_at" | "last_changed_time")) => SortBy::Changed,
            (None, Some("synced_at" | "last_seen_time")) => SortBy::Synced,
            _ => {
                return Err(Error::invalid(
                    "invalid_request",
                    "/sort",
                    "give either column or time",
                ));
            }
        };
        let descending = match member("direction") {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => {
                let detail = "must be \"asc\" or \"desc\"";
                return Err(Error::invalid("invalid_request", "/sort/direction", detail));
            }
        };
        Ok(Self { by, descending })
    }

    fn rank(&self, a: &Place, b: &Place) -> Ordering {
        a.key.compare(&b.key, self.descending).then(a.id.cmp(&b.id))
    }

    fn key(&self, block: &Block, slot: usize, column: Option<ColumnId>) -> SortKey {
        match &self.by {
            SortBy::Created => SortKey::Time(block.body.created.get(slot)),
            SortBy::Changed => SortKey::Time(block.body.changed.get(slot)),
            SortBy::Synced => SortKey::Time(block.synced.get(slot)),
            SortBy::Column(_) => {
                SortKey::of(column.and_then(|column| block.body.columns.value(slot, column)))
            }
        }
    }
}

/// A record that the page may show; the heap's root is the last of them.
struct Entry<'a> {
    place: Place,
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
            Some(text) => Some(parse_cursor(variant, text).ok_or_else(|| {
                let detail = "must be a next_cursor of this operation and variant";
                Error::invalid("invalid_cursor", "/pagination/cursor", detail)
            })?),
        };
        Ok(Self {
            variant,
            limit: request.limit()?,
            page_bytes: limits.page_bytes,
            filter: request.filter(variant)?,
            filter_key: request.filter_key(),
            time_range: request.time_range()?,
            sort: Sort::parse(&request)?,
            cursor,
            total: request.flag("total")?,
            facets: request.facets()?,
            explain: Explain::parse(&request, variant)?,
        })
    }

    /// Binds the query to the newest snapshot.
    pub(crate) fn bind(self, database: &Database, stop: StopFlag) -> BoundQuery {
        let start = Instant::now();
        let snapshot = database.snapshot();
        let mut selection = Selection::bind(&snapshot, self.filter.as_ref(), self.time_range);
        selection.keep_in(database.known_masks.look(self.filter_key, &snapshot));
        BoundQuery {
            query: self,
            snapshot,
            selection,
            start,
            stop,
        }
    }
}

/// A query bound to a snapshot.
pub(crate) struct BoundQuery {
    query: Query,
    snapshot: Arc<Snapshot>,
    selection: Selection,
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
            start,
            stop,
        } = self;
        let Query { sort, limit, .. } = query;
        let watch = &Watch::new(stop);
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
            let mask = selection.mask(block, watch)?;
            matches += mask.count();
            facets.count(block, &mask);
            for slot in mask.iter() {
                let key = sort.key(block, slot, column);
                let place = Place {
                    key,
                    id: IdKey::new(query.variant, block.id(slot), block.uuid(slot)),
                };
                if query
                    .cursor
                    .as_ref()
                    .is_some_and(|cursor| sort.rank(&place, cursor).is_le())
                {
                    continue;
                }
                let entry = Entry {
                    place,
                    row: block.row(slot),
                    sort,
                };
                if kept.len() <= *limit {
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
            if !writer.record(block, slot, None, watch)? {
                break;
            }
            shown += 1;
        }
        let next = entries[..shown]
            .last()
            .filter(|_| shown < entries.len())
            .map(|last| write_cursor(query.variant, &last.place));
        writer.pagination(*limit, next.as_deref());
        if query.total {
            writer.member("total", format!("{{\"value\":{matches}}}").as_bytes());
        }
        if !query.facets.is_empty() {
            writer.member("facets", &facets.write()?);
        }
        if let Some(explain) = &explain {
            let filtered = explain.is_filtered() || query.time_range != TimeRange::ALWAYS;
            let told = json!({
                "plan": if filtered { "filter" } else { "all records" },
                "records": explain.records(snapshot, watch)?,
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

fn parse_cursor(variant: Variant, text: &str) -> Option<Place> {
    let (key, id) = text.rsplit_once(cursor::separator(variant))?;
    Some(Place {
        key: SortKey::parse(key)?,
        id: cursor::parse_id(variant, id)?,
    })
}

fn write_cursor(variant: Variant, place: &Place) -> Vec<u8> {
    let mut out = Vec::new();
    place.key.write(&mut out);
    out.push(cursor::separator(variant) as u8);
    cursor::write_id(variant, place.id, &mut out);
    out
}
