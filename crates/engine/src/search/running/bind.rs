//! Binding a search to a snapshot.

use std::sync::Arc;

use crate::record::{Hit, PageStart, SCORE_STEPS, Score};
use crate::runtime::StopCheck;
use crate::search::blend::Blend;
use crate::search::caches::{CachedPage, search_key};
use crate::search::distinct::{ColumnGroups, DistinctMatches};
use crate::search::explain::Explain;
use crate::search::ranking::Ranking;
use crate::search::running::match_counts::MatchCounts;
use crate::search::running::outcome::Outcome;
use crate::search::running::query_vector::QueryVector;
use crate::search::running::scope::Scope;
use crate::search::running::search::{CachedResults, RunningSearch};
use crate::search::running::waiting::WaitingSearch;
use crate::search::running::work::{Counters, Timing};
use crate::snapshot::Block;

/// The largest difference between two scores of the same record for the same query text on two machines. The scores differ
/// because the query vectors do.
const SAME_SCORE_STEPS: u32 = SCORE_STEPS / 10_000;

impl RunningSearch {
    /// Binds a search: prepares the query for each basis, finds the cursor's position, defers rules that are expensive
    /// to evaluate, and looks into the caches.
    pub(crate) fn bind(mut scope: Scope, blend: Option<Blend>, waiting: WaitingSearch) -> Self {
        let WaitingSearch {
            database,
            request,
            vector,
            is_of_batch,
            stop,
            arrived,
            masks,
            found: _,
            reply,
        } = waiting;
        let snapshot = Arc::clone(&scope.snapshot);
        let key = (request.common.counts_all() || request.cursor.is_some())
            .then(|| search_key(&request.common.request_hash, &vector));
        let counts = key
            .filter(|_| request.common.counts_all())
            .and_then(|key| database.counts.get(&key, &snapshot));
        let match_counts = MatchCounts::bind(&request.common, &snapshot.names, counts);
        // A search that finds all matches needs every rule for every record. A deferred forced rule would let hidden
        // records into the numbers of `explain`.
        let is_scoped = request
            .common
            .explain
            .as_ref()
            .is_some_and(Explain::is_scoped);
        let has_masks = masks.flatten().is_some();
        let groups = request.common.distinct.as_ref().map(|distinct| {
            let cache = &database.groups;
            let of_records = ColumnGroups::of(distinct, &snapshot, cache, &StopCheck::new(&stop))?;
            let variant = request.common.variant;
            Ok(DistinctMatches::new(&snapshot, variant, of_records))
        });
        let (groups, error) = match groups.transpose() {
            Ok(groups) => (groups, None),
            Err(error) => (None, Some(error)),
        };
        if !match_counts.counts_all() && groups.is_none() && !is_scoped && !has_masks {
            scope.defer_rules(&StopCheck::new(&stop));
        }
        // No score reaches a threshold above 1: parsing refuses it, so the fallback is never taken.
        let threshold = Score::at_least(request.threshold).unwrap_or(Score(SCORE_STEPS));
        let start = request.cursor.map(PageStart::after);
        let explain = request.common.explain.as_ref();
        let mut search = Self {
            ranking: Ranking::new(request.common.limit + 1, threshold, start),
            query: QueryVector::new(vector, &snapshot),
            blend,
            explain: explain.map(|explain| explain.bind(&snapshot.names)),
            cached: CachedResults { key, hits: None },
            counters: Counters::default(),
            timing: Timing::new(arrived),
            outcome: Outcome::new(stop, reply),
            database,
            request,
            is_of_batch,
            scope,
            match_counts,
            groups,
        };
        if let Some(error) = error {
            search.outcome.fail(error);
        }
        search.move_start_to_record();
        search.look_into_page_cache();
        if !search.counts_all() {
            let records = snapshot.blocks.iter().map(Block::len).sum();
            search.ranking.estimate_floor_of(records);
        }
        search
    }

    /// Takes the page from what an earlier scan found, or makes this scan find more than the page.
    fn look_into_page_cache(&mut self) {
        let counts_all = self.match_counts.counts_all();
        let (Some(start), Some(key), false) = (self.ranking.start(), self.cached.key, counts_all)
        else {
            return;
        };
        let size = self.ranking.size();
        let after = *start.position();
        let source = (&key, &self.scope.snapshot);
        let first = |hits: &[(Hit, u32)]| {
            let at = hits.binary_search_by(|(hit, _)| hit.position.cmp(&after));
            Some(at.ok()? + 1)
        };
        match self.database.pages.get(source, after, size, first) {
            CachedPage::Found(hits) => self.cached.hits = Some(hits),
            CachedPage::Scan(size) => {
                self.ranking = Ranking::new(size, self.ranking.threshold(), Some(start));
            }
        }
    }

    /// Starts the page at the score that the cursor's record has under this request, if the search finds the record: so a
    /// cursor works on a machine whose query vector differs in its last bits.
    ///
    /// A larger difference means that the record or the request has changed. Then the record's score does not tell where
    /// the page before ended, and the cursor's own score decides.
    fn move_start_to_record(&mut self) {
        let (Some(start), Some(row)) = (self.ranking.start(), self.scope.cursor_row) else {
            return;
        };
        let (block, slot) = self.scope.snapshot.at(row);
        let mut position = *start.position();
        match self.score(block, slot) {
            Ok(score) if score.0.abs_diff(position.score.0) <= SAME_SCORE_STEPS => {
                position.score = score;
                let start = Some(PageStart::after(position));
                self.ranking = Ranking::new(self.ranking.size(), self.ranking.threshold(), start);
            }
            Ok(_) => {}
            Err(error) => self.outcome.fail(error),
        }
    }
}
