//! Counts by bucket number, and of the numbers of a column.

use hashbrown::HashMap;

use crate::columns::{Integers, Mask, Numbers};

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

/// 2^53: every integer up to it is exact as a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Intervals this many widths away from 0 are as narrow as the step from one double to the next.
const FARTHEST: f64 = EXACT / 2.0;

/// How numbers are grouped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Grain {
    /// Each number separately.
    Value,
    /// Intervals `[k * width, (k + 1) * width)`, the products rounded to doubles.
    Interval(f64),
}

/// How many records hold each number, or a number of each interval.
#[derive(Debug, Default)]
pub(crate) struct NumberCounts {
    near: Buckets,
    /// Counts of the numbers that have no bucket, by the bits of the number.
    far: HashMap<u64, u32>,
}

impl Grain {
    /// The bucket of a number; `None` for a number that is counted separately.
    #[inline]
    fn bucket(self, number: f64) -> Option<i64> {
        match self {
            Self::Value => {
                let whole = number as i64;
                (whole as f64 == number && number.abs() <= EXACT).then_some(whole)
            }
            Self::Interval(width) => {
                let quotient = number / width;
                if quotient.abs() >= FARTHEST {
                    return None;
                }
                // A cast and a comparison: `floor` is a call where the CPU's baseline lacks it.
                let mut bucket = quotient as i64;
                bucket -= i64::from(bucket as f64 > quotient);
                // The quotient was rounded, so it may lie just across a bound.
                bucket -= i64::from(bucket as f64 * width > number);
                bucket += i64::from((bucket + 1) as f64 * width <= number);
                Some(bucket)
            }
        }
    }

    /// The number that stands for a bucket: the value, or the start of the interval, which is infinite where no double
    /// holds it.
    fn number(self, bucket: i64) -> f64 {
        match self {
            Self::Value => bucket as f64,
            Self::Interval(width) => bucket as f64 * width,
        }
    }
}

impl NumberCounts {
    /// Counts the numbers in the rows of `within`.
    pub(crate) fn count(&mut self, grain: Grain, numbers: &Numbers, within: &Mask) {
        if within.is_empty() {
            return;
        }
        let (least, greatest) = numbers.range();
        if let (Some(low), Some(high)) = (grain.bucket(least), grain.bucket(greatest)) {
            if low == high {
                return self.near.add_many(low, within.count());
            }
            self.near.expect(low, high);
        }
        numbers.each(within, |number| match grain.bucket(number) {
            Some(bucket) => self.near.add(bucket),
            None => *self.far.entry(number.to_bits()).or_default() += 1,
        });
    }

    /// Counts a record with several numbers, once in each bucket. Returns whether it has any.
    pub(crate) fn count_list(&mut self, grain: Grain, numbers: impl Iterator<Item = f64>) -> bool {
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for number in numbers {
            match grain.bucket(number) {
                Some(bucket) => near.push(bucket),
                None => far.push(number.to_bits()),
            }
        }
        near.sort_unstable();
        near.dedup();
        far.sort_unstable();
        far.dedup();
        near.iter().for_each(|&bucket| self.near.add(bucket));
        far.iter()
            .for_each(|&bits| *self.far.entry(bits).or_default() += 1);
        !(near.is_empty() && far.is_empty())
    }

    /// Adds the counts of another with the same grain.
    pub(crate) fn merge(&mut self, other: Self) {
        self.near.merge(other.near);
        for (bits, count) in other.far {
            *self.far.entry(bits).or_default() += count;
        }
    }

    /// Counts everything so far `factor` times.
    pub(crate) fn multiply(&mut self, factor: u32) {
        self.near.multiply(factor);
        self.far.values_mut().for_each(|count| *count *= factor);
    }

    /// The number that stands for each bucket and its count, each once, in no order.
    pub(crate) fn counted(&mut self, grain: Grain) -> impl Iterator<Item = (f64, u64)> {
        let near = self.near.counted();
        let near = near.map(move |(bucket, count)| (grain.number(bucket), count));
        let far = self.far.iter();
        let far = far.map(|(&bits, &count)| (f64::from_bits(bits), u64::from(count)));
        near.chain(far)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.near.memory_bytes() + self.far.allocation_size()
    }
}
