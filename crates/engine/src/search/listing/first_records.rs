//! The collector of the first records of a listing.

use crate::record::Ranked;
use crate::search::listing::position::ListingPosition;

/// Keeps the first `size` records of the order of a listing. It is faster than a heap for thousands of records, but does
/// not know the last of them at every moment.
pub(crate) struct FirstRecords<'a> {
    size: usize,
    /// Up to twice `size` records. Once they were pruned, the first `size` come before the others, and the last of them
    /// is at `size - 1`.
    kept: Vec<Ranked<ListingPosition<'a>>>,
    pruned: bool,
}

impl<'a> FirstRecords<'a> {
    /// A collector of up to `size` records, at least 1.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            size: size.max(1),
            kept: Vec::new(),
            pruned: false,
        }
    }

    /// A record after which no record is among the first, once it is known.
    pub(crate) fn last(&self) -> Option<&ListingPosition<'a>> {
        let last = self.pruned.then(|| &self.kept[self.size - 1]);
        last.map(|last| &last.position)
    }

    pub(crate) fn push(&mut self, record: Ranked<ListingPosition<'a>>) {
        self.kept.push(record);
        if self.kept.len() >= 2 * self.size {
            self.kept.select_nth_unstable(self.size - 1);
            self.kept.truncate(self.size);
            self.pruned = true;
        }
    }

    /// The first records, in order.
    pub(crate) fn into_sorted(mut self) -> Vec<Ranked<ListingPosition<'a>>> {
        self.kept.sort_unstable();
        self.kept.truncate(self.size);
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{IdKey, RecordRow};
    use crate::search::listing::sort_key::SortKey;

    #[test]
    fn the_collector_equals_sort_and_truncate() {
        for (size, records) in [(1, 0), (1, 9), (7, 7), (10, 19), (10, 20), (33, 5_000)] {
            let record = |at: u32| Ranked {
                position: ListingPosition {
                    // Few distinct values: most records tie, so the identity decides.
                    key: SortKey::Time(i64::from(at.wrapping_mul(2_654_435_761) >> 29)),
                    descending: true,
                    id: IdKey(u128::from(at.wrapping_mul(40_503) % 65_536)),
                },
                row: RecordRow(at),
            };
            let mut first = FirstRecords::new(size);
            let mut all: Vec<_> = (0..records).map(record).collect();
            for record in &all {
                if first.last().is_none_or(|last| record.position <= *last) {
                    first.push(record.clone());
                }
            }
            all.sort_unstable();
            all.truncate(size);
            let rows = |records: &[Ranked<ListingPosition<'_>>]| -> Vec<RecordRow> {
                records.iter().map(|record| record.row).collect()
            };
            assert_eq!(
                rows(&first.into_sorted()),
                rows(&all),
                "{size} of {records}"
            );
        }
    }
}
