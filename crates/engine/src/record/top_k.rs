//! The one collector of the first items of an order.

use std::collections::BinaryHeap;

/// Room that is reserved at once. A collector for more items grows as they come.
const MAX_RESERVED: usize = 1024;

/// Keeps the first `capacity` items of their order, whatever order they arrive in.
#[derive(Debug)]
pub(crate) struct TopK<T> {
    capacity: usize,
    // The root is the last item kept: the one that the next better item replaces.
    kept: BinaryHeap<T>,
}

impl<T: Ord> TopK<T> {
    /// A collector of up to `capacity` items, at least 1.
    #[must_use]
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            kept: BinaryHeap::with_capacity(capacity.clamp(1, MAX_RESERVED)),
        }
    }

    /// Adds an item if it is among the first `capacity` so far.
    pub(crate) fn push(&mut self, item: T) {
        if self.kept.len() < self.capacity {
            self.kept.push(item);
        } else if let Some(mut last) = self.kept.peek_mut()
            && item < *last
        {
            *last = item;
        }
    }

    /// The last item kept, once the collector is full: an item that comes after it can't enter.
    #[must_use]
    pub(crate) fn last(&self) -> Option<&T> {
        if self.kept.len() < self.capacity {
            None
        } else {
            self.kept.peek()
        }
    }

    /// The items kept, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.kept.iter()
    }

    /// The items kept, in order.
    #[must_use]
    pub(crate) fn into_sorted(self) -> Vec<T> {
        self.kept.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Hit, IdKey, Position, RecordRow, Score};

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
            all.sort_by_key(|ranked| ranked.position);
            all.truncate(capacity);
            assert_eq!(top.into_sorted(), all, "round {round}");
        }
    }
}
