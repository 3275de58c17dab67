//! A multi-pattern search agrees with separate searches for each pattern.

use std::sync::atomic::AtomicBool;

use crate::columns::{ColumnNames, ColumnsBuilder, Mask, Texts};
use crate::filter::ast::{Condition, Filter, Group, Node, Operand, Operator, Rule};
use crate::filter::multi_pattern::MultiPattern;
use crate::record::{Data, OwnedValue};
use crate::runtime::{StopCheck, Stopped};

fn next(random: &mut u64) -> usize {
    // Xorshift64*, <https://doi.org/10.18637/jss.v008.i14>.
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    (random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize
}

/// Few letters and long repetitions: prefixes are shared, and occurrences overlap.
fn word(random: &mut u64, pieces: usize) -> String {
    (0..next(random) % (pieces + 1))
        .map(|_| {
            [
                "a",
                "ab",
                "ba",
                "é",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            ][next(random) % 5]
        })
        .collect()
}

fn texts(random: &mut u64, count: usize, pieces: usize) -> Vec<Option<String>> {
    let distinct: Vec<String> = (0..40).map(|_| word(random, pieces)).collect();
    let coded = next(random).is_multiple_of(2);
    (0..count)
        .map(|_| match next(random) % 10 {
            0 => None,
            _ if coded => Some(distinct[next(random) % distinct.len()].clone()),
            _ => Some(word(random, pieces)),
        })
        .collect()
}

fn filter(patterns: &[String], operator: Operator, condition: Condition) -> Filter {
    let rules = patterns.iter().map(|pattern| {
        Node::Rule(Rule {
            column: "text".into(),
            operator,
            operand: Operand::Value(OwnedValue::Text(pattern.as_str().into())),
        })
    });
    Filter {
        root: Group {
            condition,
            rules: rules.collect(),
        },
    }
}

#[test]
fn many_patterns_are_found_as_by_separate_searches() {
    let seed = 0x5eed_0004;
    println!("seed {seed:#x}");
    let random = &mut { seed };
    let stop_check = &StopCheck::never();
    let mut together = 0;
    for round in 0..60 {
        let pieces = [3, 30, 1000, 1000][next(random) % 4];
        let count = [1, 64, 300][next(random) % 3];
        let texts = texts(random, count, pieces);
        let mut names = ColumnNames::default();
        let mut builder = ColumnsBuilder::default();
        for text in &texts {
            let cells = text.as_ref().map(|text| {
                let text: Box<str> = text.as_str().into();
                ("text".into(), OwnedValue::Text(text))
            });
            builder.push_data(&Data::new(cells.into_iter().collect()), &mut names);
        }
        let columns = builder.finish();
        // The length of the shortest pattern decides how many places of a text are looked up.
        let min_bytes = [1, 5, 9, 12][next(random) % 4];
        let patterns: Vec<String> = (0..1 + next(random) % 600)
            .map(|_| match texts[next(random) % texts.len()].as_deref() {
                // Substrings of a text, and strings that differ slightly from one.
                Some(text) if !text.is_empty() && next(random).is_multiple_of(2) => {
                    let from = text.floor_char_boundary(next(random) % text.len());
                    let mut part = text[from..].to_owned();
                    if next(random).is_multiple_of(4) {
                        part.push('x');
                    }
                    part
                }
                _ => word(random, 4),
            })
            .filter(|pattern| pattern.is_empty() || pattern.len() >= min_bytes)
            .chain(["abba".repeat(3)])
            .collect();
        for (operator, negated) in [(Operator::Contains, false), (Operator::NotContains, true)] {
            for condition in [Condition::And, Condition::Or] {
                let bound = filter(&patterns, operator, condition).bind(&names);
                let within: Mask = (0..count)
                    .filter(|slot| slot % 7 > 0 || count == 1)
                    .collect();
                let mask = bound.mask(&columns, &within, stop_check).expect("no stop");
                for (slot, text) in texts.iter().enumerate() {
                    let mut rules = patterns.iter().map(|pattern| {
                        text.as_ref().is_some_and(|text| text.contains(pattern)) != negated
                    });
                    let expected = match condition {
                        Condition::And => rules.all(|holds| holds),
                        Condition::Or => rules.any(|holds| holds),
                    };
                    let context = format!("round {round}, {operator:?} {condition:?}, slot {slot}");
                    assert_eq!(mask.get(slot), expected && within.get(slot), "{context}");
                    let held = bound.matches(&columns, slot, stop_check);
                    assert_eq!(held, Ok(expected), "{context}");
                }
            }
        }
        let substrings: Vec<&str> = (patterns.iter().map(String::as_str))
            .filter(|pattern| !pattern.is_empty())
            .collect();
        let (column, substrings) = (names.id("text"), substrings.into_iter());
        if let Some(search) = MultiPattern::new(column, false, substrings) {
            let text = column.and_then(|id| columns.column(id)?.scalars.text());
            let bytes = text.map_or(0, Texts::searched_bytes);
            together += usize::from(search.table_for(bytes, []).is_some());
        }
    }
    assert!(
        (5..55).contains(&together),
        "both search methods are used: {together} of 60"
    );
}

#[test]
fn a_stop_flag_ends_the_search() {
    let mut names = ColumnNames::default();
    let mut builder = ColumnsBuilder::default();
    for at in 0..64 {
        let text: Box<str> = format!("{at} lorem ipsum").repeat(4096).into();
        let cells = vec![("text".into(), OwnedValue::Text(text))];
        builder.push_data(&Data::new(cells), &mut names);
    }
    let columns = builder.finish();
    for count in [1, 10, 400] {
        let patterns: Vec<String> = (0..count).map(|at| format!("dolor {at}")).collect();
        let bound = filter(&patterns, Operator::Contains, Condition::Or).bind(&names);
        let stop = AtomicBool::new(true);
        let stopped = bound.mask(&columns, &Mask::full(64), &StopCheck::new(&stop));
        assert_eq!(stopped, Err(Stopped), "{count} patterns");
    }
}
