//! A filter bound to the columns of a database.

use std::sync::Arc;

use crate::columns::{Column, ColumnId, ColumnNames, Columns};
use crate::filter::ast::Rule;
use crate::filter::multi_pattern::MultiPattern;
use crate::filter::predicate::Predicate;
use crate::record::Value;
use crate::runtime::{StopCheck, Stopped};

/// A filter whose column names are resolved. Its evaluation fails only when it is stopped.
#[derive(Clone, Debug)]
pub(crate) struct BoundFilter {
    pub(super) root: BoundNode,
}

#[derive(Clone, Debug)]
pub(super) enum BoundNode {
    /// A group whose rules must all hold.
    All(BoundRules),
    /// A group in which at least one rule must hold.
    Any(BoundRules),
    Rule(BoundRule),
    /// Several rules of a group that one pass over the text evaluates.
    MultiPattern(MultiPattern),
}

#[derive(Clone, Debug)]
pub(super) struct BoundRule {
    /// `None` if no record ever had the column.
    pub(super) column: Option<ColumnId>,
    pub(super) predicate: Predicate,
    /// Whether the rule is the complement of the predicate.
    pub(super) negated: bool,
}

/// The nodes of a group to evaluate, without groups that only nest their rules, and with rules combined where one pass can
/// evaluate several.
#[derive(Clone, Debug)]
pub(super) struct BoundRules {
    pub(super) nodes: Vec<Arc<BoundNode>>,
}

impl BoundRule {
    /// Looks up the column of a rule.
    pub(super) fn new(rule: &Rule, names: &ColumnNames) -> Self {
        Self {
            column: names.id(&rule.column),
            predicate: Predicate::of(rule),
            negated: rule.operator.is_negative(),
        }
    }

    /// Whether the rule holds for a record.
    pub(super) fn matches(
        &self,
        columns: &Columns,
        slot: usize,
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        let value = self.column.and_then(|id| columns.value(slot, id));
        let texts = value.into_iter().flat_map(Value::strings);
        stop_check.before_testing(texts.map(str::len).sum())?;
        Ok(self.predicate.holds(value) != self.negated)
    }

    /// The column in this block; `None` if no record of the block has it.
    pub(super) fn column_in<'a>(&self, columns: &'a Columns) -> Option<&'a Column> {
        self.column.and_then(|id| columns.column(id))
    }
}

impl BoundNode {
    /// Estimated nanoseconds to evaluate the node on a whole block.
    pub(super) fn cost(&self, columns: &Columns) -> f64 {
        match self {
            Self::Rule(rule) => {
                let column = rule.column_in(columns);
                rule.predicate.cost(column, columns.len())
            }
            Self::MultiPattern(rules) => rules.cost(columns),
            Self::All(rules) | Self::Any(rules) => {
                let costs = rules.nodes.iter().map(|node| node.cost(columns));
                costs.sum()
            }
        }
    }

    /// Estimated nanoseconds that each match adds to the cost.
    pub(super) fn match_cost(&self, columns: &Columns) -> f64 {
        match self {
            Self::Rule(rule) => rule.predicate.match_cost(rule.column_in(columns)),
            Self::MultiPattern(_) => 0.0,
            Self::All(rules) | Self::Any(rules) => {
                let costs = rules.nodes.iter().map(|node| node.match_cost(columns));
                costs.fold(0.0, f64::max)
            }
        }
    }
}

impl BoundRules {
    /// The nodes to evaluate, cheapest first: a later node is evaluated only on records that earlier nodes left
    /// undecided.
    pub(super) fn cheapest_first(&self, columns: &Columns) -> Vec<&BoundNode> {
        let mut order: Vec<(f64, &BoundNode)> = self
            .nodes
            .iter()
            .map(|node| (node.cost(columns), &**node))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order.into_iter().map(|(_, node)| node).collect()
    }
}
