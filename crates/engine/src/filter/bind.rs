//! Binding: the columns of a filter are looked up, and its rules are combined where one pass can evaluate several.

use std::collections::BTreeMap;
use std::sync::Arc;

use memchr::memmem::Finder;

use crate::columns::{ColumnId, ColumnNames};
use crate::filter::ast::{Condition, Filter, Group, Node};
use crate::filter::bound::{BoundFilter, BoundNode, BoundRule, BoundRules};
use crate::filter::multi_pattern::{MultiPattern, Quantifier};
use crate::filter::predicate::Predicate;

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
        combined: combine(&rules, group.condition),
        given: rules,
    };
    match group.condition {
        Condition::And => BoundNode::All(rules),
        Condition::Or => BoundNode::Any(rules),
    }
}

/// Replaces rules that search the same column for different substrings by one multi-pattern search.
fn combine(rules: &[Arc<BoundNode>], condition: Condition) -> Vec<Arc<BoundNode>> {
    // The indexes of the rules that can be combined, by column and negation.
    let mut searches: BTreeMap<(Option<ColumnId>, bool), Vec<usize>> = BTreeMap::new();
    for (at, rule) in rules.iter().enumerate() {
        if let BoundNode::Rule(BoundRule {
            column, negated, ..
        }) = &**rule
            && finder(rule).is_some()
        {
            searches.entry((*column, *negated)).or_default().push(at);
        }
    }
    let mut combined: Vec<Arc<BoundNode>> = Vec::new();
    let mut is_combined = vec![false; rules.len()];
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
            combined.push(Arc::new(BoundNode::MultiPattern(search)));
            places.into_iter().for_each(|at| is_combined[at] = true);
        }
    }
    let others = rules
        .iter()
        .zip(&is_combined)
        .filter(|(_, is_combined)| !**is_combined);
    combined.extend(others.map(|(rule, _)| Arc::clone(rule)));
    combined
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
