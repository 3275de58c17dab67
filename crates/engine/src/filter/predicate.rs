//! The predicate of a rule, evaluated on one value or on a column of a block.

use memchr::memmem::Finder;

use std::sync::Arc;

use crate::columns::{Column, Comparison, Mask, Scalars, Texts, ValueSet};
use crate::filter::ast::{Operand, Operator, Rule};
use crate::json::{Instant, parse_time};
use crate::record::{OwnedValue, Value};
use crate::runtime::{StopCheck, Stopped};

/// Bytes that the evaluation on a block counts for in the stop check, in addition to the text that is searched.
const RULE_BYTES: usize = 4096;

/// Bytes that a text that is tested for a time counts for in the stop check.
const TIME_BYTES: usize = 32;

/// Estimated nanoseconds to look up the value of a record in a set.
const LOOK_UP_COST: f64 = 4.5;

/// Estimated nanoseconds to parse and compare a time.
const TIME_COST: f64 = 25.0;

/// A condition on the value of one column. Negative operators are the complement of a predicate.
#[derive(Clone, Debug)]
pub(super) enum Predicate {
    Empty,
    Boolean(bool),
    Number(Comparison, f64),
    Equals(Box<str>),
    StartsWith(Box<str>),
    EndsWith(Box<str>),
    Contains(Box<Finder<'static>>),
    /// Equal to a value of the set.
    OneOf(Arc<ValueSet>),
    /// A string that is a time.
    Time(Comparison, Instant),
    /// Never holds: the operator does not take this type of value. The parser refuses such rules.
    Never,
}

impl Predicate {
    /// The predicate of a rule; its complement for a negative operator.
    pub(super) fn of(rule: &Rule) -> Self {
        let comparison = rule.operator.comparison();
        match (&rule.operand, rule.operator, comparison) {
            (Operand::None, _, _) => Self::Empty,
            (Operand::List(values), _, _) => Self::one_of(values.iter().map(OwnedValue::borrow)),
            (Operand::Time(time), _, Some(comparison)) => Self::Time(comparison, *time),
            (Operand::Value(OwnedValue::Number(number)), _, Some(comparison)) => {
                Self::Number(comparison, *number)
            }
            (Operand::Value(value), Operator::Equals | Operator::NotEquals, _) => {
                Self::equal(value.borrow())
            }
            (Operand::Value(OwnedValue::Text(text)), operator, _) => match operator {
                Operator::Contains | Operator::NotContains => {
                    Self::Contains(Box::new(Finder::new(&**text).into_owned()))
                }
                Operator::StartsWith => Self::StartsWith(text.clone()),
                Operator::EndsWith => Self::EndsWith(text.clone()),
                _ => Self::Never,
            },
            _ => Self::Never,
        }
    }

    /// Equal to one of the values.
    pub(super) fn one_of<'v>(mut values: impl ExactSizeIterator<Item = Value<'v>>) -> Self {
        match (values.len(), values.next()) {
            (1, Some(value)) => Self::equal(value),
            (_, first) => Self::OneOf(Arc::new(ValueSet::new(first.into_iter().chain(values)))),
        }
    }

    fn equal(value: Value<'_>) -> Self {
        match value {
            Value::Boolean(boolean) => Self::Boolean(boolean),
            Value::Number(number) => Self::Number(Comparison::Equal, number),
            Value::Text(text) => Self::Equals(text.into()),
            Value::Null | Value::List(_) => Self::Never,
        }
    }

    /// Whether the predicate holds for a value, or for one of the elements of a list; `None` if the record lacks the column.
    pub(super) fn holds(&self, value: Option<Value<'_>>) -> bool {
        match value {
            None => matches!(self, Self::Empty),
            Some(Value::List(list)) => {
                let is_empty = matches!(self, Self::Empty) && list.len() == 0;
                is_empty || list.iter().any(|element| self.holds_for(element))
            }
            Some(value) => self.holds_for(value),
        }
    }

    /// Whether the predicate holds for a value that is no list.
    fn holds_for(&self, value: Value<'_>) -> bool {
        match (self, value) {
            (Self::Empty, Value::Null) => true,
            (Self::Empty, Value::Text(text)) => text.is_empty(),
            (Self::Boolean(wanted), Value::Boolean(found)) => *wanted == found,
            (Self::Number(comparison, wanted), Value::Number(found)) => {
                comparison.holds(found, *wanted)
            }
            (Self::Equals(wanted), Value::Text(found)) => **wanted == *found,
            (Self::StartsWith(prefix), Value::Text(found)) => found.starts_with(&**prefix),
            (Self::EndsWith(suffix), Value::Text(found)) => found.ends_with(&**suffix),
            (Self::Contains(finder), Value::Text(found)) => finder.find(found.as_bytes()).is_some(),
            (Self::OneOf(set), found) => set.contains(found),
            (Self::Time(comparison, wanted), Value::Text(found)) => {
                is_time(found, *comparison, *wanted)
            }
            _ => false,
        }
    }

    /// The slots of `within` for which the predicate holds; `column` is `None` if no record of the block has it.
    pub(super) fn mask(
        &self,
        column: Option<&Column>,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        stop_check.before_testing(RULE_BYTES)?;
        match (self, column) {
            (Self::Empty, None) => Ok(within.clone()),
            (_, None) => Ok(Mask::empty()),
            (_, Some(column)) => {
                let test = |values: &Scalars, rows: &Mask| self.rows(values, rows, stop_check);
                let mut held = column.any(within, test)?;
                if let Self::Empty = self {
                    held.or(&within.without(&column.with_value(within)));
                }
                Ok(held)
            }
        }
    }

    /// The rows of `within` for whose value the predicate holds.
    fn rows(
        &self,
        values: &Scalars,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        let texts = |test: &dyn Fn(&Texts, &Mask) -> Result<Mask, Stopped>| {
            values
                .texts(within)
                .map_or(Ok(Mask::empty()), |(texts, rows)| test(texts, &rows))
        };
        match self {
            Self::Boolean(boolean) => Ok(values.booleans(*boolean, within)),
            Self::Number(comparison, value) => Ok(match values.numbers(within) {
                Some((numbers, rows)) => numbers.mask(*comparison, *value, &rows),
                None => Mask::empty(),
            }),
            Self::Equals(value) => texts(&|texts, rows| Ok(texts.equal(value, rows))),
            Self::StartsWith(prefix) => texts(&|texts, rows| Ok(texts.starting_with(prefix, rows))),
            Self::EndsWith(suffix) => texts(&|texts, rows| Ok(texts.ending_with(suffix, rows))),
            Self::Contains(finder) => {
                texts(&|texts, rows| texts.containing(finder, rows, stop_check))
            }
            Self::OneOf(set) => Ok(values.in_set(set, within)),
            Self::Time(comparison, wanted) => texts(&|texts, rows| {
                texts.by_entry(rows, |strings, rows| {
                    stop_check.before_testing(TIME_BYTES * rows.count())?;
                    Ok(strings.passing(|text| is_time(text, *comparison, *wanted), rows))
                })
            }),
            Self::Empty => texts(&|texts, rows| Ok(texts.equal("", rows))),
            Self::Never => Ok(Mask::empty()),
        }
    }

    /// Estimated nanoseconds that each match adds to the cost.
    pub(super) fn match_cost(&self, column: Option<&Column>) -> f64 {
        let mut texts = column
            .into_iter()
            .flat_map(Column::parts)
            .filter_map(Scalars::text);
        match self {
            // The search of a block's text is restarted after each match.
            Self::Contains(_) if texts.any(|texts| matches!(texts, Texts::Plain(_))) => 15.0,
            _ => 0.0,
        }
    }

    /// Estimated nanoseconds to evaluate the predicate on a whole block of `records` records without a match.
    pub(super) fn cost(&self, column: Option<&Column>, records: usize) -> f64 {
        let parts = column.into_iter().flat_map(Column::parts);
        parts.map(|part| self.cost_of(part, records)).sum()
    }

    /// As [`Predicate::cost`], for a part of a column.
    fn cost_of(&self, values: &Scalars, records: usize) -> f64 {
        let Some(texts) = values.text() else {
            return match self {
                Self::OneOf(_) => 1000.0 + LOOK_UP_COST * records as f64,
                _ => 1000.0,
            };
        };
        let text = texts.searched_bytes() as f64;
        match (self, texts) {
            (Self::Contains(_), _) => contains_cost(text),
            (Self::Equals(_) | Self::StartsWith(_), Texts::Coded { .. }) => 1000.0,
            (Self::EndsWith(_), Texts::Coded { entries, .. }) => {
                2000.0 + 2.0 * entries.len() as f64
            }
            (Self::Equals(_) | Self::StartsWith(_) | Self::EndsWith(_), Texts::Plain(strings)) => {
                1000.0 + 2.0 * strings.len() as f64
            }
            (Self::OneOf(_), _) => 1000.0 + LOOK_UP_COST * texts.strings().len() as f64,
            (Self::Time(..), _) => 1000.0 + TIME_COST * texts.strings().len() as f64,
            _ => 1000.0,
        }
    }
}

/// Estimated nanoseconds to search `bytes` bytes for one substring.
pub(super) fn contains_cost(bytes: f64) -> f64 {
    1000.0 + 0.03 * bytes
}

/// Returns whether `text` is a time for which `time OP wanted` holds.
fn is_time(text: &str, comparison: Comparison, wanted: Instant) -> bool {
    parse_time(text).is_ok_and(|time| comparison.holds(time, wanted))
}
