//! The numbers of a column.

use cosift_kernels::floats_between;

use crate::columns::encoding::{Damaged, Decoder, put_values};
use crate::columns::integers::Integers;
use crate::columns::mask::Mask;
use crate::columns::value_set::NumberSet;

/// How a number is compared with a filter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl Comparison {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 5] = [
        Self::Equal,
        Self::Greater,
        Self::GreaterOrEqual,
        Self::Less,
        Self::LessOrEqual,
    ];

    /// Whether `found OP value` holds.
    pub(crate) fn holds<T: PartialOrd>(self, found: T, value: T) -> bool {
        match self {
            Self::Equal => found == value,
            Self::Greater => found > value,
            Self::GreaterOrEqual => found >= value,
            Self::Less => found < value,
            Self::LessOrEqual => found <= value,
        }
    }

    /// The inclusive range of the integers for which `integer OP value` holds; empty if low is above high.
    ///
    /// The conversions saturate, which is correct for integers of at most 2^53.
    fn range(self, value: f64) -> (i64, i64) {
        let floor = value.floor() as i64;
        let ceil = value.ceil() as i64;
        match self {
            Self::Equal if value.fract() == 0.0 => (floor, floor),
            Self::Equal => (1, 0),
            Self::Greater => (floor.saturating_add(1), i64::MAX),
            Self::GreaterOrEqual => (ceil, i64::MAX),
            Self::Less => (i64::MIN, ceil.saturating_sub(1)),
            Self::LessOrEqual => (i64::MIN, floor),
        }
    }
}

/// One number a row. A row without a number holds the smallest number of the column, so that it does not widen the range.
#[derive(Clone, Debug)]
pub(crate) enum Numbers {
    /// All numbers are integers of at most 2^53 in absolute value.
    Integers(Integers),
    /// With the zone map: the smallest and the largest value.
    Floats {
        values: Box<[f64]>,
        min: f64,
        max: f64,
    },
}

/// 2^53: a double holds every integer up to it exactly.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Up to this many numbers of a set are compared one by one, each with many rows at once.
const MAX_COMPARED: usize = 4;

impl Numbers {
    /// Encodes one number a row.
    pub(crate) fn build(values: Vec<f64>) -> Self {
        if values
            .iter()
            .all(|value| value.trunc() == *value && value.abs() <= MAX_EXACT_INTEGER)
        {
            let integers: Vec<i64> = values.iter().map(|&value| value as i64).collect();
            return Self::Integers(Integers::build(&integers));
        }
        let (min, max) = zone(&values);
        Self::Floats {
            values: values.into(),
            min,
            max,
        }
    }

    pub(crate) fn get(&self, row: usize) -> f64 {
        match self {
            Self::Integers(integers) => integers.get(row) as f64,
            Self::Floats { values, .. } => values[row],
        }
    }

    /// The numbers of the 64 rows from `first` on; beyond the last row any number.
    #[inline(always)]
    pub(crate) fn numbers_from(&self, first: usize) -> [f64; 64] {
        match self {
            Self::Integers(integers) => integers.numbers_from(first),
            Self::Floats { values, .. } => {
                let mut out = [0.0; 64];
                let each = out.iter_mut().zip(&values[first..]);
                each.for_each(|(out, &value)| *out = value);
                out
            }
        }
    }

    /// The rows of `within` for which `number OP value` holds.
    pub(crate) fn mask(&self, comparison: Comparison, value: f64, within: &Mask) -> Mask {
        match self {
            Self::Integers(integers) => {
                let (low, high) = comparison.range(value);
                integers.mask_between(low, high, within)
            }
            Self::Floats { values, min, max } => {
                let among = |low, high| Mask(floats_between(values, low, high, &within.0));
                let ends = (comparison.holds(*min, value), comparison.holds(*max, value));
                match comparison {
                    Comparison::Equal if value < *min || value > *max => Mask::empty(),
                    Comparison::Equal => among(value, value),
                    _ if ends == (true, true) => within.clone(),
                    _ if ends == (false, false) => Mask::empty(),
                    Comparison::Greater => among(value.next_up(), f64::INFINITY),
                    Comparison::GreaterOrEqual => among(value, f64::INFINITY),
                    Comparison::Less => among(f64::NEG_INFINITY, value.next_down()),
                    Comparison::LessOrEqual => among(f64::NEG_INFINITY, value),
                }
            }
        }
    }

    /// The rows of `within` whose number is in the set.
    pub(super) fn in_set(&self, set: &NumberSet, within: &Mask) -> Mask {
        let (min, max) = self.range();
        let in_range = set.between(min, max);
        if in_range.len() <= MAX_COMPARED {
            let mut out = Mask::empty();
            for &number in in_range {
                out.or(&self.mask(Comparison::Equal, number, within));
            }
            return out;
        }
        match self {
            Self::Integers(integers) => {
                integers.mask_where(within, |integer| set.contains(integer as f64))
            }
            Self::Floats { values, .. } => Mask::of(values, within, |value| set.contains(value)),
        }
    }

    /// The smallest and the largest number.
    pub(crate) fn range(&self) -> (f64, f64) {
        match self {
            Self::Integers(integers) => {
                let (min, max) = integers.range().unwrap_or_default();
                (min as f64, max as f64)
            }
            Self::Floats { min, max, .. } => (*min, *max),
        }
    }

    /// Calls `visit` with the number of each row of `within`.
    pub(crate) fn each(&self, within: &Mask, mut visit: impl FnMut(f64)) {
        match self {
            Self::Integers(integers) => integers.each(within, |integer| visit(integer as f64)),
            Self::Floats { values, .. } => within.each(values, visit),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Integers(integers) => integers.memory_bytes(),
            Self::Floats { values, .. } => size_of_val::<[f64]>(values),
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Integers(integers) => {
                out.push(0);
                integers.write(out);
            }
            Self::Floats { values, .. } => {
                out.push(1);
                put_values(values, f64::to_le_bytes, out);
            }
        }
    }

    pub(crate) fn read(decoder: &mut Decoder<'_>, len: usize) -> Result<Self, Damaged> {
        match decoder.u8()? {
            0 => {
                let integers = Integers::read_from(decoder, len)?;
                let exact = |value: i64| value.unsigned_abs() <= MAX_EXACT_INTEGER as u64;
                match integers.range() {
                    Some((min, max)) if !(exact(min) && exact(max)) => {
                        Err(Damaged("range of numbers"))
                    }
                    _ => Ok(Self::Integers(integers)),
                }
            }
            1 => {
                let values = decoder.values(len, f64::from_le_bytes)?;
                if !values.iter().all(|value| value.is_finite()) {
                    return Err(Damaged("number that is not finite"));
                }
                let (min, max) = zone(&values);
                Ok(Self::Floats { values, min, max })
            }
            _ => Err(Damaged("numbers")),
        }
    }
}

/// The smallest and the largest value.
fn zone(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), &value| {
            (min.min(value), max.max(value))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_comparison_finds_what_it_holds_for() {
        let values = vec![
            f64::MIN,
            -1.5,
            -f64::from_bits(1),
            -0.0,
            0.0,
            f64::from_bits(1),
            0.5_f64.next_down(),
            0.5,
            0.5_f64.next_up(),
            f64::MAX,
        ];
        let numbers = Numbers::build(values.clone());
        assert!(matches!(numbers, Numbers::Floats { .. }));
        let full = Mask::full(values.len());
        for comparison in Comparison::ALL {
            for &value in &values {
                let found: Vec<usize> = numbers.mask(comparison, value, &full).iter().collect();
                let expected: Vec<usize> = (0..values.len())
                    .filter(|&at| comparison.holds(values[at], value))
                    .collect();
                assert_eq!(found, expected, "{comparison:?} {value}");
            }
        }
    }
}
