//! The one order of results, and the collector that keeps the best of them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::record::identity::{IdKey, RecordRow};
use crate::record::score::Score;

/// A place in the order of a search: what a cursor names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Score of the record at this place.
    pub score: Score,
    /// Its identity under the request's variant.
    pub id: IdKey,
}

impl Position {
    /// The order of results: best score first, ties by identity.
    ///
    /// `Less` comes earlier. Top-k, cursor and merge all use this one function.
    #[must_use]
    pub(crate) fn rank(&self, other: &Self) -> Ordering {
        other.score.cmp(&self.score).then(self.id.cmp(&other.id))
    }
}

/// A record that qualified, with its canonical score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Where it stands in the order.
    pub position: Position,
    /// Which record it is.
    pub row: RecordRow,
}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Hit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.position.rank(&other.position)
    }
}

/// Keeps the first `capacity` hits of the order, whatever order they arrive in.
#[derive(Debug)]
pub(crate) struct TopK {
    capacity: usize,
    // The root is the last hit kept: the one that the next better hit pushes out.
    kept: BinaryHeap<Hit>,
}

impl TopK {
    /// A collector of up to `capacity` hits, at least 1.
    #[must_use]
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            kept: BinaryHeap::with_capacity(capacity.clamp(1, 1024)),
        }
    }

    /// Offers a hit.
    pub(crate) fn push(&mut self, hit: Hit) {
        if self.kept.len() < self.capacity {
            self.kept.push(hit);
        } else if let Some(mut last) = self.kept.peek_mut()
            && hit < *last
        {
            *last = hit;
        }
    }

    /// The last place that is kept, once the collector is full: what comes after it can't enter.
    #[must_use]
    pub(crate) fn last(&self) -> Option<Position> {
        if self.kept.len() < self.capacity {
            None
        } else {
            self.kept.peek().map(|hit| hit.position)
        }
    }

    /// The kept hits in order.
    #[must_use]
    pub(crate) fn into_sorted(self) -> Vec<Hit> {
        self.kept.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collector_equals_sort_and_truncate() {
        let mut seed = 0x2545_F491_4F6C_DD1D_u64;
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        for round in 0..200 {
            let capacity = 1 + (next() % 20) as usize;
            // Few distinct scores: most hits tie, so the identity decides.
            let mut all: Vec<Hit> = (0..next() % 100)
                .map(|row| Hit {
                    position: Position {
                        score: Score((next() % 5) as u32),
                        id: IdKey(u128::from(next())),
                    },
                    row: RecordRow(row as u32),
                })
                .collect();
            let mut top = TopK::new(capacity);
            all.iter().for_each(|&hit| top.push(hit));
            all.sort_by(|a, b| a.position.rank(&b.position));
            all.truncate(capacity);
            assert_eq!(top.into_sorted(), all, "round {round}");
        }
    }
}
