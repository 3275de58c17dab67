//! The oracle: a simple implementation of filters for a single record.

use crate::filter::ast::{Condition, Group, Node, Operand, Operator, Rule};
use crate::json::{Instant, parse_time};
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

/// Whether a rule holds for a value or, if its operator is positive, for one of the elements of a list.
fn rule_holds(rule: &Rule, found: Option<&OwnedValue>) -> bool {
    use OwnedValue::{List, Null, Number, Text};
    if let Some(List(elements)) = found {
        let negative = rule.operator.is_negative();
        let is_empty = matches!(rule.operator, Operator::IsEmpty | Operator::IsNotEmpty)
            && elements.is_empty();
        // A negative operator holds for none of the elements: each of them is tested by it.
        let differs = |element| rule_holds(rule, Some(element)) != negative;
        return (is_empty || elements.iter().any(differs)) != negative;
    }
    let same = || match (found, &rule.operand) {
        (Some(found), Operand::Value(value)) => found == value,
        (Some(found), Operand::List(values)) => values.iter().any(|value| found == value),
        _ => false,
    };
    let numbers = |test: fn(&f64, &f64) -> bool| match (found, &rule.operand) {
        (Some(Number(found)), Operand::Value(Number(value))) => test(found, value),
        _ => false,
    };
    let texts = |test: fn(&str, &str) -> bool| match (found, &rule.operand) {
        (Some(Text(found)), Operand::Value(Text(value))) => test(found, value),
        _ => false,
    };
    let times = |test: fn(&Instant, &Instant) -> bool| match (found, &rule.operand) {
        (Some(Text(found)), Operand::Time(value)) => {
            parse_time(found).is_ok_and(|found| test(&found, value))
        }
        _ => false,
    };
    let empty = || match found {
        None | Some(Null) => true,
        Some(Text(text)) => text.is_empty(),
        Some(_) => false,
    };
    match rule.operator {
        Operator::Equals | Operator::In => same(),
        Operator::NotEquals | Operator::NotIn => !same(),
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
        Operator::Before => times(Instant::lt),
        Operator::After => times(Instant::gt),
        Operator::OnOrBefore => times(Instant::le),
        Operator::OnOrAfter => times(Instant::ge),
    }
}
