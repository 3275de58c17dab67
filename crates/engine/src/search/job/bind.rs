//! Binding a search to a snapshot.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;

use cosift_kernels::Query;

use crate::facets::FacetCounter;
use crate::record::{Position, RecordRow, SCORE_STEPS, Score, q30_to_f32};
use crate::runtime::{StopCheck, StopFlag};
use crate::search::caches::{Ahead, search_key};
use crate::search::explain::Explain;
use crate::search::job::{Counts, Job, Reply};
use crate::search::ranking::Ranking;
use crate::search::request::Search;
use crate::search::searchable::Searchable;
use crate::snapshot::{Block, FileId, Masks, Selection, Snapshot};

/// How far machines may be apart in the score of one record and query.
const SAME_SCORE_STEPS: u32 = SCORE_STEPS / 10_000;

/// A search that waits to be bound.
pub(crate) struct Arrival {
    pub(crate) target: Arc<Searchable>,
    pub(crate) search: Search,
    pub(crate) vector: Vec<i32>,
    pub(crate) stop: StopFlag,
    pub(crate) at: Instant,
    /// What was kept of its filter when the search was first looked at: wherever it is bound then, the filter has
    /// come once.
    pub(crate) known_masks: Option<Option<Arc<Masks>>>,
    pub(crate) reply: Reply,
}

/// The records that a search goes through.
pub(crate) struct Scope {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) selection: Selection,
    /// The row of the record that the cursor names, if the search finds that record.
    cursor_row: Option<RecordRow>,
}

impl Scope {
    /// Binds the filters of a search to the newest snapshot.
    pub(crate) fn of(arrival: &mut Arrival) -> Self {
        let Arrival {
            target,
            search,
            stop,
            known_masks,
            ..
        } = arrival;
        let (snapshot, cursor_row) = {
            let published = target.published.read();
            let snapshot = Arc::clone(&published.snapshot);
            let row = search.cursor.and_then(|cursor| {
                let index = &published.index;
                index.find(&snapshot, search.variant, cursor.id)
            });
            (snapshot, row)
        };
        let mut selection = Selection::bind(&snapshot, search.filter.as_ref(), search.time_range);
        selection.only_with_vector();
        // A caller makes cursors of its own: a record that is hidden from it must not decide a place.
        let stop_check = StopCheck::new(stop);
        let cursor_row =
            cursor_row.filter(|row| selection.holds(snapshot.at(*row), &stop_check) == Ok(true));
        let look = || target.filters.look(search.filter_key, &snapshot);
        selection.keep_in(known_masks.get_or_insert_with(look).clone());
        Self {
            snapshot,
            selection,
            cursor_row,
        }
    }

    /// Whether other searches must not wait for this one.
    pub(crate) fn is_heavy(&self, search: &Search) -> bool {
        let explained = search.explain.as_ref().map_or(0, |_| search.limit);
        self.selection.is_heavy(&self.snapshot, explained)
    }
}

impl Job {
    /// Binds a search: prepares the query per basis, finds the cursor's place, puts off rules that are expensive to
    /// evaluate.
    pub(crate) fn bind(scope: Scope, arrival: Arrival) -> Self {
        let Scope {
            snapshot,
            mut selection,
            cursor_row,
        } = scope;
        let Arrival {
            target,
            search,
            vector,
            stop,
            at: arrived,
            known_masks,
            reply,
        } = arrival;
        let mut floats = Vec::new();
        q30_to_f32(&vector, &mut floats);
        let mut queries: Vec<(FileId, Query)> = Vec::new();
        for block in &snapshot.blocks {
            let basis = &block.coded.basis;
            if queries.iter().all(|(file_id, _)| *file_id != basis.file_id) {
                queries.push((basis.file_id, basis.query(&floats)));
            }
        }
        // No score reaches a threshold above 1: parsing refuses it, so the fallback is never taken.
        let threshold = Score::at_least(search.threshold).unwrap_or(Score(SCORE_STEPS));
        let key = OnceLock::new();
        let known_counts = if search.counts_all() {
            let key = key.get_or_init(|| search_key(&search, &vector));
            target.counts.look(key, &snapshot)
        } else {
            None
        };
        let counts_all = search.counts_all() && known_counts.is_none();
        // Whoever counts all matches needs every rule for every record. A forced rule that is put off
        // would let what it hides into the numbers that explain the search.
        let at_once = counts_all || search.explain.as_ref().is_some_and(Explain::is_scoped);
        let lazy = if at_once || known_masks.flatten().is_some() {
            None
        } else {
            // A search that is stopped finds nothing whatever its rules are.
            let put_off = selection.put_off(&snapshot, &StopCheck::new(&stop));
            put_off.unwrap_or_default()
        };
        let mut job = Self {
            selection,
            lazy,
            ranking: Ranking::new(search.limit + 1, threshold, search.cursor),
            known: None,
            walk: None,
            target,
            key,
            known_counts,
            matches: AtomicU64::new(0),
            facets: FacetCounter::bind(&search.facets, &snapshot.names),
            explain: search
                .explain
                .as_ref()
                .map(|explain| explain.bind(&snapshot.names)),
            failed: Mutex::new(None),
            has_failed: AtomicBool::new(false),
            counts: Counts::default(),
            scan_started: Mutex::new(None),
            reply: Mutex::new(Some(reply)),
            snapshot,
            search,
            queries,
            vector,
            threshold,
            stop,
            arrived,
        };
        job.settle_cursor(cursor_row);
        job.look_ahead();
        // An approximate search may go through few of the blocks.
        if !job.counts_all() && !job.search.approximate {
            let records = job.snapshot.blocks.iter().map(Block::len).sum();
            job.ranking.expect_of(records);
        }
        job
    }

    /// Takes the page from what an earlier scan found, or makes this scan find more than the page.
    fn look_ahead(&mut self) {
        let Some(after) = self.ranking.after().filter(|_| !self.counts_all()) else {
            return;
        };
        let size = self.ranking.size();
        match self
            .target
            .pages
            .look(self.key(), &self.snapshot, after, size)
        {
            Ahead::Known(hits) => self.known = Some(hits),
            Ahead::Scan(size) => self.ranking = Ranking::new(size, self.threshold, Some(after)),
        }
    }

    /// While the search finds the cursor's record, its score under this request decides the place, so that a cursor
    /// works on a machine whose query vector differs in its last bits.
    ///
    /// A score that is another one altogether, since the record or the request is, says nothing about where
    /// the page before ended: then the cursor's own decides.
    fn settle_cursor(&mut self, row: Option<RecordRow>) {
        let (Some(position), Some(row)) = (self.ranking.after(), row) else {
            return;
        };
        let (block, slot) = self.snapshot.at(row);
        match self.score(block, slot) {
            Ok(score) if score.0.abs_diff(position.score.0) <= SAME_SCORE_STEPS => {
                let place = Position {
                    score,
                    id: position.id,
                };
                self.ranking = Ranking::new(self.ranking.size(), self.threshold, Some(place));
            }
            Ok(_) => {}
            Err(error) => self.fail(error),
        }
    }
}
