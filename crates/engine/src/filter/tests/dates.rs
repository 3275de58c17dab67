//! Date rules on the same column, which are evaluated together.

use std::sync::atomic::AtomicBool;

use crate::columns::{ColumnNames, Mask};
use crate::filter::ast::{Condition, Filter, Group, Node, Operand, Operator, Rule};
use crate::filter::bound::BoundFilter;
use crate::filter::tests::oracle::passes;
use crate::filter::tests::random::{TIMES, columns};
use crate::json::parse_time;
use crate::record::{Data, OwnedValue};
use crate::runtime::{StopCheck, Stopped};

const OPERATORS: [Operator; 4] = [
    Operator::Before,
    Operator::After,
    Operator::OnOrBefore,
    Operator::OnOrAfter,
];

/// A record with this text in the column of the rules.
fn record(text: &str) -> Data {
    Data::new(vec![("date".into(), OwnedValue::Text(text.into()))])
}

/// A rule for each operator and each of the times.
fn rules() -> Vec<Node> {
    let times = TIMES.iter().filter_map(|text| parse_time(text).ok());
    let rule = |operator, time| {
        Node::Rule(Rule {
            column: "date".into(),
            operator,
            operand: Operand::Time(time),
        })
    };
    times
        .flat_map(|time| OPERATORS.map(|operator| rule(operator, time)))
        .collect()
}

#[test]
fn two_date_rules_hold_as_the_oracle_says() {
    let records = TIMES.map(record);
    let mut names = ColumnNames::default();
    let columns = columns(&records, &mut names);
    let within = Mask::full(records.len());
    for condition in [Condition::And, Condition::Or] {
        for first in rules() {
            for second in rules() {
                let root = Group {
                    condition,
                    rules: vec![first.clone(), second],
                };
                let filter = Filter { root };
                let mask = filter
                    .bind(&names)
                    .mask(&columns, &within, &StopCheck::never())
                    .expect("no stop");
                for (slot, record) in records.iter().enumerate() {
                    let expected = passes(&filter.root, record);
                    assert_eq!(mask.get(slot), expected, "{record:?}, {filter:?}");
                }
            }
        }
    }
}

#[test]
fn the_date_rules_of_a_group_become_two_bounds() {
    for condition in [Condition::And, Condition::Or] {
        let rules = rules();
        let root = Group { condition, rules };
        let bound = Filter { root }.bind(&ColumnNames::default());
        let (BoundFilter::All(rules) | BoundFilter::Any(rules)) = &bound else {
            panic!("{bound:?}");
        };
        assert_eq!(rules.len(), 2, "{condition:?}");
    }
}

#[test]
fn a_stop_flag_ends_date_rules_after_some_blocks() {
    let records: Vec<Data> = (0..4096)
        .map(|at| record(&format!("2026-01-31T00:00:00.{at:04}Z")))
        .collect();
    let mut names = ColumnNames::default();
    let columns = columns(&records, &mut names);
    let root = Group {
        condition: Condition::And,
        rules: rules(),
    };
    let bound = Filter { root }.bind(&names);
    let stop = AtomicBool::new(true);
    let stop_check = StopCheck::new(&stop);
    let evaluated = (0..8).map(|_| bound.mask(&columns, &Mask::full(4096), &stop_check));
    assert_eq!(evaluated.collect::<Result<Vec<_>, _>>(), Err(Stopped));
}
