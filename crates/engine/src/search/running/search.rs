//! A search bound to a snapshot, and what the scan threads share of it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::columns::Mask;
use crate::error::Error;
use crate::record::{Extra, Hit, IdKey, Position, Score};
use crate::search::blend::Blend;
use crate::search::bounds::ScoreBounds;
use crate::search::caches::SearchKey;
use crate::search::distinct::DistinctMatches;
use crate::search::explain::BoundExplain;
use crate::search::ranking::Ranking;
use crate::search::request::Search;
use crate::search::running::match_counts::{MAX_COUNTED, MatchCounts};
use crate::search::running::outcome::Outcome;
use crate::search::running::query_vector::QueryVector;
use crate::search::running::scope::Scope;
use crate::search::running::work::{Counters, Timing};
use crate::search::searchable::Searchable;
use crate::snapshot::{Block, Snapshot};

/// A search bound to a snapshot. Threads scan blocks for it in any order.
pub(crate) struct RunningSearch {
    pub(crate) database: Arc<Searchable>,
    pub(crate) request: Search,
    pub(crate) is_of_batch: bool,
    pub(crate) scope: Scope,
    pub(crate) query: QueryVector,
    /// `None` for a search whose scores are cosines.
    pub(crate) blend: Option<Blend>,
    pub(crate) ranking: Ranking,
    pub(crate) match_counts: MatchCounts,
    /// The groups of the matches, if the request asks for distinct values.
    pub(crate) groups: Option<DistinctMatches>,
    pub(crate) cached: CachedResults,
    pub(crate) explain: Option<BoundExplain>,
    pub(crate) counters: Counters,
    pub(crate) timing: Timing,
    pub(crate) outcome: Outcome,
}

/// The key of a search in the caches, and the hits that were found there.
pub(crate) struct CachedResults {
    /// `None` for a first page that counts nothing: it takes nothing from the caches and leaves nothing in them.
    pub(crate) key: Option<SearchKey>,
    /// The hits with the sizes of their groups, if an earlier scan found them.
    pub(crate) hits: Option<Vec<(Hit, u32)>>,
}

impl RunningSearch {
    pub(crate) fn snapshot(&self) -> &Arc<Snapshot> {
        &self.scope.snapshot
    }

    /// Whether the scores have a lexical part.
    pub(crate) fn has_words(&self) -> bool {
        self.request.lexical.is_some()
    }

    /// Whether the hits are known without a scan.
    pub(crate) fn is_cached(&self) -> bool {
        self.cached.hits.is_some()
    }

    /// Whether the scan must find every match, not just those of the page.
    pub(crate) fn counts_all(&self) -> bool {
        self.groups.is_some() || self.match_counts.counts_all()
    }

    /// Whether the search counts so many records that other searches must not wait for this one. To write a facet is one
    /// step, however many records were counted.
    pub(crate) fn counts_many(&self) -> bool {
        self.counts_all() && self.snapshot().records() > MAX_COUNTED
    }

    /// Whether the scan counts the facets or the groups of many records.
    pub(crate) fn holds_many_counts(&self) -> bool {
        self.counts_many() && (self.groups.is_some() || !self.request.common.facets.is_empty())
    }

    /// The canonical score of a record.
    ///
    /// # Errors
    /// When the record's vector can't be read; [`Error::Stopped`].
    pub(crate) fn score(&self, block: &Block, slot: usize) -> Result<Score, Error> {
        let cosine = self.cosine(block, slot)?;
        let Some(blend) = &self.blend else {
            return Ok(cosine);
        };
        let parts = blend.parts(block, slot, &self.outcome.stop_check())?;
        Ok(blend.cosine.blend(cosine, blend.extra(&parts)))
    }

    /// The cosine of the query and a record, clamped to 0..1.
    ///
    /// # Errors
    /// When the record's vector can't be read.
    pub(crate) fn cosine(&self, block: &Block, slot: usize) -> Result<Score, Error> {
        self.counters.scored.fetch_add(1, Relaxed);
        self.query.score(block, slot)
    }

    /// The score of a record with this cosine and these other parts, if scores have several parts.
    pub(crate) fn blended(&self, cosine: Score, extra: Extra) -> Score {
        let blend = self.blend.as_ref();
        blend.map_or(cosine, |blend| blend.cosine.blend(cosine, extra))
    }

    /// A record as a hit with its score.
    pub(crate) fn hit(&self, block: &Block, slot: usize, score: Score) -> Hit {
        let id = IdKey::new(
            self.request.common.variant,
            block.id(slot),
            block.uuid(slot),
        );
        Hit {
            position: Position { score, id },
            row: block.row(slot),
        }
    }

    /// The lowest and the highest score that the scan looks for.
    pub(crate) fn needed_scores(&self) -> (Score, Option<Score>) {
        if self.counts_all() {
            return (self.ranking.threshold(), None);
        }
        // A record above the score of the cursor is on an earlier page.
        let ceiling = self.ranking.start().map(|start| start.position().score);
        (self.ranking.floor(), ceiling)
    }

    /// Whether a record certainly matches and certainly does not enter the page, so that a search that counts all
    /// matches needs no score of it.
    pub(crate) fn needs_no_score(&self, bounds: &ScoreBounds) -> bool {
        self.counts_all()
            && bounds.lowest >= self.ranking.threshold()
            && !self.ranking.may_enter(bounds)
    }

    /// Whether the records that the scan left out can't change the page. Otherwise every block must be scanned again.
    pub(crate) fn is_complete(&self) -> bool {
        self.outcome.is_over() || self.ranking.estimate_held()
    }

    /// Prepares for a second scan of every block.
    pub(crate) fn restart(&self) {
        self.ranking.restart_without_estimate();
        self.counters.scanned.store(0, Relaxed);
    }

    /// Counts the matches of a block, if the search counts all matches.
    pub(crate) fn count_matches(&self, block: &Block, matches: &Mask) {
        let of_groups = self
            .groups
            .as_ref()
            .map(|groups| groups.count(block, matches));
        let of_all =
            (self.match_counts.counts_all()).then(|| self.match_counts.add(block, matches));
        for counted in of_groups.into_iter().chain(of_all) {
            if let Err(error) = counted {
                self.outcome.fail(error);
            }
        }
    }
}
