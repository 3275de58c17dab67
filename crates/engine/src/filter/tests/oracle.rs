//! The oracle: a simple implementation of filters for a single record.

use crate::filter::ast::{Condition, Group, Node, Operator, Rule};
use crate::record::{Data, OwnedValue};

/// Whether a record passes a group of rules.
pub(super) fn passes(group: &Group, data: &Data) -> bool {
    let holds = |node: &Node| match node {
        Node::Group(group) => passes(group, data),
        Node::Rule(rule) => rule_holds(rule, data.get(&rule.column)),
    };
    match group.condition {
        Condition::And => group.rules.iter().all(holds),
        Condition::Or => group.rules.iter().any(holds),
    }
}

fn rule_holds(rule: &Rule, found: Option<&OwnedValue>) -> bool {
    use OwnedValue::{Null, Number, Text};
    let same = || found.is_some_and(|found| Some(found) == rule.value.as_ref());
    let numbers = |test: fn(&f64, &f64) -> bool| match (found, &rule.value) {
        (Some(Number(found)), Some(Number(value))) => test(found, value),
        _ => false,
    };
    let texts = |test: fn(&str, &str) -> bool| match (found, &rule.value) {
        (Some(Text(found)), Some(Text(value))) => test(found, value),
        _ => false,
    };
    let empty = || match found {
        None | Some(Null) => true,
        Some(Text(text)) => text.is_empty(),
        Some(_) => false,
    };
    match rule.operator {
        Operator::Equals => same(),
        Operator::NotEquals => !same(),
        Operator::GreaterThan => numbers(f64::gt),
        Operator::LessThan => numbers(f64::lt),
        Operator::GreaterThanOrEquals => numbers(f64::ge),
        Operator::LessThanOrEquals => numbers(f64::le),
        Operator::Contains => texts(|found, value| found.contains(value)),
        Operator::NotContains => !texts(|found, value| found.contains(value)),
        Operator::StartsWith => texts(|found, value| found.starts_with(value)),
        Operator::EndsWith => texts(|found, value| found.ends_with(value)),
        Operator::IsEmpty => empty(),
        Operator::IsNotEmpty => !empty(),
    }
}
