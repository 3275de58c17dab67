//! Masks of blocks, single records and the oracle agree on random records and filters.

use crate::columns::{ColumnNames, Mask};
use crate::filter::ast::Filter;
use crate::filter::tests::oracle::passes;
use crate::filter::tests::random::{Random, STYLES, Style, columns, group, records};
use crate::runtime::StopCheck;

#[test]
fn masks_single_records_and_the_oracle_agree() {
    let seed = 0x5eed_0001;
    println!("seed {seed:#x}");
    let random = &mut Random(seed);
    let stop_check = &StopCheck::never();
    for round in 0..60 {
        let len = random.of(&[1, 5, 63, 64, 65, 700, 4096]);
        let styles: Vec<Style> = (0..1 + random.below(6))
            .map(|_| random.of(&STYLES))
            .collect();
        let records = records(random, len, &styles);
        let mut names = ColumnNames::default();
        let columns = columns(&records, &mut names);
        for _ in 0..40 {
            let filter = Filter {
                root: group(random, &styles, 3),
            };
            let bound = filter.bind(&names);
            let mut within = Mask::full(len);
            if random.below(2) == 0 {
                let keep = random.of(&[1, 2, 50]);
                (0..len)
                    .filter(|_| random.below(keep) > 0)
                    .collect::<Vec<_>>()
                    .iter()
                    .for_each(|&slot| within.clear(slot));
            }
            let mask = bound.mask(&columns, &within, stop_check).expect("no stop");
            let (early, deferred) = bound.split(&columns, stop_check).expect("no stop");
            for (slot, record) in records.iter().enumerate() {
                let expected = passes(&filter.root, record);
                let context = || format!("round {round}, record {slot} {record:?}, {filter:?}");
                assert_eq!(
                    mask.get(slot),
                    expected && within.get(slot),
                    "mask: {}",
                    context()
                );
                assert_eq!(
                    bound.matches(&columns, slot, stop_check),
                    Ok(expected),
                    "single: {}",
                    context()
                );
                let parts = early.matches(&columns, slot, stop_check) == Ok(true)
                    && deferred.as_ref().is_none_or(|deferred| {
                        deferred.matches(&columns, slot, stop_check) == Ok(true)
                    });
                assert_eq!(parts, expected, "split: {}", context());
            }
        }
    }
}
