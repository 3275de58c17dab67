//! Evaluation of a bound filter: on the records of a block, or on one record.

use crate::columns::{Columns, Mask};
use crate::filter::bound::{BoundFilter, BoundNode, BoundRules};
use crate::filter::explanation::Explanation;
use crate::record::Value;
use crate::runtime::{StopCheck, Stopped};

impl BoundFilter {
    /// The records of `within` that pass the filter.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn mask(
        &self,
        columns: &Columns,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        self.root.mask(columns, within, stop_check)
    }

    /// Whether one record passes the filter.
    ///
    /// # Errors
    /// [`Stopped`].
    ///
    /// # Panics
    /// When `slot` is not a record of `columns`.
    pub(crate) fn matches(
        &self,
        columns: &Columns,
        slot: usize,
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        self.root.matches(columns, slot, stop_check)
    }

    /// Which rules and groups hold for one record, with JSON pointers relative to the filter.
    ///
    /// # Errors
    /// [`Stopped`].
    ///
    /// # Panics
    /// When `slot` is not a record of `columns`, or the filter is a part that [`BoundFilter::split`] made.
    pub(crate) fn explain(
        &self,
        columns: &Columns,
        slot: usize,
        stop_check: &StopCheck<'_>,
    ) -> Result<Explanation, Stopped> {
        self.root.explain(columns, slot, String::new(), stop_check)
    }

    /// Estimated nanoseconds that [`BoundFilter::mask`] takes for this block.
    pub(crate) fn cost(&self, columns: &Columns) -> f64 {
        self.root.cost(columns)
    }
}

impl BoundNode {
    pub(super) fn mask(
        &self,
        columns: &Columns,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        match self {
            Self::Rule(rule) => {
                let column = rule.column_in(columns);
                let held = rule.predicate.mask(column, within, stop_check)?;
                Ok(if rule.negated {
                    within.without(&held)
                } else {
                    held
                })
            }
            Self::MultiPattern(rules) => rules.mask(columns, within, stop_check),
            Self::Membership(rules) => rules.mask(columns, within, stop_check),
            Self::All(rules) => {
                let mut left = within.clone();
                for node in rules.cheapest_first(columns) {
                    left = node.mask(columns, &left, stop_check)?;
                    if left.is_empty() {
                        break;
                    }
                }
                Ok(left)
            }
            Self::Any(rules) => {
                let mut left = within.clone();
                for node in rules.cheapest_first(columns) {
                    left.and_not(&node.mask(columns, &left, stop_check)?);
                    if left.is_empty() {
                        return Ok(within.clone());
                    }
                }
                Ok(within.without(&left))
            }
        }
    }

    fn matches(
        &self,
        columns: &Columns,
        slot: usize,
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        match self {
            Self::Rule(rule) => {
                let value = rule.column.and_then(|id| columns.value(slot, id));
                stop_check.before_testing(text_of(value).map_or(0, str::len))?;
                Ok(rule.predicate.holds(value) != rule.negated)
            }
            Self::MultiPattern(rules) => {
                let value = rules.column().and_then(|id| columns.value(slot, id));
                rules.matches(text_of(value), stop_check)
            }
            Self::Membership(rules) => Ok(rules.matches(columns, slot)),
            Self::All(rules) => {
                for node in &rules.combined {
                    if !node.matches(columns, slot, stop_check)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Any(rules) => {
                for node in &rules.combined {
                    if node.matches(columns, slot, stop_check)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    fn explain(
        &self,
        columns: &Columns,
        slot: usize,
        pointer: String,
        stop_check: &StopCheck<'_>,
    ) -> Result<Explanation, Stopped> {
        let outcomes = |rules: &BoundRules| {
            let rules = rules.given.iter().enumerate();
            rules
                .map(|(at, rule)| {
                    let pointer = format!("{pointer}/rules/{at}");
                    rule.explain(columns, slot, pointer, stop_check)
                })
                .collect::<Result<Vec<Explanation>, Stopped>>()
        };
        let (held, rules) = match self {
            Self::Rule(_) | Self::MultiPattern(_) | Self::Membership(_) => {
                (self.matches(columns, slot, stop_check)?, Vec::new())
            }
            Self::All(rules) => {
                let rules = outcomes(rules)?;
                (rules.iter().all(|rule| rule.held), rules)
            }
            Self::Any(rules) => {
                let rules = outcomes(rules)?;
                (rules.iter().any(|rule| rule.held), rules)
            }
        };
        Ok(Explanation {
            held,
            pointer,
            rules,
        })
    }
}

fn text_of(value: Option<Value<'_>>) -> Option<&str> {
    match value {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}
