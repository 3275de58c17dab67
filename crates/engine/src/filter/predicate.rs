//! The predicate of a rule, evaluated on one value or on a column of a block.

use memchr::memmem::Finder;

use crate::columns::{Column, Comparison, Mask, Texts};
use crate::filter::ast::{Operator, Rule};
use crate::record::{OwnedValue, Value};
use crate::runtime::{StopCheck, Stopped};

/// Bytes that the evaluation on a block counts for in the stop check, in addition to the text that is searched.
pub(super) const RULE_BYTES: usize = 4096;

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
    /// Never holds: the operator does not take this type of value. The parser refuses such rules.
    Never,
}

impl Predicate {
    /// The predicate of a rule; its complement for a negative operator.
    pub(super) fn of(rule: &Rule) -> Self {
        let number = |comparison| match rule.value {
            Some(OwnedValue::Number(number)) => Self::Number(comparison, number),
            _ => Self::Never,
        };
        let text = |predicate: fn(&str) -> Self| match &rule.value {
            Some(OwnedValue::Text(text)) => predicate(text),
            _ => Self::Never,
        };
        match rule.operator {
            Operator::Equals | Operator::NotEquals => match &rule.value {
                Some(OwnedValue::Boolean(boolean)) => Self::Boolean(*boolean),
                Some(OwnedValue::Number(_)) => number(Comparison::Equal),
                _ => text(|text| Self::Equals(text.into())),
            },
            Operator::GreaterThan => number(Comparison::Greater),
            Operator::GreaterThanOrEquals => number(Comparison::GreaterOrEqual),
            Operator::LessThan => number(Comparison::Less),
            Operator::LessThanOrEquals => number(Comparison::LessOrEqual),
            Operator::Contains | Operator::NotContains => {
                text(|text| Self::Contains(Box::new(Finder::new(text).into_owned())))
            }
            Operator::StartsWith => text(|text| Self::StartsWith(text.into())),
            Operator::EndsWith => text(|text| Self::EndsWith(text.into())),
            Operator::IsEmpty | Operator::IsNotEmpty => Self::Empty,
        }
    }

    /// Whether the predicate holds for a value; `None` if the record lacks the column.
    pub(super) fn holds(&self, value: Option<Value<'_>>) -> bool {
        match (self, value) {
            (Self::Empty, None | Some(Value::Null)) => true,
            (Self::Empty, Some(Value::Text(text))) => text.is_empty(),
            (Self::Boolean(wanted), Some(Value::Boolean(found))) => *wanted == found,
            (Self::Number(comparison, wanted), Some(Value::Number(found))) => {
                comparison.holds(found, *wanted)
            }
            (Self::Equals(wanted), Some(Value::Text(found))) => **wanted == *found,
            (Self::StartsWith(prefix), Some(Value::Text(found))) => found.starts_with(&**prefix),
            (Self::EndsWith(suffix), Some(Value::Text(found))) => found.ends_with(&**suffix),
            (Self::Contains(finder), Some(Value::Text(found))) => {
                finder.find(found.as_bytes()).is_some()
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
            (Self::Empty, Some(column)) => {
                Ok(within.without(&column.by_row(within, |rows| Ok(non_empty(column, rows)))?))
            }
            (_, None) => Ok(Mask::empty()),
            (_, Some(column)) => column.by_row(within, |rows| self.rows(column, rows, stop_check)),
        }
    }

    /// The rows of `within` for which the predicate holds; not for [`Predicate::Empty`].
    fn rows(
        &self,
        column: &Column,
        within: &Mask,
        stop_check: &StopCheck<'_>,
    ) -> Result<Mask, Stopped> {
        if let Self::Contains(finder) = self {
            return match column.texts(within) {
                Some((texts, rows)) => texts.containing(finder, &rows, stop_check),
                None => Ok(Mask::empty()),
            };
        }
        let texts = |test: &dyn Fn(&Texts, &Mask) -> Mask| {
            column
                .texts(within)
                .map(|(texts, rows)| test(texts, &rows))
                .unwrap_or(Mask::empty())
        };
        Ok(match self {
            Self::Boolean(boolean) => column.booleans(*boolean, within),
            Self::Number(comparison, value) => match column.numbers(within) {
                Some((numbers, rows)) => numbers.mask(*comparison, *value, &rows),
                None => Mask::empty(),
            },
            Self::Equals(value) => texts(&|texts, rows| texts.equal(value, rows)),
            Self::StartsWith(prefix) => texts(&|texts, rows| texts.starting_with(prefix, rows)),
            Self::EndsWith(suffix) => texts(&|texts, rows| texts.ending_with(suffix, rows)),
            Self::Contains(_) | Self::Empty | Self::Never => Mask::empty(),
        })
    }

    /// Estimated nanoseconds that each match adds to the cost.
    pub(super) fn match_cost(&self, column: Option<&Column>) -> f64 {
        match (self, column.and_then(Column::text)) {
            // The search of a block's text is restarted after each match.
            (Self::Contains(_), Some(Texts::Plain(_))) => 15.0,
            _ => 0.0,
        }
    }

    /// Estimated nanoseconds to evaluate the predicate on a whole block without a match.
    pub(super) fn cost(&self, column: Option<&Column>) -> f64 {
        let Some(column) = column else { return 0.0 };
        let Some(texts) = column.text() else {
            return 1000.0;
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
            _ => 1000.0,
        }
    }
}

/// Estimated nanoseconds to search `bytes` bytes for one substring.
pub(super) fn contains_cost(bytes: f64) -> f64 {
    1000.0 + 0.03 * bytes
}

/// The rows of `within` with a boolean, a number or a non-empty string.
fn non_empty(column: &Column, within: &Mask) -> Mask {
    let mut rows_with_value = column.booleans(true, within);
    rows_with_value.or(&column.booleans(false, within));
    if let Some((_, rows)) = column.numbers(within) {
        rows_with_value.or(&rows);
    }
    if let Some((texts, mut rows)) = column.texts(within) {
        rows.and_not(&texts.equal("", &rows));
        rows_with_value.or(&rows);
    }
    rows_with_value
}
