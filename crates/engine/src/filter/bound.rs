//! A filter bound to the columns of a database.

use std::sync::Arc;

use crate::columns::{Column, ColumnId, ColumnNames, Columns};
use crate::filter::ast::Rule;
use crate::filter::multi_pattern::MultiPattern;
use crate::filter::predicate::Predicate;
use crate::record::Value;
use crate::runtime::{StopCheck, Stopped};

/// A filter, or a part of one, whose column names are resolved. Its evaluation fails only when it is stopped.
///
/// Groups that only nest their rules are left out, and rules are combined where one pass can evaluate several.
#[derive(Clone, Debug)]
pub(crate) enum BoundFilter {
    /// A group whose rules must all hold.
    All(Vec<Arc<BoundFilter>>),
    /// A group in which at least one rule must hold.
    Any(Vec<Arc<BoundFilter>>),
    Rule(BoundRule),
    /// Several rules of a group that one pass over the text evaluates.
    MultiPattern(MultiPattern),
}

#[derive(Clone, Debug)]
pub(crate) struct BoundRule {
    /// `None` if no record ever had the column.
    pub(super) column: Option<ColumnId>,
    pub(super) predicate: Predicate,
    /// Whether the rule is the complement of the predicate.
    pub(super) negated: bool,
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

impl BoundFilter {
    /// Estimated nanoseconds that [`BoundFilter::mask`] takes for this block.
    pub(crate) fn cost(&self, columns: &Columns) -> f64 {
        match self {
            Self::Rule(rule) => {
                let column = rule.column_in(columns);
                rule.predicate.cost(column, columns.len())
            }
            Self::MultiPattern(rules) => rules.cost(columns),
            Self::All(rules) | Self::Any(rules) => {
                let costs = rules.iter().map(|rule| rule.cost(columns));
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
                let costs = rules.iter().map(|rule| rule.match_cost(columns));
                costs.fold(0.0, f64::max)
            }
        }
    }
}

/// The rules of a group, cheapest first: a later rule is evaluated only on records that earlier rules left undecided.
pub(super) fn cheapest_first<'a>(
    rules: &'a [Arc<BoundFilter>],
    columns: &Columns,
) -> Vec<&'a BoundFilter> {
    let mut order: Vec<(f64, &BoundFilter)> = rules
        .iter()
        .map(|rule| (rule.cost(columns), &**rule))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    order.into_iter().map(|(_, rule)| rule).collect()
}
