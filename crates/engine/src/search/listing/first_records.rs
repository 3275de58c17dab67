//! The collector of the first records of a listing.

use crate::record::Ranked;
use crate::search::listing::position::ListingPosition;
use crate::search::listing::sort_key::{RANKED_BYTES, Rank};

/// The first bytes of texts that are compared by ranks. Few texts are equal up to there, and they are compared as a whole.
const MAX_RANKED_BYTES: usize = 8 * RANKED_BYTES;

/// Keeps the first `size` records of the order of a listing. It is faster than a heap for thousands of records, but does
/// not know the last of them at every moment.
pub(crate) struct FirstRecords<'a> {
    size: usize,
    /// Up to twice `size` records. Once they were pruned, the first `size` come before the others, and the last of them
    /// is at `size - 1`.
    kept: Vec<RankedRecord<'a>>,
    pruned: bool,
}

/// A record with the rank of its value. The rank decides most comparisons, and texts are elsewhere in memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RankedRecord<'a> {
    pub(crate) rank: Rank,
    pub(crate) record: Ranked<ListingPosition<'a>>,
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
    pub(crate) fn last(&self) -> Option<&RankedRecord<'a>> {
        self.pruned.then(|| &self.kept[self.size - 1])
    }

    /// Adds a record with the rank of its value.
    pub(crate) fn push(&mut self, record: RankedRecord<'a>) {
        self.kept.push(record);
        if self.kept.len() >= 2 * self.size {
            self.prune();
            self.pruned = true;
        }
    }

    /// Drops the records after the first `size`. There must be as many.
    fn prune(&mut self) {
        self.kept.select_nth_unstable(self.size - 1);
        self.kept.truncate(self.size);
    }

    /// The first records, in order.
    pub(crate) fn into_sorted(mut self) -> Vec<Ranked<ListingPosition<'a>>> {
        if self.kept.len() > self.size {
            self.prune();
        }
        sort(&mut self.kept, RANKED_BYTES);
        self.kept.into_iter().map(|kept| kept.record).collect()
    }
}

/// Sorts records by their ranks, and those of equal rank by the ranks of what follows the first `depth` bytes. Changes the
/// ranks.
fn sort(records: &mut [RankedRecord<'_>], depth: usize) {
    records.sort_unstable_by_key(|record| record.rank);
    for equal in records.chunk_by_mut(|a, b| a.rank == b.rank) {
        if equal.len() == 1 {
            continue;
        }
        let has_more = depth < MAX_RANKED_BYTES
            && equal.iter_mut().all(|record| {
                let rank = record.record.position.rank_after(depth);
                record.rank = rank.unwrap_or(record.rank);
                rank.is_some()
            });
        if has_more {
            sort(equal, depth + RANKED_BYTES);
        } else {
            equal.sort_unstable_by(|a, b| a.record.cmp(&b.record));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{IdKey, RecordRow};
    use crate::search::listing::sort_key::SortKey;

    /// Checks the collector against sorted records with these values.
    fn check(key: impl Fn(u32) -> SortKey<'static>) {
        for (size, records) in [(1, 0), (1, 9), (7, 7), (10, 19), (10, 20), (33, 5_000)] {
            for descending in [false, true] {
                let record = |at: u32| {
                    let position = ListingPosition {
                        key: key(at),
                        descending,
                        id: IdKey(u128::from(at.wrapping_mul(40_503) % 65_536)),
                    };
                    RankedRecord {
                        rank: position.rank(),
                        record: Ranked {
                            position,
                            row: RecordRow(at),
                        },
                    }
                };
                let mut first = FirstRecords::new(size);
                let mut all: Vec<_> = (0..records).map(record).collect();
                for record in &all {
                    if first.last().is_none_or(|last| record <= last) {
                        first.push(record.clone());
                    }
                }
                // By the positions alone.
                all.sort_unstable_by(|a, b| a.record.cmp(&b.record));
                all.truncate(size);
                let expected: Vec<RecordRow> = all.iter().map(|kept| kept.record.row).collect();
                let sorted = first.into_sorted();
                let found: Vec<RecordRow> = sorted.iter().map(|record| record.row).collect();
                assert_eq!(found, expected, "{size} of {records}, {descending}");
            }
        }
    }

    #[test]
    fn the_collector_equals_sort_and_truncate() {
        let mixed = |at: u32| at.wrapping_mul(2_654_435_761) >> 16;
        let text = |text: String| SortKey::Text(text.into());
        // Few distinct values: most records tie, so the identity decides.
        check(|at| SortKey::Time(i64::from(mixed(at) >> 13) - 4));
        check(|at| {
            let values = [-0.0, 0.0, -1.5, 2.5, 1e300, -1e-300, f64::MIN, f64::MAX];
            SortKey::Number(values[mixed(at) as usize % values.len()])
        });
        // Texts of every length that differ anywhere or not at all, some by zeros at their ends only.
        check(|at| text("\0".repeat(mixed(at) as usize % 200)));
        check(|at| text(format!("{}{}", "é".repeat(at as usize % 80), mixed(at) % 9)));
        check(|at| match mixed(at) % 6 {
            0 => SortKey::Missing,
            1 => SortKey::Boolean(at.is_multiple_of(2)),
            2 => SortKey::Number(f64::from(at % 7)),
            3 => text(String::new()),
            4 => text((at % 7).to_string()),
            _ => text("long ".repeat(30) + &(at % 7).to_string()),
        });
    }
}
