//! The groups of a search, whose matches have bounds of their scores.

use std::cmp::Reverse;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::columns::Mask;
use crate::error::Error;
use crate::facets::TallyMemory;
use crate::record::{Hit, IdKey, RecordRow, Score, Variant};
use crate::search::best_scores::BestScores;
use crate::search::bounds::ScoreBounds;
use crate::search::distinct::best_groups::BestGroups;
use crate::search::distinct::column_groups::{ColumnGroups, too_many_values};
use crate::search::ranking::Ranking;
use crate::snapshot::{Block, Snapshot};

/// A match of a block, its score between two bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedMatch {
    pub(crate) slot: usize,
    pub(crate) bounds: ScoreBounds,
}

/// The groups of the matches of a search, shared by the scan threads.
pub(crate) struct DistinctMatches {
    snapshot: Arc<Snapshot>,
    variant: Variant,
    of_records: Arc<ColumnGroups>,
    groups: Mutex<Groups>,
    memory: TallyMemory,
}

#[derive(Default)]
struct Groups {
    /// By the number of the group; empty until the first match, so that searches that wait take no memory.
    first: Vec<Contenders>,
    contenders: Vec<Contender>,
    best: BestGroups,
    /// Matches in groups.
    matches: u64,
    /// Groups with a match.
    len: u64,
}

/// The matches of a group that may be its first one: a list in `contenders`.
struct Contenders {
    /// All matches of the group.
    matches: u32,
    /// The first of the list, [`NONE`] for an empty one.
    head: u32,
    /// A score that one of them certainly reaches.
    lowest: Score,
    /// A score that none of them exceeds.
    highest: Score,
}

impl Default for Contenders {
    fn default() -> Self {
        Self {
            matches: 0,
            head: NONE,
            lowest: Score(0),
            highest: Score(0),
        }
    }
}

struct Contender {
    row: RecordRow,
    bounds: ScoreBounds,
    next: u32,
}

const NONE: u32 = u32::MAX;

impl DistinctMatches {
    /// `variant` decides the order of matches with the same score.
    pub(crate) fn new(
        snapshot: &Arc<Snapshot>,
        variant: Variant,
        of_records: Arc<ColumnGroups>,
    ) -> Self {
        Self {
            snapshot: Arc::clone(snapshot),
            variant,
            of_records,
            groups: Mutex::default(),
            memory: TallyMemory::default(),
        }
    }

    /// Adds matches of a block that may be the first ones of their groups, and returns those without a value. Raises the
    /// score floor once there are groups for every place.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Busy`]: the groups take too much memory.
    pub(crate) fn add(
        &self,
        block: &Block,
        matches: Vec<BoundedMatch>,
        ranking: &Ranking,
    ) -> Result<Vec<BoundedMatch>, Error> {
        let Some((at, _)) = self.snapshot.locate(block.first) else {
            return Ok(matches);
        };
        let id_of = |row| {
            let (block, slot) = self.snapshot.at(row);
            IdKey::new(self.variant, block.id(slot), block.uuid(slot))
        };
        let mut alone = Vec::new();
        let groups = &mut *self.lock()?;
        for found in matches {
            let BoundedMatch { slot, bounds } = found;
            let Some(group) = self.of_records.at(at, slot) else {
                alone.push(found);
                continue;
            };
            let first = &mut groups.first[group];
            first.add(block.row(slot), bounds, &mut groups.contenders, id_of);
            // Below the start of a page, a group may turn out to be on an earlier page.
            if ranking.start().is_none()
                && let Some(floor) = groups.best.add(group, first.lowest, ranking.size())
            {
                ranking.raise_floor_to(floor);
            }
        }
        self.set_memory(groups)?;
        Ok(alone)
    }

    /// Counts all matches of a block.
    ///
    /// # Errors
    /// As [`DistinctMatches::add`].
    pub(crate) fn count(&self, block: &Block, matches: &Mask) -> Result<(), Error> {
        let Some((at, _)) = self.snapshot.locate(block.first) else {
            return Ok(());
        };
        let groups = &mut *self.lock()?;
        for slot in matches.iter() {
            if let Some(group) = self.of_records.at(at, slot) {
                let count = &mut groups.first[group].matches;
                groups.len += u64::from(*count == 0);
                *count += 1;
                groups.matches += 1;
            }
        }
        Ok(())
    }

    fn lock(&self) -> Result<MutexGuard<'_, Groups>, Error> {
        let mut groups = self.groups.lock();
        if groups.first.is_empty() {
            self.set_memory(&groups)?;
            let first = &mut groups.first;
            first.resize_with(self.of_records.len, Contenders::default);
        }
        Ok(groups)
    }

    fn set_memory(&self, groups: &Groups) -> Result<(), Error> {
        let first = self.of_records.len * size_of::<Contenders>();
        let contenders = groups.contenders.capacity() * size_of::<Contender>();
        self.memory.set(first + contenders);
        self.memory.check(too_many_values)
    }

    /// Ranks the first matches of the groups, once every match was added. `score` computes the score of a record.
    ///
    /// # Errors
    /// Those of `score`.
    pub(crate) fn rank(
        &self,
        ranking: &Ranking,
        mut score: impl FnMut(RecordRow) -> Result<Hit, Error>,
    ) -> Result<(), Error> {
        let Groups {
            first, contenders, ..
        } = &*self.groups.lock();
        let mut best = BestScores::new(ranking.size());
        let mut floor = ranking.floor();
        let mut open: Vec<&Contenders> = Vec::new();
        for group in first.iter().filter(|group| group.head != NONE) {
            let bounds = group.bounds();
            if ranking.certainly_precedes(&bounds) {
                continue;
            }
            if ranking.certainly_follows(&bounds)
                && let Some(lowest) = best.add(bounds.lowest)
            {
                floor = floor.max(lowest);
            }
            open.push(group);
        }
        open.retain(|group| group.highest >= floor);
        open.sort_unstable_by_key(|group| Reverse(group.highest));
        for group in open {
            if group.highest < floor.max(ranking.floor()) {
                break;
            }
            ranking.add(group.first(contenders, &mut score)?);
        }
        Ok(())
    }

    /// How many results `matches` matches are: one for each group, and each match without a value.
    pub(crate) fn results(&self, matches: u64) -> u64 {
        let groups = self.groups.lock();
        matches - groups.matches + groups.len
    }

    /// How many matches have the value of a match, 1 without a value.
    pub(crate) fn matches_with(&self, row: RecordRow) -> u32 {
        let group = self.of_records.of_row(&self.snapshot, row);
        group.map_or(1, |group| self.groups.lock().first[group].matches)
    }
}

impl Contenders {
    fn bounds(&self) -> ScoreBounds {
        ScoreBounds {
            lowest: self.lowest,
            highest: self.highest,
        }
    }

    /// Adds a match to the list, unless another one certainly comes before it.
    fn add(
        &mut self,
        row: RecordRow,
        bounds: ScoreBounds,
        contenders: &mut Vec<Contender>,
        id_of: impl Fn(RecordRow) -> IdKey,
    ) {
        let ScoreBounds { lowest, highest } = bounds;
        if let Some(head) = contenders.get_mut(self.head as usize) {
            if highest < self.lowest {
                return;
            }
            let is_tie = lowest == highest && head.bounds == bounds;
            if is_tie && id_of(row) < id_of(head.row) {
                head.row = row;
            }
            if is_tie {
                return;
            }
            if lowest > self.highest {
                let next = NONE;
                *head = Contender { row, bounds, next };
                (self.lowest, self.highest) = (lowest, highest);
                return;
            }
        }
        let next = self.head;
        self.head = contenders.len() as u32;
        contenders.push(Contender { row, bounds, next });
        self.lowest = self.lowest.max(lowest);
        self.highest = self.highest.max(highest);
    }

    /// The first match of the group.
    fn first(
        &self,
        contenders: &[Contender],
        score: &mut impl FnMut(RecordRow) -> Result<Hit, Error>,
    ) -> Result<Hit, Error> {
        let next = |at: &u32| Some(contenders[*at as usize].next).filter(|&next| next != NONE);
        let list = std::iter::successors(Some(self.head), next);
        let mut list: Vec<&Contender> = list.map(|at| &contenders[at as usize]).collect();
        list.sort_unstable_by_key(|contender| Reverse(contender.bounds.highest));
        let mut first = score(list[0].row)?;
        for contender in &list[1..] {
            if contender.bounds.highest < first.position.score {
                break;
            }
            first = first.min(score(contender.row)?);
        }
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::StopCheck;
    use crate::search::distinct::column_groups::ColumnGroupsCache;
    use crate::search::distinct::column_groups::tests::{is_refused, snapshot};
    use crate::search::distinct::request::Distinct;

    #[test]
    fn groups_that_take_too_much_memory_are_refused() {
        let (snapshot, _) = snapshot();
        let column = Distinct {
            column: "unique".to_owned(),
            counts: false,
        };
        let cache = ColumnGroupsCache::default();
        let of_records = ColumnGroups::of(&column, &snapshot, &cache, &StopCheck::never())
            .expect("little memory");
        let count = |memory| {
            let matches = DistinctMatches {
                memory,
                ..DistinctMatches::new(&snapshot, Variant::A, Arc::clone(&of_records))
            };
            matches.count(&snapshot.blocks[0], &Mask::full(10))
        };
        assert!(count(TallyMemory::default()).is_ok());
        assert!(is_refused(count(TallyMemory::of_at_most(10_000))));
    }
}
