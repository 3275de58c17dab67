//! Membership: the rules of a group that compare one column with many values.

use std::sync::Arc;

use crate::columns::{ColumnId, Columns, Mask, ValueSet};
use crate::filter::predicate::RULE_BYTES;
use crate::record::Value;
use crate::runtime::{StopCheck, Stopped};

/// Fewer values are compared one after the other.
const MIN_VALUES: usize = 4;

/// Estimated nanoseconds to look up the value of a record.
const LOOK_UP_COST: f64 = 4.5;

/// The `equals` rules of an OR, or the `not_equals` rules of an AND, on one column.
#[derive(Clone, Debug)]
pub(super) struct Membership {
    column: Option<ColumnId>,
    values: Arc<ValueSet>,
    /// Whether the rules are `not_equals`: then the records with another value, or without a value, pass.
    negated: bool,
}

impl Membership {
    /// `None` if there are too few values.
    pub(super) fn new<'v>(
        column: Option<ColumnId>,
        values: impl ExactSizeIterator<Item = Value<'v>>,
        negated: bool,
    ) -> Option<Self> {
        (values.len() >= MIN_VALUES).then(|| Self {
            column,
            values: Arc::new(ValueSet::new(values)),
            negated,
        })
    }

    /// The records of `within` that pass.
    pub(super) fn mask(
        &self,
        columns: &Columns,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        stop_check.before_testing(RULE_BYTES)?;
        let held = match self.column.and_then(|id| columns.column(id)) {
            None => Mask::empty(),
            Some(column) => column.by_row(within, |rows| Ok(column.in_set(&self.values, rows)))?,
        };
        Ok(if self.negated {
            within.without(&held)
        } else {
            held
        })
    }

    /// Whether a record passes.
    pub(super) fn matches(&self, columns: &Columns, slot: usize) -> bool {
        let value = self.column.and_then(|id| columns.value(slot, id));
        value.is_some_and(|value| self.values.contains(value)) != self.negated
    }

    /// Estimated nanoseconds that [`Membership::mask`] takes for a block.
    pub(super) fn cost(&self, columns: &Columns) -> f64 {
        let Some(column) = self.column.and_then(|id| columns.column(id)) else {
            return 0.0;
        };
        let looked_up = column
            .text()
            .map_or(columns.len(), |texts| texts.strings().len());
        1000.0 + LOOK_UP_COST * looked_up as f64
    }
}
