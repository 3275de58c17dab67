//! A search that is not yet bound to a snapshot.

use std::sync::Arc;
use std::time::Instant;

use crate::record::RecordRow;
use crate::reply::Reply;
use crate::runtime::StopFlag;
use crate::search::page::Page;
use crate::search::request::Search;
use crate::search::searchable::Searchable;
use crate::snapshot::{FEW_VECTOR_BYTES, Masks, Published, Snapshot};

/// A search that waits to be bound to a snapshot.
pub(crate) struct WaitingSearch {
    pub(crate) database: Arc<Searchable>,
    pub(crate) request: Search,
    /// The query's unit vector, Q30 components.
    pub(crate) vector: Vec<i32>,
    /// Whether the search arrived together with others.
    pub(crate) is_of_batch: bool,
    pub(crate) stop: StopFlag,
    pub(crate) arrived: Instant,
    /// The cached masks of the filter, once they were looked up. A search may be bound a second time, on the threads
    /// for expensive searches: it still counts as one use of its filter.
    pub(crate) masks: Option<Option<Arc<Masks>>>,
    /// What the search is bound to, if that was decided at its arrival: a larger database may have been published since it
    /// was found small, and searches that arrive together have one snapshot.
    pub(crate) found: Option<Found>,
    pub(crate) reply: Reply<Page>,
}

/// What is read from the published state of a database.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) snapshot: Arc<Snapshot>,
    /// The row of the record that the cursor names.
    pub(crate) cursor_row: Option<RecordRow>,
    /// The rows of the records that are no results.
    pub(crate) excluded: Vec<RecordRow>,
}

impl Found {
    pub(crate) fn new(published: &Published, request: &Search) -> Self {
        let snapshot = Arc::clone(&published.snapshot);
        let index = &published.index;
        let cursor_row = request
            .cursor
            .and_then(|cursor| index.find(&snapshot, request.common.variant, cursor.id));
        let excluded = request.excluded.iter();
        let excluded = excluded.filter_map(|&id| index.find_id(&snapshot, id));
        Self {
            cursor_row,
            excluded: excluded.collect(),
            snapshot,
        }
    }
}

/// Vectors that a small database has at most: each takes time of its own, however short it is.
const SMALL_COUNT: usize = 4_096;

/// Bytes that the columns of a small database take at most, so that a page is written in such a time. Also the limit for the
/// strings of all its records: columns store a string once, but a page has it for each record.
const SMALL_COLUMNS: usize = 512 << 10;

/// Bytes of the names and the other values of a record of a small database.
const SMALL_RECORD: usize = SMALL_COLUMNS / SMALL_PAGE;

/// Bytes of a value that is no string, at most.
const VALUE_BYTES: usize = 24;

/// The largest page that is written in such a time.
const SMALL_PAGE: usize = 64;

/// Rules and groups of a filter, and bytes of its names and values, that are bound in a few microseconds.
const SMALL_FILTER: (usize, usize) = (16, 1_024);

impl WaitingSearch {
    /// Whether the search usually takes some tens of microseconds, which its filter may add to: it makes a page and nothing
    /// else, and its database is small and in memory. If so, it is bound to the snapshot that was found small.
    ///
    /// It never waits: while a writer publishes, no search is small.
    pub(crate) fn is_small(&mut self) -> bool {
        let request = &self.request;
        let (nodes, bytes) = SMALL_FILTER;
        // A filter is evaluated on the record of the cursor before its cost is known.
        let filter = request.common.filter.as_ref();
        let has_small_filter =
            filter.is_none_or(|filter| request.cursor.is_none() && filter.fits(nodes, bytes));
        let makes_page_only = request.common.limit <= SMALL_PAGE
            && !request.common.counts_all()
            && request.common.distinct.is_none()
            && request.lexical.is_none()
            && request.boosts.is_empty()
            && request.common.explain.is_none()
            && !request.common.writes_vectors();
        if makes_page_only && has_small_filter {
            let published = self.database.published.try_read();
            let published = published.filter(|published| is_small(&published.snapshot));
            self.found = published.map(|published| Found::new(&published, request));
        }
        self.found.is_some()
    }
}

fn is_small(snapshot: &Snapshot) -> bool {
    let (mut count, mut vectors, mut columns, mut texts) = (0, 0, 0, 0);
    for block in &snapshot.blocks {
        // A learned basis takes a product for each pair of dimensions, and a file may wait for the disk.
        if block.coded.basis.is_trained() || !block.exact.is_in_memory() {
            return false;
        }
        count += block.body.rows();
        vectors += block.exact.memory_bytes();
        columns += block.body.columns.memory_bytes();
        if count > SMALL_COUNT || vectors > FEW_VECTOR_BYTES || columns > SMALL_COLUMNS {
            return false;
        }
        // Counted last: it takes a while for many records.
        texts += block.body.columns.text_bytes();
        if texts > SMALL_COLUMNS {
            return false;
        }
    }
    let mut record = 0;
    snapshot.names.iter().all(|(_, name)| {
        record += name.len() + VALUE_BYTES;
        record <= SMALL_RECORD
    })
}
