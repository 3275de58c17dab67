//! The records that a deletion deletes.
//!
//! A filter that takes long is tested before the writer runs the deletion. The writer then only tests what was written
//! since, because other writes wait for it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::columns::Mask;
use crate::error::Error;
use crate::filter::BoundFilter;
use crate::record::{RecordId, RecordRow, TimeRange};
use crate::runtime::{StopCheck, StopFlag, Stopped};
use crate::snapshot::{Block, Published, PublishedCell, Snapshot};
use crate::write::deletion::Deletion;

/// A deletion and its matches in a snapshot, which need no test in a later snapshot.
#[derive(Clone)]
pub(crate) struct DeletionMatches {
    pub(super) deletion: Arc<Deletion>,
    stop: StopFlag,
    snapshot: Arc<Snapshot>,
    /// Candidates of the snapshot that pass the filter, ascending.
    rows: Vec<RecordRow>,
}

/// The outcome of a deletion.
pub(crate) enum Deleted {
    /// The number of deleted records.
    Records(usize),
    /// Nothing is deleted: so much was written since the matches were found that testing it would block the writer.
    Outdated(DeletionMatches),
}

/// A deletion bound to a newer snapshot, with the candidates to test there.
pub(crate) struct BoundDeletion {
    matches: DeletionMatches,
    snapshot: Arc<Snapshot>,
    filter: Option<BoundFilter>,
    /// One mask for each block of the snapshot.
    candidates: Vec<Mask>,
    /// Candidates that the filter was not tested on yet.
    untested: Vec<Mask>,
}

impl DeletionMatches {
    /// A deletion without any tested record.
    pub(crate) fn untested(deletion: Deletion, stop: StopFlag) -> Self {
        Self {
            deletion: Arc::new(deletion),
            stop,
            snapshot: Arc::new(Snapshot::empty()),
            rows: Vec::new(),
        }
    }

    /// Whether the deletion has no filter, so that its matches need no test.
    pub(crate) fn needs_no_test(&self) -> bool {
        self.deletion.filter.is_none()
    }

    /// Checks the conditions of the deletion on the records of the last snapshot that was tested.
    ///
    /// # Errors
    /// As [`Deletion::check`].
    pub(crate) fn check_conditions(&self, published: &Published) -> Result<(), Error> {
        self.deletion.check(|record| {
            let row = record.find(published)?;
            self.rows.binary_search(&row).ok()?;
            let (block, slot) = self.snapshot.at(row);
            Some((self.snapshot.id_of(row), block.times(slot).changed))
        })
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Binds the deletion to the newest snapshot.
    pub(crate) fn bind(self, published: &PublishedCell) -> BoundDeletion {
        let (snapshot, named) = self.resolve_ids(&published.read());
        self.bind_to(snapshot, named)
    }

    /// The matches in the last snapshot that was tested.
    pub(crate) fn records(&self) -> impl Iterator<Item = (RecordId, RecordRow)> {
        (self.rows.iter()).map(|&row| (self.snapshot.id_of(row), row))
    }

    /// The published snapshot, and the rows of the ids there, if the deletion names ids.
    fn resolve_ids(&self, published: &Published) -> (Arc<Snapshot>, Option<Vec<RecordRow>>) {
        let named = self.deletion.rows_of_ids(published);
        (Arc::clone(&published.snapshot), named)
    }

    fn bind_to(mut self, snapshot: Arc<Snapshot>, named: Option<Vec<RecordRow>>) -> BoundDeletion {
        if self.snapshot.numbering != snapshot.numbering {
            // After a renumbering the row numbers belong to other records.
            self.snapshot = Arc::new(Snapshot::empty());
            self.rows.clear();
        }
        let candidates = self.deletion.candidates(&snapshot, named.as_deref());
        let mut untested = candidates.clone();
        for (block, untested) in snapshot.blocks.iter().zip(&mut untested) {
            let tested = untested.iter().filter(|&slot| self.is_tested(block, slot));
            let tested: Mask = tested.collect();
            untested.and_not(&tested);
        }
        let is_new = untested.iter().any(|untested| !untested.is_empty());
        let filter = if is_new {
            self.deletion.bind_filter(&snapshot)
        } else {
            None
        };
        BoundDeletion {
            filter,
            matches: self,
            snapshot,
            candidates,
            untested,
        }
    }

    /// Whether the filter was tested on a living record. The row decides, because a record with other content has
    /// another row.
    fn is_tested(&self, block: &Block, slot: usize) -> bool {
        let row = block.row(slot);
        if self.deletion.time_range == TimeRange::ALWAYS {
            return row < self.snapshot.next_row();
        }
        let TimeRange { start, end } = self.deletion.time_range;
        self.snapshot.locate(row).is_some_and(|(at, slot)| {
            (start..=end).contains(&self.snapshot.blocks[at].synced.get(slot))
        })
    }
}

impl BoundDeletion {
    /// Estimates the nanoseconds that [`BoundDeletion::test`] takes.
    pub(crate) fn cost(&self) -> f64 {
        let Some(filter) = &self.filter else {
            return 0.0;
        };
        let parts = self.snapshot.blocks.iter().zip(&self.untested);
        parts
            .filter(|(_, untested)| !untested.is_empty())
            .map(|(block, untested)| {
                let share = untested.count() as f64 / block.len() as f64;
                filter.cost(&block.body.columns) * share
            })
            .sum()
    }

    /// Tests the filter on the untested candidates.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn test(self) -> Result<DeletionMatches, Stopped> {
        let Self {
            mut matches,
            snapshot,
            filter,
            candidates,
            untested,
        } = self;
        let stop = Arc::clone(&matches.stop);
        let stop_check = StopCheck::new(&stop);
        let mut rows = Vec::new();
        let mut known = matches.rows.iter().peekable();
        let parts = snapshot.blocks.iter().zip(&candidates).zip(&untested);
        for (at, ((block, candidates), untested)) in parts.enumerate() {
            let mut passing = untested.clone();
            if let Some(filter) = filter.as_ref().filter(|_| !untested.is_empty()) {
                passing = filter.mask(&block.body.columns, untested, &stop_check)?;
            }
            while let Some(row) = known.next_if(|&&row| row < block.row(block.len())) {
                // The row of a record that was deleted may be between two blocks.
                if let Some((_, slot)) = snapshot.locate(*row).filter(|&(found, _)| found == at)
                    && candidates.get(slot)
                {
                    passing.set(slot);
                }
            }
            rows.extend(passing.iter().map(|slot| block.row(slot)));
        }
        matches.rows = rows;
        matches.snapshot = snapshot;
        Ok(matches)
    }

    /// The matches from before the deletion was bound.
    pub(crate) fn into_matches(self) -> DeletionMatches {
        self.matches
    }
}
