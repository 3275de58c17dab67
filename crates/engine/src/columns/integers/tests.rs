//! Compares encoded integers with the integers that they were built from.

use super::*;
use crate::columns::mask::BLOCK_RECORDS;
use crate::columns::numbers::{Comparison, Numbers};

/// Spans at both sides of the limit of each width, and the bytes of a delta.
const SPANS: [(u64, usize); 13] = [
    (0, 0),
    (1, 1),
    (0xff, 1),
    (0x100, 2),
    (0xffff, 2),
    (0x1_0000, 4),
    (0xffff_ffff, 4),
    (0x1_0000_0000, 5),
    (0x60_0000_0000, 5),
    (0xff_ffff_ffff, 5),
    (0x100_0000_0000, 8),
    (i64::MAX as u64, 8),
    (u64::MAX, 8),
];

/// Numbers of integers: whole words of a mask, one less and one more, and the most that a block has.
const LENGTHS: [usize; 6] = [2, 63, 64, 65, 1000, BLOCK_RECORDS];

/// Integers with the given span from `base` on. Many deltas have the same upper bytes, and differ in the lowest byte.
fn integers(base: i64, span: u64, len: usize, random: &mut Random) -> Vec<i64> {
    let mut deltas: Vec<u64> = (0..len)
        .map(|_| match random.next() % 4 {
            0 => random.next() % 600,
            1 => span / 2 + random.next() % 600,
            2 => span - span.min(random.next() % 600),
            _ => random.next(),
        })
        .map(|delta| match span.checked_add(1) {
            Some(values) => delta % values,
            None => delta,
        })
        .collect();
    deltas[len / 3] = span;
    deltas[len / 2] = 0;
    deltas
        .iter()
        .map(|&delta| base.wrapping_add(delta as i64))
        .collect()
}

/// Calls `check` with integers of every width and length, from the smallest base, the largest and two between.
fn every_width(mut check: impl FnMut(&[i64], usize, &mut Random)) {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for (span, width) in SPANS {
        let largest = (i128::from(i64::MAX) - i128::from(span)) as i64;
        for base in [i64::MIN, -5, 1_700_000_000_000, largest] {
            if base > largest {
                continue;
            }
            for len in LENGTHS {
                check(&integers(base, span, len, &mut random), width, &mut random);
            }
        }
    }
}

/// All slots, about half of them, about one in sixteen, and none.
fn masks(len: usize, random: &mut Random) -> [Mask; 4] {
    let mut draw = |bits: u64| {
        (0..len)
            .filter(|_| random.next() & bits == 0)
            .collect::<Mask>()
    };
    [draw(0), draw(1), draw(15), Mask::empty()]
}

/// Ends of ranges: some of the integers and their neighbours.
fn ends(values: &[i64], random: &mut Random) -> Vec<i64> {
    let mut ends = vec![i64::MIN, i64::MAX];
    for at in [
        values.len() / 3,
        values.len() / 2,
        random.next() as usize % values.len(),
    ] {
        let value = values[at];
        ends.extend([value.saturating_sub(1), value, value.saturating_add(1)]);
    }
    ends
}

#[test]
fn every_width_returns_the_integers_it_was_built_from() {
    every_width(|values, width, random| {
        let integers = Integers::build(values);
        assert_eq!(integers.memory_bytes(), width * values.len());
        let mut bytes = Vec::new();
        integers.write(&mut bytes);
        let read = Integers::read(&bytes, values.len()).expect("own encoding");
        assert_eq!(read, integers);
        let least = *values.iter().min().expect("some");
        let greatest = *values.iter().max().expect("some");
        assert_eq!(integers.range(), Some((least, greatest)));
        assert_eq!(integers.iter().collect::<Vec<_>>(), values);
        let deltas: Vec<u64> = (0..values.len()).map(|slot| integers.delta(slot)).collect();
        let expected = values.iter().map(|value| value.wrapping_sub(least) as u64);
        assert_eq!(deltas, expected.collect::<Vec<_>>());
        for within in masks(values.len(), random) {
            let (mut each, mut each_delta) = (Vec::new(), Vec::new());
            integers.each(&within, |value| each.push(value));
            integers.each_delta(&within, |delta| each_delta.push(delta));
            let expected = within.iter().map(|slot| values[slot]);
            assert_eq!(each, expected.collect::<Vec<_>>());
            let expected = within.iter().map(|slot| deltas[slot]);
            assert_eq!(each_delta, expected.collect::<Vec<_>>());
        }
    });
}

#[test]
fn every_width_finds_the_integers_of_a_range() {
    every_width(|values, _, random| {
        let integers = Integers::build(values);
        let ends = ends(values, random);
        for within in masks(values.len(), random) {
            for (&low, &high) in ends
                .iter()
                .flat_map(|low| ends.iter().map(move |high| (low, high)))
            {
                let expected = |slot: &usize| (low..=high).contains(&values[*slot]);
                let expected: Mask = within.iter().filter(expected).collect();
                let found = integers.mask_between(low, high, &within);
                assert_eq!(found, expected, "{low}..={high}");
            }
            let test = |value: i64| value & 3 == 1;
            let expected: Mask = within.iter().filter(|&slot| test(values[slot])).collect();
            assert_eq!(integers.mask_where(&within, test), expected);
        }
    });
}

#[test]
fn every_width_compares_as_numbers_do() {
    const MAX_EXACT: u64 = 1 << 53;
    every_width(|values, _, random| {
        if values.iter().any(|value| value.unsigned_abs() > MAX_EXACT) {
            return;
        }
        let numbers = Numbers::build(values.iter().map(|&value| value as f64).collect());
        assert!(matches!(numbers, Numbers::Integers(_)));
        let ends = ends(values, random).into_iter().map(|end| end as f64);
        let ends: Vec<f64> = ends.flat_map(|end| [end, end + 0.5]).collect();
        for within in masks(values.len(), random) {
            for comparison in Comparison::ALL {
                for &end in &ends {
                    let holds = |slot: &usize| comparison.holds(values[*slot] as f64, end);
                    let expected: Mask = within.iter().filter(holds).collect();
                    let found = numbers.mask(comparison, end, &within);
                    assert_eq!(found, expected, "{comparison:?} {end}");
                }
            }
        }
    });
}

#[test]
fn every_width_finds_neighbouring_offsets() {
    every_width(|values, _, random| {
        let mut values = values.to_vec();
        values.sort_unstable();
        let offsets = Integers::build(&values);
        let offset = |slot: usize| values[slot].wrapping_sub(values[0]) as u64 as usize;
        for within in masks(values.len() - 1, random) {
            let test = |start: usize, end: usize| (end - start) % 3 == start % 3;
            let holds = |slot: &usize| test(offset(*slot), offset(slot + 1));
            let expected: Mask = within.iter().filter(holds).collect();
            assert_eq!(offsets.mask_spans(&within, test), expected);
        }
    });
}

#[test]
fn five_bytes_are_written_as_their_upper_and_their_lowest_bytes() {
    let values = [-3, -3 + 0xff_ffff_ffff, 0x12_3456_789a];
    let mut bytes = Vec::new();
    Integers::build(&values).write(&mut bytes);
    let mut expected = (-3_i64).to_le_bytes().to_vec();
    expected.push(5);
    for value in values {
        expected.extend_from_slice(&((value + 3) as u64).to_le_bytes()[1..5]);
    }
    expected.extend(values.map(|value| (value + 3) as u8));
    assert_eq!(bytes, expected);
}

struct Random(u64);

impl Random {
    /// Xorshift.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
