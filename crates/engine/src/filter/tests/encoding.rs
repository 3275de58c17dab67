//! Encoded columns keep every cell, and damaged bytes never panic.

use crate::columns::{ColumnNames, Columns, Mask};
use crate::filter::ast::Filter;
use crate::filter::tests::random::{Random, STYLES, Style, columns, group, records};
use crate::record::{Data, OwnedValue};
use crate::runtime::StopCheck;

fn assert_holds(columns: &Columns, records: &[Data], names: &ColumnNames) {
    assert_eq!(columns.len(), records.len());
    let names: Vec<&str> = names.iter().map(|(_, name)| name).collect();
    for (slot, record) in records.iter().enumerate() {
        let cells: Vec<_> = columns
            .cells(slot)
            .map(|(id, value)| (names[id.0 as usize], OwnedValue::from(value)))
            .collect();
        let expected: Vec<_> = record
            .cells()
            .iter()
            .map(|(name, value)| (&**name, value.clone()))
            .collect();
        assert_eq!(cells, expected, "record {slot}");
    }
}

#[test]
fn encoding_and_joining_keep_every_cell() {
    let seed = 0x5eed_0002;
    println!("seed {seed:#x}");
    let random = &mut Random(seed);
    for _ in 0..40 {
        let styles: Vec<Style> = (0..random.below(7)).map(|_| random.of(&STYLES)).collect();
        let mut names = ColumnNames::default();
        let len = random.of(&[0, 1, 2, 64, 333, 2048]);
        let first = records(random, len, &styles);
        let len = random.of(&[0, 1, 100, 2048]);
        let second = records(random, len, &styles);
        let (a, b) = (columns(&first, &mut names), columns(&second, &mut names));
        assert_holds(&a, &first, &names);

        let mut bytes = Vec::new();
        a.write(&mut bytes);
        let read = Columns::read(&bytes).expect("own encoding");
        assert_holds(&read, &first, &names);
        let mut again = Vec::new();
        read.write(&mut again);
        assert!(again == bytes, "the encoding is the same after reading");

        let both = [first.as_slice(), second.as_slice()].concat();
        assert_holds(&Columns::join(&[&a, &b]), &both, &names);
    }
}

#[test]
fn damaged_bytes_never_panic() {
    let seed = 0x5eed_0003;
    println!("seed {seed:#x}");
    let random = &mut Random(seed);
    let mut refused = 0;
    for _ in 0..30 {
        let styles: Vec<Style> = (0..1 + random.below(5))
            .map(|_| random.of(&STYLES))
            .collect();
        let len = random.of(&[1, 3, 64, 150]);
        let records = records(random, len, &styles);
        let mut names = ColumnNames::default();
        let mut encoded = Vec::new();
        columns(&records, &mut names).write(&mut encoded);
        for _ in 0..400 {
            let mut bytes = encoded.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes[at] ^= 1 << random.below(8),
                    1 => bytes[at] = random.of(&[0, 1, 2, 4, 8, 0x7f, 0x80, 0xff]),
                    2 => bytes.truncate(at.max(1)),
                    _ => bytes.insert(at, random.below(256) as u8),
                }
            }
            let Ok(read) = Columns::read(&bytes) else {
                refused += 1;
                continue;
            };
            // Damaged columns that are accepted may hold other values, but no access may panic.
            for slot in 0..read.len() {
                let _ = read.cells(slot).count();
            }
            let _ = read.counts_within(&Mask::full(read.len())).count();
            for _ in 0..4 {
                let bound = Filter {
                    root: group(random, &styles, 1),
                }
                .bind(&names);
                let _ = bound.mask(&read, &Mask::full(read.len()), &StopCheck::never());
            }
        }
    }
    assert!(refused > 1000, "most damage is detected: {refused}");
}
