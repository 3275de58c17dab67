//! Binding: the columns of a filter are looked up, and its rules are combined where one pass can evaluate several.

use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;

use crate::columns::{ColumnId, ColumnNames, Comparison};
use crate::filter::ast::{Condition, Filter, Group, Node, Operand, Operator, Rule};
use crate::filter::bound::{BoundFilter, BoundRule};
use crate::filter::explanation::ExplainedFilter;
use crate::filter::multi_pattern::MultiPattern;
use crate::filter::predicate::Predicate;
use crate::json::Instant;
use crate::record::{OwnedValue, Value};

impl Filter {
    /// Looks up the columns. A column that no record ever had is missing in every record.
    pub(crate) fn bind(&self, names: &ColumnNames) -> BoundFilter {
        bind_group(&self.root, names)
    }

    /// As [`Filter::bind`], to explain the rules one by one.
    pub(crate) fn bind_explained(&self, names: &ColumnNames) -> ExplainedFilter {
        explained_group(&self.root, names)
    }
}

fn explained_group(group: &Group, names: &ColumnNames) -> ExplainedFilter {
    let nodes = group.rules.iter().map(|node| match node {
        Node::Group(group) => explained_group(group, names),
        Node::Rule(rule) => ExplainedFilter::Rule(BoundRule::new(rule, names)),
    });
    ExplainedFilter::Group {
        condition: group.condition,
        nodes: nodes.collect(),
    }
}

fn bind_group(group: &Group, names: &ColumnNames) -> BoundFilter {
    let mut nodes = Vec::with_capacity(group.rules.len());
    flatten(group, group.condition, &mut nodes);
    let rules = combine(&nodes, group.condition, names);
    match group.condition {
        Condition::And => BoundFilter::All(rules),
        Condition::Or => BoundFilter::Any(rules),
    }
}

/// Adds the rules of a group, with those of nested groups that combine them in the same way, or that have a single rule.
fn flatten<'a>(group: &'a Group, condition: Condition, nodes: &mut Vec<&'a Node>) {
    for node in &group.rules {
        match node {
            Node::Group(nested) if nested.condition == condition || nested.rules.len() == 1 => {
                flatten(nested, condition, nodes);
            }
            _ => nodes.push(node),
        }
    }
}

/// Fewer rules that compare a column for equality are evaluated one after the other.
const MIN_COMPARISONS: usize = 4;

/// What a node for several rules compares a column with, by column and negation, and these rules.
type Combinable<'a, T> = BTreeMap<(Option<ColumnId>, bool), Vec<(&'a Rule, T)>>;

/// The date rules of a group and their endpoints, by column and by whether the rule sets an upper bound.
type DateRules<'a> = BTreeMap<(Option<ColumnId>, bool), Vec<(&'a Rule, Endpoint)>>;

/// The endpoint of the times that a date rule accepts: right before an instant (`false`), or right after it (`true`).
type Endpoint = (Instant, bool);

/// Binds the rules of a group. Those that compare the same column with different values, or search it for different
/// substrings, become one node. Of the date rules on a column, one upper and one lower bound remain.
fn combine(nodes: &[&Node], condition: Condition, names: &ColumnNames) -> Vec<Arc<BoundFilter>> {
    let mut searches: Combinable<'_, &str> = BTreeMap::new();
    let mut comparisons: Combinable<'_, &[OwnedValue]> = BTreeMap::new();
    let mut dates = DateRules::new();
    let mut others = Vec::new();
    for node in nodes {
        let rule = match node {
            Node::Rule(rule) => rule,
            Node::Group(group) => {
                others.push(Arc::new(bind_group(group, names)));
                continue;
            }
        };
        let key = || (names.id(&rule.column), rule.operator.is_negative());
        if let Some(substring) = substring(rule, condition) {
            searches.entry(key()).or_default().push((rule, substring));
        } else if let Some(values) = equal_values(rule, condition) {
            comparisons.entry(key()).or_default().push((rule, values));
        } else if let Some((is_upper, endpoint)) = date_bound(rule) {
            let key = (names.id(&rule.column), is_upper);
            dates.entry(key).or_default().push((rule, endpoint));
        } else {
            others.push(bind_rule(rule, names));
        }
    }
    let mut combined = Vec::new();
    for ((column, negated), rules) in searches {
        let substrings = rules.iter().map(|(_, substring)| *substring);
        match MultiPattern::new(column, negated, substrings) {
            Some(search) => combined.push(Arc::new(BoundFilter::MultiPattern(search))),
            None => others.extend(rules.iter().map(|(rule, _)| bind_rule(rule, names))),
        }
    }
    for ((column, negated), rules) in comparisons {
        if rules.len() < MIN_COMPARISONS {
            others.extend(rules.iter().map(|(rule, _)| bind_rule(rule, names)));
            continue;
        }
        let values: Vec<Value<'_>> = rules
            .iter()
            .flat_map(|(_, values)| values.iter().map(OwnedValue::borrow))
            .collect();
        combined.push(Arc::new(BoundFilter::Rule(BoundRule {
            column,
            predicate: Predicate::one_of(values.into_iter()),
            negated,
        })));
    }
    for ((_, is_upper), rules) in dates {
        let rules = rules.into_iter();
        // The widest bound of an OR or the tightest one of an AND.
        let remaining = if is_upper == (condition == Condition::Or) {
            rules.max_by_key(|(_, endpoint)| *endpoint)
        } else {
            rules.min_by_key(|(_, endpoint)| *endpoint)
        };
        others.extend(remaining.map(|(rule, _)| bind_rule(rule, names)));
    }
    combined.append(&mut others);
    combined
}

fn bind_rule(rule: &Rule, names: &ColumnNames) -> Arc<BoundFilter> {
    Arc::new(BoundFilter::Rule(BoundRule::new(rule, names)))
}

/// The substring that a rule searches for, if a group with this condition can combine such rules. `None` for the empty
/// substring, which every string contains.
///
/// Rules that must all find their substring are not combined: each is searched only in the records that passed those before.
fn substring(rule: &Rule, condition: Condition) -> Option<&str> {
    let combined = match condition {
        // De Morgan: "a is not contained and b is not contained" is the complement of "a or b is contained".
        Condition::And => Operator::NotContains,
        Condition::Or => Operator::Contains,
    };
    match &rule.operand {
        Operand::Value(OwnedValue::Text(text)) if rule.operator == combined => {
            Some(&**text).filter(|text| !text.is_empty())
        }
        _ => None,
    }
}

/// The values that a rule compares for equality, if a group with this condition can combine such rules.
fn equal_values(rule: &Rule, condition: Condition) -> Option<&[OwnedValue]> {
    let combined = match condition {
        // De Morgan: "not equal to a and not equal to b" is the complement of "equal to a or equal to b".
        Condition::And => [Operator::NotEquals, Operator::NotIn],
        Condition::Or => [Operator::Equals, Operator::In],
    };
    match &rule.operand {
        _ if !combined.contains(&rule.operator) => None,
        Operand::Value(value) => Some(slice::from_ref(value)),
        Operand::List(values) => Some(values),
        Operand::None | Operand::Time(_) => None,
    }
}

/// Whether a date rule sets an upper bound, and its endpoint; `None` for other rules.
fn date_bound(rule: &Rule) -> Option<(bool, Endpoint)> {
    let Operand::Time(time) = rule.operand else {
        return None;
    };
    match rule.operator.comparison()? {
        Comparison::Less => Some((true, (time, false))),
        Comparison::LessOrEqual => Some((true, (time, true))),
        Comparison::Greater => Some((false, (time, true))),
        Comparison::GreaterOrEqual => Some((false, (time, false))),
        Comparison::Equal => None,
    }
}
