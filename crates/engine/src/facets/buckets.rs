//! Counts by bucket number.

use hashbrown::HashMap;

use crate::columns::{Integers, Mask};

/// A block whose buckets span fewer numbers is counted in an array instead of a hash table.
const WINDOW: usize = 4096;

/// How many records fall into each bucket.
#[derive(Debug, Default)]
pub(crate) struct Buckets {
    counts: HashMap<i64, u32>,
    /// Counts of the buckets from `low` on that are not yet in `counts`.
    window: Vec<u32>,
    low: i64,
}

impl Buckets {
    /// Prepares for buckets from `low` to `high`. Other buckets can be counted too, but take longer.
    pub(crate) fn expect(&mut self, low: i64, high: i64) {
        self.flush();
        let span = high.wrapping_sub(low) as u64;
        if span < WINDOW as u64 {
            self.low = low;
            self.window.resize(span as usize + 1, 0);
        }
    }

    /// Counts one record.
    #[inline]
    pub(crate) fn add(&mut self, bucket: i64) {
        match self.window.get_mut(bucket.wrapping_sub(self.low) as usize) {
            Some(count) => *count += 1,
            None => *self.counts.entry(bucket).or_default() += 1,
        }
    }

    /// Counts several records of one bucket.
    pub(crate) fn add_many(&mut self, bucket: i64, records: usize) {
        if records > 0 {
            *self.counts.entry(bucket).or_default() += records as u32;
        }
    }

    /// Counts the integers of the rows of `within` by `bucket`, which must be a non-decreasing function.
    pub(crate) fn count(
        &mut self,
        integers: &Integers,
        within: &Mask,
        bucket: impl Fn(i64) -> i64,
    ) {
        let Some((least, greatest)) = integers.range() else {
            return;
        };
        let (low, high) = (bucket(least), bucket(greatest));
        if low == high {
            return self.add_many(low, within.count());
        }
        self.expect(low, high);
        integers.each(within, |value| self.add(bucket(value)));
    }

    /// Adds the counts of another.
    pub(crate) fn merge(&mut self, mut other: Self) {
        other.flush();
        for (bucket, count) in other.counts {
            *self.counts.entry(bucket).or_default() += count;
        }
    }

    /// Counts everything so far `factor` times.
    pub(crate) fn multiply(&mut self, factor: u32) {
        self.flush();
        self.counts.values_mut().for_each(|count| *count *= factor);
    }

    /// The buckets that are not empty, in no order.
    pub(crate) fn counted(&mut self) -> impl Iterator<Item = (i64, u64)> {
        self.flush();
        let counts = self.counts.iter();
        counts.map(|(&bucket, &count)| (bucket, u64::from(count)))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.counts.allocation_size() + self.window.capacity() * size_of::<u32>()
    }

    fn flush(&mut self) {
        for (bucket, count) in (self.low..).zip(self.window.drain(..)) {
            if count > 0 {
                *self.counts.entry(bucket).or_default() += count;
            }
        }
    }
}
