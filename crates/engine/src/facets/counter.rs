//! The facets of one request, counted by several threads.

use hashbrown::DefaultHashBuilder;

use parking_lot::Mutex;

use crate::columns::{ColumnNames, Mask};
use crate::error::Error;
use crate::facets::request::Facet;
use crate::facets::tally::Tally;
use crate::runtime::StopCheck;
use crate::snapshot::Block;

/// Counts the matches of a request by its facets.
#[derive(Debug)]
pub(crate) struct FacetCounter {
    facets: Vec<Facet>,
    names: ColumnNames,
    hasher: DefaultHashBuilder,
    /// Sets of tallies, one tally for each facet, that no thread uses now. A thread takes a set for a block, so no
    /// thread waits for another.
    idle: Mutex<Vec<Vec<Tally>>>,
}

impl FacetCounter {
    /// Binds facets to the columns of a snapshot.
    pub(crate) fn bind(facets: &[Facet], names: &ColumnNames) -> Self {
        let (names, hasher) = (names.clone(), DefaultHashBuilder::default());
        Self {
            facets: facets.to_vec(),
            names,
            hasher,
            idle: Mutex::default(),
        }
    }

    /// Counts the matches of a block. Each block is counted once.
    pub(crate) fn count(&self, block: &Block, matches: &Mask) {
        if self.facets.is_empty() || matches.is_empty() {
            return;
        }
        let idle = self.idle.lock().pop();
        let mut tallies = idle.unwrap_or_else(|| self.tallies());
        for (tally, facet) in tallies.iter_mut().zip(&self.facets) {
            tally.count(facet, block, matches);
        }
        self.idle.lock().push(tallies);
    }

    /// Counts the record in each slot of a block as many times as `counts` says.
    ///
    /// The records are counted once for each binary digit of their counts, so this takes as many passes over the block as
    /// the largest count has digits.
    pub(crate) fn count_many(&self, block: &Block, counts: &[u32]) {
        for digit in 0..u32::BITS {
            let has_digit = |count: u32| count >> digit & 1 == 1;
            let matches = Mask::of(counts, &block.alive, has_digit);
            if matches.is_empty() {
                continue;
            }
            let mut tallies = self.tallies();
            for (tally, facet) in tallies.iter_mut().zip(&self.facets) {
                tally.count(facet, block, &matches);
                tally.multiply(1 << digit);
            }
            self.idle.lock().push(tallies);
        }
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
        let mut counted = counted.into_iter();
        let mut tallies = counted.next().unwrap_or_else(|| self.tallies());
        for other in counted {
            for (tally, other) in tallies.iter_mut().zip(other) {
                tally.merge(other, stop_check)?;
            }
        }
        let mut out = vec![b'['];
        let mut text_bytes = max_bytes;
        for (at, (tally, facet)) in tallies.into_iter().zip(&self.facets).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            tally.write((facet, at), &mut text_bytes, stop_check, &mut out)?;
        }
        out.push(b']');
        Ok(out)
    }

    fn tallies(&self) -> Vec<Tally> {
        self.facets
            .iter()
            .map(|facet| Tally::new(facet, &self.names, &self.hasher))
            .collect()
    }
}
