//! Binding: the columns of a filter are looked up, and its rules are combined where one pass can evaluate several.

use std::collections::BTreeMap;
use std::sync::Arc;

use memchr::memmem::Finder;

use crate::columns::{ColumnId, ColumnNames, Comparison};
use crate::filter::ast::{Condition, Filter, Group, Node};
use crate::filter::bound::{BoundFilter, BoundNode, BoundRule, BoundRules};
use crate::filter::membership::Membership;
use crate::filter::multi_pattern::{MultiPattern, Quantifier};
use crate::filter::predicate::Predicate;
use crate::record::Value;

impl Filter {
    /// Looks up the columns. A column that no record ever had is missing in every record.
    pub(crate) fn bind(&self, names: &ColumnNames) -> BoundFilter {
        BoundFilter {
            root: bind_group(&self.root, names),
        }
    }
}

fn bind_group(group: &Group, names: &ColumnNames) -> BoundNode {
    let rules: Vec<Arc<BoundNode>> = group
        .rules
        .iter()
        .map(|node| match node {
            Node::Group(group) => bind_group(group, names),
            Node::Rule(rule) => {
                let (predicate, negated) = Predicate::of(rule);
                BoundNode::Rule(BoundRule {
                    column: names.id(&rule.column),
                    predicate,
                    negated,
                })
            }
        })
        .map(Arc::new)
        .collect();
    let rules = BoundRules {
        combined: combine(&flattened(&rules, group.condition), group.condition),
        given: rules,
    };
    match group.condition {
        Condition::And => BoundNode::All(rules),
        Condition::Or => BoundNode::Any(rules),
    }
}

/// The rules of a group, with those of nested groups that combine them in the same way, or that have a single rule.
fn flattened(rules: &[Arc<BoundNode>], condition: Condition) -> Vec<Arc<BoundNode>> {
    let mut flat = Vec::with_capacity(rules.len());
    for rule in rules {
        match (&**rule, condition) {
            (BoundNode::All(nested), Condition::And) | (BoundNode::Any(nested), Condition::Or) => {
                flat.extend(flattened(&nested.given, condition));
            }
            (BoundNode::All(nested) | BoundNode::Any(nested), _) if nested.given.len() == 1 => {
                flat.extend(flattened(&nested.given, condition));
            }
            _ => flat.push(Arc::clone(rule)),
        }
    }
    flat
}

/// Replaces rules that compare the same column with different values, or search it for different substrings, by one node.
fn combine(rules: &[Arc<BoundNode>], condition: Condition) -> Vec<Arc<BoundNode>> {
    // The indexes of the rules that can be combined, by column and negation.
    let mut searches: BTreeMap<(Option<ColumnId>, bool), Vec<usize>> = BTreeMap::new();
    let mut comparisons: BTreeMap<(Option<ColumnId>, bool), Vec<usize>> = BTreeMap::new();
    for (at, rule) in rules.iter().enumerate() {
        if let BoundNode::Rule(BoundRule {
            column, negated, ..
        }) = &**rule
        {
            let key = (*column, *negated);
            if finder(rule).is_some() {
                searches.entry(key).or_default().push(at);
            // De Morgan: "not equal to a and not equal to b" is the complement of "equal to a or equal to b".
            } else if equal_value(rule).is_some() && *negated == (condition == Condition::And) {
                comparisons.entry(key).or_default().push(at);
            }
        }
    }
    let mut combined: Vec<Arc<BoundNode>> = Vec::new();
    let mut is_combined = vec![false; rules.len()];
    let mut add = |node: BoundNode, places: Vec<usize>| {
        combined.push(Arc::new(node));
        places.into_iter().for_each(|at| is_combined[at] = true);
    };
    for ((column, negated), places) in searches {
        // De Morgan: "a is not contained and b is not contained" is the complement of "a or b is contained".
        let quantifier = if (condition == Condition::And) != negated {
            Quantifier::All
        } else {
            Quantifier::Any
        };
        let finders = places.iter().filter_map(|&at| finder(&rules[at]));
        let finders = finders.map(Arc::clone).collect();
        if let Some(search) = MultiPattern::new(column, quantifier, negated, finders) {
            add(BoundNode::MultiPattern(search), places);
        }
    }
    for ((column, negated), places) in comparisons {
        let values = places.iter().filter_map(|&at| equal_value(&rules[at]));
        if let Some(membership) = Membership::new(column, values.collect(), negated) {
            add(BoundNode::Membership(membership), places);
        }
    }
    let others = rules
        .iter()
        .zip(&is_combined)
        .filter(|(_, is_combined)| !**is_combined);
    combined.extend(others.map(|(rule, _)| Arc::clone(rule)));
    combined
}

/// The value that a rule compares a column with for equality.
fn equal_value(node: &BoundNode) -> Option<Value<'_>> {
    let BoundNode::Rule(BoundRule { predicate, .. }) = node else {
        return None;
    };
    match predicate {
        Predicate::Boolean(boolean) => Some(Value::Boolean(*boolean)),
        Predicate::Number(Comparison::Equal, number) => Some(Value::Number(*number)),
        Predicate::Equals(text) => Some(Value::Text(text)),
        _ => None,
    }
}

/// The substring search of a rule. `None` for the empty substring, which every string contains.
fn finder(node: &BoundNode) -> Option<&Arc<Finder<'static>>> {
    match node {
        BoundNode::Rule(BoundRule {
            predicate: Predicate::Contains(finder),
            ..
        }) if !finder.needle().is_empty() => Some(finder),
        _ => None,
    }
}
