//! What a search counts over all its matches.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::columns::{ColumnNames, Mask};
use crate::error::Error;
use crate::facets::FacetCounter;
use crate::runtime::StopCheck;
use crate::search::caches::Counted;
use crate::search::common::Common;
use crate::snapshot::Block;

/// Records that are counted in a few milliseconds.
pub(crate) const MAX_COUNTED: usize = 16_384;

/// The total and the facets of a search.
pub(crate) struct MatchCounts {
    /// The counts, if an earlier scan of the snapshot counted them.
    cached: Option<Arc<Counted>>,
    counts_all: bool,
    matches: AtomicU64,
    facets: FacetCounter,
}

impl MatchCounts {
    pub(crate) fn bind(
        request: &Common,
        names: &ColumnNames,
        cached: Option<Arc<Counted>>,
    ) -> Self {
        Self {
            counts_all: request.counts_all() && cached.is_none(),
            cached,
            matches: AtomicU64::new(0),
            facets: FacetCounter::bind(&request.facets, names),
        }
    }

    /// Whether the scan must find every match, not just those of the page.
    pub(crate) fn counts_all(&self) -> bool {
        self.counts_all
    }

    /// Counts the matches of a block. Each block is counted once.
    ///
    /// # Errors
    /// Those of [`FacetCounter::count`].
    pub(crate) fn add(&self, block: &Block, matches: &Mask) -> Result<(), Error> {
        self.matches.fetch_add(matches.count() as u64, Relaxed);
        self.facets.count(block, matches)
    }

    /// The counts of all matches, once every block was scanned. `results` tells how many results the matches are.
    ///
    /// # Errors
    /// Those of [`FacetCounter::write`].
    pub(crate) fn finish(
        &self,
        request: &Common,
        results: impl FnOnce(u64) -> u64,
        stop_check: &StopCheck<'_>,
    ) -> Result<Arc<Counted>, Error> {
        if !self.counts_all {
            return Ok(self.cached.clone().unwrap_or_default());
        }
        let facets = if request.facets.is_empty() {
            Vec::new()
        } else {
            self.facets.write(request.page_bytes, stop_check)?
        };
        let matches = self.matches.load(Relaxed);
        Ok(Arc::new(Counted {
            total: results(matches),
            matches,
            facets,
        }))
    }
}
