//! A search bound to a snapshot, and what its workers share.

mod answer;
mod bind;

pub(crate) use bind::{Arrival, Scope};

use std::cell::RefCell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use cosift_kernels::{Candidate, Query};

use crate::approximate::Index;
use crate::columns::Mask;
use crate::error::Error;
use crate::facets::FacetCounter;
use crate::filter::BoundFilter;
use crate::record::{Hit, IdKey, Score, TimeRange};
use crate::runtime::{StopCheck, StopFlag};
use crate::search::caches::{Counted, SearchKey, search_key};
use crate::search::explain::BoundExplain;
use crate::search::page::Page;
use crate::search::ranking::Ranking;
use crate::search::request::Search;
use crate::search::searchable::Searchable;
use crate::search::walk::Walk;
use crate::snapshot::{Block, FileId, Selection, Snapshot, VectorBuffer};

/// Called once with the page or the error.
pub(crate) type Reply = Box<dyn FnOnce(Result<Page, Error>) + Send>;

/// A search bound to a snapshot. Workers scan blocks for it in any order.
pub(crate) struct Job {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) search: Search,
    pub(crate) selection: Selection,
    /// Rules that are dear to test and keep many records: tested on the best ones only.
    lazy: Option<BoundFilter>,
    /// The query in each basis that blocks of the snapshot are coded in.
    queries: Vec<(FileId, Query)>,
    vector: Vec<i32>,
    /// The hits, where an earlier scan found them.
    known: Option<Vec<Hit>>,
    /// What the approximate index has done for it.
    pub(crate) walk: Option<Walk>,
    target: Arc<Searchable>,
    /// Made when it is first asked for: a first page that counts nothing needs none.
    key: OnceLock<SearchKey>,
    threshold: Score,
    pub(crate) ranking: Ranking,
    /// What is counted over all matches, where an earlier scan did.
    known_counts: Option<Arc<Counted>>,
    matches: AtomicU64,
    facets: FacetCounter,
    pub(crate) explain: Option<BoundExplain>,
    failed: Mutex<Option<Error>>,
    has_failed: AtomicBool,
    stop: StopFlag,
    pub(crate) counts: Counts,
    arrived: Instant,
    scan_started: Mutex<Option<Instant>>,
    reply: Mutex<Option<Reply>>,
}

/// What a search went through, for `explain`.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Records compared by the head of their codes.
    pub(crate) scanned: AtomicU64,
    /// Records compared by their full codes.
    pub(crate) refined: AtomicU64,
    /// Records scored exactly.
    pub(crate) scored: AtomicU64,
}

thread_local! {
    static COLD: RefCell<VectorBuffer> = RefCell::default();
}

impl Job {
    fn key(&self) -> &SearchKey {
        self.key
            .get_or_init(|| search_key(&self.search, &self.vector))
    }

    /// Whether there is nothing to scan for.
    pub(crate) fn is_known(&self) -> bool {
        self.known.is_some()
    }

    pub(crate) fn query(&self, block: &Block) -> &Query {
        let basis = block.coded.basis.file_id;
        let bound = self.queries.iter().find(|(file_id, _)| *file_id == basis);
        &bound
            .expect("the query was prepared for every basis of the snapshot")
            .1
    }

    /// The query as scores are made of it.
    pub(crate) fn vector(&self) -> &[i32] {
        &self.vector
    }

    /// The database's approximate index, if it has one by now.
    pub(crate) fn index(&self) -> Option<Arc<Index>> {
        self.target
            .approximation
            .as_ref()
            .and_then(|approximation| approximation.index())
    }

    /// Whether the approximate index has seen to a block.
    pub(crate) fn is_walked(&self, block: &Block) -> bool {
        self.walk.as_ref().is_some_and(|walk| {
            let place = self.snapshot.locate(block.first);
            place.is_some_and(|(at, _)| walk.covers(at))
        })
    }

    /// The canonical score of a record.
    pub(crate) fn score(&self, block: &Block, slot: usize) -> Result<Score, Error> {
        self.counts.scored.fetch_add(1, Relaxed);
        COLD.with_borrow_mut(|buffer| match block.exact.vector(slot, buffer) {
            Ok(vector) => Ok(Score::of(&self.vector, vector)),
            Err(error) => Err(error.into()),
        })
    }

    /// The score below which records are not looked for.
    pub(crate) fn bar(&self) -> Score {
        if self.counts_all() {
            self.threshold
        } else {
            self.ranking.bar()
        }
    }

    /// Whether what was left out cannot matter. Otherwise all blocks are to be scanned once more.
    pub(crate) fn is_certain(&self) -> bool {
        self.is_over() || self.ranking.is_certain()
    }

    /// Makes ready to scan all blocks once more.
    pub(crate) fn start_over(&self) {
        self.ranking.start_over();
        self.counts.scanned.store(0, Relaxed);
    }

    /// The score that the cursor's page ended at: what is above has been on an earlier page.
    pub(crate) fn ceiling(&self) -> Option<Score> {
        if self.counts_all() {
            None
        } else {
            self.ranking.after().map(|position| position.score)
        }
    }

    /// Whether every match must be found, not just those of the page.
    pub(crate) fn counts_all(&self) -> bool {
        self.search.counts_all() && self.known_counts.is_none()
    }

    pub(crate) fn threshold(&self) -> Score {
        self.threshold
    }

    /// Whether a record needs no score where all matches are counted: it surely is one, and too low for
    /// the page. It is then noted in `matches`.
    pub(crate) fn is_settled(&self, candidate: &Candidate, matches: &mut Mask) -> bool {
        let surely = candidate.estimate - candidate.error >= self.threshold.value() as f32;
        let settled = self.counts_all() && surely && !self.ranking.may_enter(candidate);
        if settled {
            matches.set(usize::from(candidate.slot));
        }
        settled
    }

    /// Whether a record satisfies the rules that were put off until now. Once the search is stopped, none does.
    pub(crate) fn passes_lazily(
        &self,
        block: &Block,
        slot: usize,
        stop_check: &StopCheck<'_>,
    ) -> bool {
        self.lazy
            .as_ref()
            .is_none_or(|rules| rules.matches(&block.body.columns, slot, stop_check) == Ok(true))
    }

    /// Ends the tests of filters once the search is stopped.
    pub(crate) fn stop_check(&self) -> StopCheck<'_> {
        StopCheck::new(&self.stop)
    }

    /// Counts the matches of a block, which comes once.
    pub(crate) fn count_matches(&self, block: &Block, matches: &Mask) {
        self.matches.fetch_add(matches.count() as u64, Relaxed);
        self.facets.count(block, matches);
    }

    /// How the search is carried out, for people. A forced filter does not show.
    pub(crate) fn plan(&self) -> &'static str {
        // Why an index was not used may tell how much a forced filter hides.
        let hides = self.explain.as_ref().is_some_and(BoundExplain::is_scoped);
        match &self.walk {
            Some(Walk::Taken { .. }) => return "approximate",
            Some(Walk::Refused { .. }) if hides => return "approximate",
            _ => {}
        }
        let filtered = self.explain.as_ref().is_some_and(BoundExplain::is_filtered);
        if filtered || self.search.time_range != TimeRange::ALWAYS {
            "filtered scan"
        } else {
            "full scan"
        }
    }

    /// Time from arrival to the start of the scan, and since arrival.
    pub(crate) fn times(&self) -> (Duration, Duration) {
        let started = self.scan_started.lock().unwrap_or(self.arrived);
        (started - self.arrived, self.arrived.elapsed())
    }

    pub(crate) fn fail(&self, error: Error) {
        self.failed.lock().get_or_insert(error);
        self.has_failed.store(true, Relaxed);
    }

    /// Whether no more blocks need be scanned.
    pub(crate) fn is_over(&self) -> bool {
        self.has_failed.load(Relaxed) || self.stop.load(Relaxed)
    }

    pub(crate) fn mark_scan_start(&self) {
        self.scan_started.lock().get_or_insert_with(Instant::now);
    }

    /// A record's identity as the request orders by it.
    pub(crate) fn id_key(&self, block: &Block, slot: usize) -> IdKey {
        IdKey::new(self.search.variant, block.id(slot), block.uuid(slot))
    }
}
