//! Evaluation of a bound filter: on the records of a block, or on one record.

use crate::columns::{Columns, Mask};
use crate::filter::bound::{BoundFilter, cheapest_first};
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
            Self::All(rules) => {
                let mut left = within.clone();
                for rule in cheapest_first(rules, columns) {
                    left = rule.mask(columns, &left, stop_check)?;
                    if left.is_empty() {
                        break;
                    }
                }
                Ok(left)
            }
            Self::Any(rules) => {
                let mut left = within.clone();
                for rule in cheapest_first(rules, columns) {
                    left.and_not(&rule.mask(columns, &left, stop_check)?);
                    if left.is_empty() {
                        return Ok(within.clone());
                    }
                }
                Ok(within.without(&left))
            }
        }
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
        match self {
            Self::Rule(rule) => rule.matches(columns, slot, stop_check),
            Self::MultiPattern(rules) => {
                let value = rules.column().and_then(|id| columns.value(slot, id));
                let texts = value.into_iter().flat_map(Value::strings);
                rules.matches(texts, stop_check)
            }
            Self::All(rules) => {
                for rule in rules {
                    if !rule.matches(columns, slot, stop_check)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Any(rules) => {
                for rule in rules {
                    if rule.matches(columns, slot, stop_check)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}
