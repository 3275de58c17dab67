//! Running a filter-only request on a snapshot.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use crate::error::Error;
use crate::facets::FacetCounter;
use crate::record::{PageStart, Ranked, RecordRow};
use crate::runtime::{StopCheck, StopFlag};
use crate::search::caches::{CachedPage, Counted};
use crate::search::distinct::{ColumnGroups, DistinctRecords};
use crate::search::explain::Report;
use crate::search::listing::first_records::{FirstRecords, RankedRecord};
use crate::search::listing::key_range::KeyRange;
use crate::search::listing::position::ListingPosition;
use crate::search::listing::request::Query;
use crate::search::listing::sort_key::Rank;
use crate::search::page::{Page, PageContent};
use crate::search::running::MAX_COUNTED;
use crate::search::searchable::Searchable;
use crate::snapshot::{EXPENSIVE_NS, Selection, Snapshot};

/// A record of a page, and how many matches have its value, if the request asks for it.
type Listed<'a> = (Ranked<ListingPosition<'a>>, u32);

/// A filter-only request, bound to a snapshot.
pub(crate) struct BoundQuery {
    target: Arc<Searchable>,
    query: Query,
    snapshot: Arc<Snapshot>,
    selection: Selection,
    /// Where the page begins; `None` for a first page.
    start: Option<PageStart<ListingPosition<'static>>>,
    arrived: Instant,
    stop: StopFlag,
}

impl Query {
    /// Binds the query to the newest snapshot.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor whose position can't be found any more; [`Error::Stopped`].
    pub(crate) fn bind(
        self,
        target: &Arc<Searchable>,
        stop: StopFlag,
    ) -> Result<BoundQuery, Error> {
        let arrived = Instant::now();
        let (snapshot, named) = {
            let published = target.published.read();
            let cursor = self.cursor.as_ref();
            let named = cursor.map(|cursor| (cursor, cursor.rows(&published, self.common.variant)));
            (Arc::clone(&published.snapshot), named)
        };
        let stop_check = &StopCheck::new(&stop);
        let start = named.map(|(cursor, rows)| self.start_of(cursor, &snapshot, &rows, stop_check));
        let start = start.transpose()?;
        let common = &self.common;
        let mut selection = Selection::bind(&snapshot, common.filter.as_ref(), common.time_range);
        if common.map {
            selection.require_vector();
        }
        selection.use_masks(target.filters.get(common.filter_key, &snapshot));
        Ok(BoundQuery {
            target: Arc::clone(target),
            query: self,
            snapshot,
            selection,
            start,
            arrived,
            stop,
        })
    }
}

impl BoundQuery {
    /// Whether the query takes so long that other queries must not wait for this one.
    pub(crate) fn is_expensive(&self) -> bool {
        let common = &self.query.common;
        let counts = common.distinct.is_some() || !common.facets.is_empty();
        let counts_many = counts && self.snapshot.records() > MAX_COUNTED;
        let selection = &self.selection;
        common.writes_vectors()
            || counts_many
            || selection.takes_longer(EXPENSIVE_NS, &self.snapshot, common.explained())
    }

    /// Runs the query.
    ///
    /// # Errors
    /// [`Error::Stopped`] once the stop flag is set; [`Error::Invalid`] when a facet has more intervals than a
    /// response holds.
    pub(crate) fn run(&self) -> Result<Page, Error> {
        let (snapshot, request) = (&*self.snapshot, &self.query.common);
        let (records, counted) = self.find()?;
        let (records, group_sizes): (Vec<_>, Vec<u32>) = records.into_iter().unzip();
        let scan = self.arrived.elapsed();
        let explain = request.explain.as_ref();
        let explain = explain.map(|explain| explain.bind(&snapshot.names));
        let report = || Report {
            records: None,
            counters: vec![("matches", counted.matches)],
            arrived: self.arrived,
            waited: None,
            scan,
            of_all_records: Vec::new(),
        };
        let content = PageContent {
            request,
            snapshot,
            fingerprint: self.target.fingerprint.as_deref(),
            records: &records,
            total: request.total.then_some(counted.total),
            facets: (!request.facets.is_empty()).then_some(&counted.facets),
            group_sizes: request.shows_groups().then_some(&group_sizes),
            passages: None,
            highlights: None,
            explain: explain.as_ref().map(|explain| (explain, report())),
            score_parts: Vec::new(),
        };
        let body = content.write(&StopCheck::new(&self.stop))?;
        Ok(Page::new(body, self.arrived))
    }

    /// The records of the page in order, with those that its cursor may have to name and the sizes of their groups, and what
    /// the query counts. Both are taken from an earlier scan if possible.
    fn find(&self) -> Result<(Vec<Listed<'_>>, Arc<Counted>), Error> {
        let Self {
            query,
            snapshot,
            target,
            ..
        } = self;
        let size = query.common.limit + 1 + query.sort.records_after_page();
        if query.common.explain.is_some() || query.common.map {
            return self.scan(size);
        }
        let key = query.common.request_hash;
        let counted = match query.common.counts_all() {
            true => target.counts.get(&key, snapshot),
            false => Some(Arc::default()),
        };
        let Some(start) = &self.start else {
            let (records, scanned) = self.scan(size)?;
            self.cache_counts(&scanned);
            return Ok((records, scanned));
        };
        let sort = query.sort.bind(&snapshot.names);
        let ranked = |row| {
            let (block, slot) = snapshot.at(row);
            let position = sort.position(block, slot, query.common.variant);
            Ranked { position, row }
        };
        let first = |rows: &[(RecordRow, u32)]| {
            let at = rows.partition_point(|&(row, _)| !start.admits(&ranked(row).position));
            // Other records may come between the start and the first of the rows.
            (at > 0).then_some(at)
        };
        let page = target
            .listed
            .get((&key, snapshot), query.cursor_hash, size, first);
        let size = match (page, counted) {
            (CachedPage::Found(rows), Some(counted)) => {
                let rows = rows.into_iter().map(|(row, size)| (ranked(row), size));
                return Ok((rows.collect(), counted));
            }
            (CachedPage::Found(_), None) => size,
            (CachedPage::Scan(size), _) => size,
        };
        let (records, scanned) = self.scan(size)?;
        let rows: Vec<_> = (records.iter().map(|(record, size)| (record.row, *size))).collect();
        target
            .listed
            .insert(key, snapshot, query.cursor_hash, &rows, size);
        self.cache_counts(&scanned);
        Ok((records, scanned))
    }

    fn cache_counts(&self, counted: &Arc<Counted>) {
        if self.query.common.counts_all() {
            let key = self.query.common.request_hash;
            self.target.counts.insert(key, &self.snapshot, counted);
        }
    }

    /// The first `size` records from the start of the page on with the sizes of their groups, and what the query counts.
    fn scan<'s>(&'s self, size: usize) -> Result<(Vec<Listed<'s>>, Arc<Counted>), Error> {
        let Self {
            query, snapshot, ..
        } = self;
        let common = &query.common;
        let stop_check = &StopCheck::new(&self.stop);
        let facets = FacetCounter::bind(&common.facets, &snapshot.names);
        let distinct = common.distinct.as_ref();
        let groups = distinct.map(|distinct| {
            let cache = &self.target.groups;
            let of_records = ColumnGroups::of(distinct, snapshot, cache, stop_check)?;
            DistinctRecords::new(snapshot, of_records)
        });
        let mut groups = groups.transpose()?;
        let sort = query.sort.bind(&snapshot.names);
        let start = self.start.as_ref();
        let start_rank = start.map(|start| start.position().rank());
        let position = |row: RecordRow| {
            let (block, slot) = snapshot.at(row);
            sort.position(block, slot, common.variant)
        };
        let mut first = FirstRecords::new(size);
        let mut matches = 0;
        let offer = |first: &mut FirstRecords<'s>, rank: Rank, row: RecordRow| {
            // The rank alone decides about most of the records.
            if start_rank.is_some_and(|start| rank < start)
                || first.last().is_some_and(|last| rank > last.rank)
            {
                return;
            }
            let position = position(row);
            if start.is_some_and(|start| !start.admits(&position)) {
                return;
            }
            let record = Ranked { position, row };
            let record = RankedRecord { rank, record };
            if first.last().is_none_or(|last| record < *last) {
                first.push(record);
            }
        };
        for (at, block) in snapshot.blocks.iter().enumerate() {
            if self.stop.load(Relaxed) {
                return Err(Error::Stopped);
            }
            let mut mask = self.selection.mask(block, stop_check)?;
            matches += mask.count() as u64;
            facets.count(block, &mask)?;
            let keys = sort.keys(block);
            let rank = |slot: usize| keys.at(slot).rank(sort.is_descending());
            if let Some(groups) = &mut groups {
                let precedes = |a, b| position(a) < position(b);
                mask = groups.add((at, block), &mask, rank, precedes);
            }
            KeyRange::new(
                start.map(|start| &start.position().key),
                first.last().map(|last| &last.record.position.key),
                sort.is_descending(),
            )
            .narrow(&keys, &mut mask);
            for slot in mask.iter() {
                offer(&mut first, rank(slot), block.row(slot));
            }
        }
        for (rank, row) in groups.iter().flat_map(DistinctRecords::firsts) {
            offer(&mut first, rank, row);
        }
        let facets = match common.facets.as_slice() {
            [] => Vec::new(),
            _ => facets.write(common.page_bytes, stop_check)?,
        };
        let counted = Counted {
            total: groups
                .as_ref()
                .map_or(matches, |groups| groups.results(matches)),
            matches,
            facets,
        };
        let shown = groups.as_ref().filter(|_| common.shows_groups());
        let size_of = |row| shown.map_or(0, |groups| groups.matches_with(row));
        let records = first.into_sorted().into_iter();
        let records = records.map(|record| {
            let size = size_of(record.row);
            (record, size)
        });
        Ok((records.collect(), Arc::new(counted)))
    }
}
