//! The facets of one request, counted by several threads. A facet of unique texts needs about 25 bytes for each record.

use hashbrown::DefaultHashBuilder;
use parking_lot::Mutex;

use crate::columns::{ColumnNames, Mask};
use crate::error::Error;
use crate::facets::request::Facet;
use crate::facets::tally::FacetTally;
use crate::facets::tally_memory::TallyMemory;
use crate::runtime::{StopCheck, Stopped};
use crate::snapshot::Block;

/// Counts the matches of a request by its facets.
#[derive(Debug)]
pub(crate) struct FacetCounter {
    facets: Vec<Facet>,
    names: ColumnNames,
    hasher: DefaultHashBuilder,
    /// Sets of tallies, one tally for each facet, that no thread uses now. A thread takes a set for a block, so
    /// no thread waits for another.
    idle: Mutex<Vec<Vec<FacetTally>>>,
    /// After the tallies, because dropping it returns their memory.
    pub(super) memory: TallyMemory,
}

impl FacetCounter {
    /// Binds facets to the columns of a snapshot.
    pub(crate) fn bind(facets: &[Facet], names: &ColumnNames) -> Self {
        Self {
            facets: facets.to_vec(),
            names: names.clone(),
            hasher: DefaultHashBuilder::default(),
            idle: Mutex::default(),
            memory: TallyMemory::default(),
        }
    }

    /// Counts the matches of a block. Each block is counted once.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Busy`]: the counts take too much memory.
    pub(crate) fn count(&self, block: &Block, matches: &Mask) -> Result<(), Error> {
        if self.facets.is_empty() || matches.is_empty() {
            return Ok(());
        }
        self.add(|tallies| {
            tallies
                .iter_mut()
                .for_each(|tally| tally.count(block, matches));
        })
    }

    /// Runs `count` on a set of tallies that no other thread uses.
    pub(super) fn add(&self, count: impl FnOnce(&mut Vec<FacetTally>)) -> Result<(), Error> {
        let idle = self.idle.lock().pop();
        let mut tallies = idle.unwrap_or_else(|| self.tallies());
        let before = bytes_of(&tallies);
        count(&mut tallies);
        self.memory.change(before, bytes_of(&tallies));
        if self.memory.is_scarce() {
            tallies = self.merge_idle(tallies);
        }
        self.memory
            .check(too_many_values)
            .inspect_err(|_| self.idle.lock().clear())?;
        self.idle.lock().push(tallies);
        Ok(())
    }

    /// Merges `tallies` and those that no thread uses.
    fn merge_idle(&self, tallies: Vec<FacetTally>) -> Vec<FacetTally> {
        let mut sets = std::mem::take(&mut *self.idle.lock());
        sets.push(tallies);
        // The others are merged into the largest set, because merging takes time for each value.
        sets.sort_unstable_by_key(|set| std::cmp::Reverse(bytes_of(set)));
        let before = sets.iter().map(|set| bytes_of(set)).sum();
        let merged = merge(sets, &StopCheck::never()).expect("it is never stopped");
        let merged = merged.expect("there is one set at least");
        self.memory.change(before, bytes_of(&merged));
        merged
    }

    /// Notes that the counts keep so many bytes of texts that are in no snapshot of a database.
    ///
    /// # Errors
    /// As for [`FacetCounter::count`].
    pub(crate) fn keep_bytes(&self, bytes: usize) -> Result<(), Error> {
        self.memory.change(0, bytes);
        self.memory.check(too_many_values)
    }

    /// Counts the record in each slot of a block as many times as `counts` says.
    ///
    /// The records are counted once for each binary digit of their counts, so this takes as many passes over the block as
    /// the largest count has digits.
    ///
    /// # Errors
    /// As for [`FacetCounter::count`].
    pub(crate) fn count_many(&self, block: &Block, counts: &[u32]) -> Result<(), Error> {
        for digit in 0..u32::BITS {
            let has_digit = |count: u32| count >> digit & 1 == 1;
            let matches = Mask::of(counts, &block.alive, has_digit);
            if matches.is_empty() {
                continue;
            }
            self.add(|tallies| {
                for (tally, mut of_digit) in tallies.iter_mut().zip(self.tallies()) {
                    of_digit.count(block, &matches);
                    of_digit.multiply(1 << digit);
                    tally
                        .merge(of_digit, &StopCheck::never())
                        .expect("it is never stopped");
                }
            })?;
        }
        Ok(())
    }

    /// Writes the response's member `facets`, in the order of the request, and resets the counter. The listed texts of
    /// all facets take at most `max_bytes`.
    ///
    /// # Errors
    /// [`Error::Invalid`] when a facet has more intervals, or longer texts, than a response holds; [`Error::Stopped`].
    pub(crate) fn write(
        &self,
        max_bytes: usize,
        stop_check: &StopCheck<'_>,
    ) -> Result<Vec<u8>, Error> {
        let counted = std::mem::take(&mut *self.idle.lock());
        let mut tallies = merge(counted, stop_check)?.unwrap_or_else(|| self.tallies());
        let mut out = vec![b'['];
        let mut text_bytes = max_bytes;
        for (at, tally) in tallies.iter_mut().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            tally.write(at, &mut text_bytes, stop_check, &mut out)?;
        }
        out.push(b']');
        Ok(out)
    }

    fn tallies(&self) -> Vec<FacetTally> {
        self.facets
            .iter()
            .map(|facet| FacetTally::new(facet, &self.names, &self.hasher))
            .collect()
    }
}

/// Merges sets of tallies into the first of them, if there is one.
fn merge(
    sets: Vec<Vec<FacetTally>>,
    stop_check: &StopCheck<'_>,
) -> Result<Option<Vec<FacetTally>>, Stopped> {
    let mut sets = sets.into_iter();
    let Some(mut merged) = sets.next() else {
        return Ok(None);
    };
    for other in sets {
        for (tally, other) in merged.iter_mut().zip(other) {
            tally.merge(other, stop_check)?;
        }
    }
    Ok(Some(merged))
}

fn bytes_of(tallies: &[FacetTally]) -> usize {
    tallies.iter().map(FacetTally::memory_bytes).sum()
}

fn too_many_values() -> Error {
    let detail = "the matches have too many different values to be counted at once: take fewer facets, or a filter";
    Error::request("/facets", detail)
}
