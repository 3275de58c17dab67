//! A search bound to a snapshot, and what its workers share.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use cosift_kernels::{Candidate, Query};

use crate::approximate::{Approximation, Index, Walk};
use crate::block::Block;
use crate::cold::ColdBuffer;
use crate::database::{Database, Published};
use crate::defect::message;
use crate::error::Error;
use crate::explain::{BoundExplain, Explain};
use crate::facets::FacetCounter;
use crate::filter::BoundFilter;
use crate::hash::content_hash;
use crate::identity::IdKey;
use crate::mask::Mask;
use crate::rank::{Hit, Position};
use crate::score::{SCORE_STEPS, Score, q30_to_f32};
use crate::search::counted::Counted;
use crate::search::page::{self, Page};
use crate::search::ranking::Ranking;
use crate::search::request::{Search, TimeRange};
use crate::search::windows::{Ahead, SearchKey};
use crate::select::Selection;
use crate::serial::Serial;
use crate::snapshot::Snapshot;

/// How far machines may be apart in the score of one record and query.
const SAME_SCORE_STEPS: u32 = SCORE_STEPS / 10_000;

/// Called once with the page or the error.
pub(crate) type Reply = Box<dyn FnOnce(Result<Page, Error>) + Send>;

/// Set by a caller who no longer wants the answer; looked at between blocks.
pub type StopFlag = Arc<AtomicBool>;

/// A search bound to a snapshot. Workers scan blocks for it in any order.
pub(crate) struct Job {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) search: Search,
    pub(crate) selection: Selection,
    /// Rules that are dear to test and keep many records: tested on the best ones only.
    lazy: Option<BoundFilter>,
    /// The query in each basis that blocks of the snapshot are coded in.
    queries: Vec<(Serial, Query)>,
    vector: Vec<i32>,
    /// The hits, where an earlier scan found them.
    known: Option<Vec<Hit>>,
    /// What the approximate index has done for it.
    pub(crate) walk: Option<Walk>,
    database: Arc<Database>,
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
    static COLD: RefCell<ColdBuffer> = RefCell::default();
}

impl Job {
    /// Binds a search: resolves columns, prepares the query per basis, finds the cursor's place.
    pub(crate) fn bind(
        database: &Arc<Database>,
        published: &Published,
        search: Search,
        vector: Vec<i32>,
        stop: StopFlag,
        arrived: Instant,
        reply: Reply,
    ) -> Self {
        let snapshot = Arc::clone(&published.snapshot);
        let mut floats = Vec::new();
        q30_to_f32(&vector, &mut floats);
        let mut queries: Vec<(Serial, Query)> = Vec::new();
        for block in &snapshot.blocks {
            let basis = &block.coded.basis;
            if queries.iter().all(|(serial, _)| *serial != basis.serial) {
                queries.push((basis.serial, basis.query(&floats)));
            }
        }
        // No score reaches a threshold above 1: parsing refuses it, so the fallback is never taken.
        let threshold = Score::at_least(search.threshold).unwrap_or(Score(SCORE_STEPS));
        let key = OnceLock::new();
        let known_counts = if search.counts_all() {
            let key = key.get_or_init(|| search_key(&search, &vector));
            database.known_counts.look(key, &snapshot)
        } else {
            None
        };
        let counts_all = search.counts_all() && known_counts.is_none();
        let mut selection = Selection::bind(&snapshot, search.filter.as_ref(), search.time_range);
        // Whoever counts all matches needs every rule for every record. A forced rule that is put off
        // would let what it hides into the numbers that explain the search.
        let at_once = counts_all || search.explain.as_ref().is_some_and(Explain::is_scoped);
        let lazy = if at_once {
            None
        } else {
            selection.put_off(&snapshot)
        };
        let mut job = Self {
            selection,
            lazy,
            ranking: Ranking::new(search.limit + 1, threshold, search.cursor),
            known: None,
            walk: None,
            database: Arc::clone(database),
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
        job.settle_cursor(published);
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
            .database
            .windows
            .look(self.key(), &self.snapshot, after, size)
        {
            Ahead::Known(hits) => self.known = Some(hits),
            Ahead::Scan(size) => self.ranking = Ranking::new(size, self.threshold, Some(after)),
        }
    }

    fn key(&self) -> &SearchKey {
        self.key
            .get_or_init(|| search_key(&self.search, &self.vector))
    }

    /// Whether there is nothing to scan for.
    pub(crate) fn is_known(&self) -> bool {
        self.known.is_some()
    }

    /// While the cursor's record exists, its score under this request decides the place, so that a cursor
    /// works on a machine whose query vector differs in its last bits.
    ///
    /// A score that is another one altogether, since the record or the request is, says nothing about where
    /// the page before ended: then the cursor's own decides.
    fn settle_cursor(&mut self, published: &Published) {
        let Some(position) = self.ranking.after() else {
            return;
        };
        let Some(row) = published
            .index
            .find(&self.snapshot, self.search.variant, position.id)
        else {
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

    pub(crate) fn query(&self, block: &Block) -> &Query {
        let basis = block.coded.basis.serial;
        let bound = self.queries.iter().find(|(serial, _)| *serial == basis);
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
        self.database.approximation().and_then(Approximation::index)
    }

    /// Whether the approximate index has seen to a block.
    pub(crate) fn is_walked(&self, block: &Block) -> bool {
        self.walk.as_ref().is_some_and(|walk| {
            let place = self.snapshot.locate(block.body.first);
            place.is_some_and(|(at, _)| walk.covers(at))
        })
    }

    /// The canonical score of a record.
    pub(crate) fn score(&self, block: &Block, slot: usize) -> Result<Score, Error> {
        self.counts.scored.fetch_add(1, Relaxed);
        COLD.with_borrow_mut(|buffer| match block.cold.vector(slot, buffer) {
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

    /// Whether a record satisfies the rules that were put off until now.
    pub(crate) fn passes_lazily(&self, block: &Block, slot: usize) -> bool {
        self.lazy
            .as_ref()
            .is_none_or(|rules| rules.matches(&block.body.columns, slot))
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
        let started = self
            .scan_started
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .unwrap_or(self.arrived);
        (started - self.arrived, self.arrived.elapsed())
    }

    pub(crate) fn fail(&self, error: Error) {
        self.failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
        self.has_failed.store(true, Relaxed);
    }

    /// Whether no more blocks need be scanned.
    pub(crate) fn is_over(&self) -> bool {
        self.has_failed.load(Relaxed) || self.stop.load(Relaxed)
    }

    pub(crate) fn mark_scan_start(&self) {
        self.scan_started
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(Instant::now);
    }

    /// Answers with the page or the error. Later calls do nothing.
    pub(crate) fn finish(&self) {
        if let Some(reply) = self
            .reply
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            let page = catch_unwind(AssertUnwindSafe(|| self.page()));
            reply(page.unwrap_or_else(|panic| {
                Err(Error::Defect {
                    detail: message(&*panic),
                })
            }));
        }
    }

    /// The hits of the page, in order, and what was found beyond it.
    fn hits(&self) -> Result<Vec<Hit>, Error> {
        if let Some(known) = &self.known {
            return Ok(known.clone());
        }
        let hits = self.ranking.settle(|row| {
            let (block, slot) = self.snapshot.at(row);
            Ok(Position {
                score: self.score(block, slot)?,
                id: self.id_key(block, slot),
            })
        })?;
        if let Some(after) = self.ranking.after().filter(|_| !self.counts_all()) {
            let size = self.ranking.size();
            self.database
                .windows
                .keep(*self.key(), &self.snapshot, after, &hits, size);
        }
        Ok(hits)
    }

    /// What the search counts over all its matches.
    fn counted(&self) -> Result<Arc<Counted>, Error> {
        if let Some(known) = &self.known_counts {
            return Ok(Arc::clone(known));
        }
        let counted = Arc::new(Counted {
            total: self.matches.load(Relaxed),
            facets: if self.search.facets.is_empty() {
                Vec::new()
            } else {
                self.facets.write()?
            },
        });
        if self.counts_all() {
            self.database
                .known_counts
                .keep(*self.key(), &self.snapshot, &counted);
        }
        Ok(counted)
    }

    /// A record's identity as the request orders by it.
    pub(crate) fn id_key(&self, block: &Block, slot: usize) -> IdKey {
        IdKey::new(self.search.variant, block.id(slot), block.uuid(slot))
    }

    fn page(&self) -> Result<Page, Error> {
        if let Some(error) = self
            .failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            return Err(error);
        }
        if self.stop.load(Relaxed) {
            return Err(Error::Stopped);
        }
        let scan = self
            .scan_started
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .map(|start| start.elapsed());
        let hits = self.hits()?;
        let shown = &hits[..hits.len().min(self.search.limit + 1)];
        let counted = self.counted()?;
        let body = page::write_search(self, shown, &counted, scan.unwrap_or_default());
        Ok(Page {
            body,
            scan_micros: scan.unwrap_or_default().as_micros() as u64,
            total_micros: self.arrived.elapsed().as_micros() as u64,
        })
    }
}

/// What other pages of the same search have in common with it.
fn search_key(search: &Search, vector: &[i32]) -> SearchKey {
    let vector: Vec<u8> = vector
        .iter()
        .flat_map(|component| component.to_le_bytes())
        .collect();
    content_hash(&[&search.alike, &vector])
}
