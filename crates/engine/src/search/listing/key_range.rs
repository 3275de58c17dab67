//! The range of values that the scan of a listing looks for.

use std::convert::Infallible;

use crate::columns::{Comparison, Mask, Scalars};
use crate::search::listing::sort::BlockKeys;
use crate::search::listing::sort_key::SortKey;

/// A range of values of one type; values of other types are never outside of it.
pub(crate) struct KeyRange<'a> {
    low: Option<&'a SortKey<'a>>,
    high: Option<&'a SortKey<'a>>,
}

impl<'a> KeyRange<'a> {
    /// The values from `first` to `last` in an order; `None` for no limit.
    pub(crate) fn new(
        first: Option<&'a SortKey<'a>>,
        last: Option<&'a SortKey<'a>>,
        descending: bool,
    ) -> Self {
        let (low, high) = if descending {
            (last, first)
        } else {
            (first, last)
        };
        Self { low, high }
    }

    /// Removes records of a block whose value is outside of the range, and none whose value is inside. Some strings outside
    /// are left, because strings are compared by their first bytes only; and all lists are left.
    pub(crate) fn narrow(&self, keys: &BlockKeys<'_>, mask: &mut Mask) {
        match keys {
            BlockKeys::Times(times) => {
                let time = |key: Option<&SortKey<'_>>| match key {
                    Some(SortKey::Time(time)) => Some(*time),
                    _ => None,
                };
                let low = time(self.low).unwrap_or(i64::MIN);
                let high = time(self.high).unwrap_or(i64::MAX);
                *mask = times.mask_between(low, high, mask);
            }
            BlockKeys::Column(Some(column), _) => {
                let scalars = &column.scalars;
                let outside: Result<Mask, Infallible> =
                    scalars.by_row(mask, |rows| Ok(self.outside(scalars, rows)));
                mask.and_not(&outside.unwrap_or_else(|never| match never {}));
            }
            BlockKeys::Column(None, _) => {}
        }
    }

    /// Rows of `within` whose value is outside of the range.
    fn outside(&self, scalars: &Scalars, within: &Mask) -> Mask {
        let mut outside = Mask::empty();
        if let Some((numbers, rows)) = scalars.numbers(within) {
            if let Some(SortKey::Number(low)) = self.low {
                outside.or(&numbers.mask(Comparison::Less, *low, &rows));
            }
            if let Some(SortKey::Number(high)) = self.high {
                outside.or(&numbers.mask(Comparison::Greater, *high, &rows));
            }
        }
        if let Some((texts, rows)) = scalars.texts(within) {
            let text = |key: Option<&'a SortKey<'a>>| match key {
                Some(SortKey::Text(text)) => Some(&**text),
                _ => None,
            };
            let (low, high) = (text(self.low), text(self.high));
            if low.is_some() || high.is_some() {
                outside.or(&texts.outside(low, high, &rows));
            }
        }
        outside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{ColumnNames, ColumnsBuilder, Integers};
    use crate::record::{Data, OwnedValue};

    /// Checks that no record of a range is removed, and returns how many are left at least of a range with one end.
    fn narrowed(keys: &BlockKeys<'_>, directions: &[bool], records: usize) -> usize {
        let mut least = records;
        for (first, last) in (0..records).zip((0..records).rev().cycle().skip(3)) {
            for &descending in directions {
                let [first, last] = [first, last].map(|slot| Some(keys.at(slot)));
                for (first, last) in [
                    (first.as_ref(), last.as_ref()),
                    (None, last.as_ref()),
                    (first.as_ref(), None),
                ] {
                    let mut mask = Mask::full(records);
                    KeyRange::new(first, last, descending).narrow(keys, &mut mask);
                    for slot in 0..records {
                        let key = keys.at(slot);
                        let before = first.is_some_and(|at| key.compare(at, descending).is_lt());
                        let after = last.is_some_and(|at| key.compare(at, descending).is_gt());
                        let context = format!("{key:?} in {first:?} to {last:?}, {descending}");
                        assert!(before || after || mask.get(slot), "{context}");
                    }
                    if first.is_none() || last.is_none() {
                        least = least.min(mask.count());
                    }
                }
            }
        }
        least
    }

    fn narrowed_column(values: Vec<OwnedValue>) -> usize {
        let (mut names, mut builder) = (ColumnNames::default(), ColumnsBuilder::default());
        let records = values.len();
        for value in values {
            builder.push_data(&Data::new(vec![("column".into(), value)]), &mut names);
        }
        let columns = builder.finish();
        let column = names.id("column").and_then(|id| columns.column(id));
        let of = |descending| {
            narrowed(
                &BlockKeys::Column(column, descending),
                &[descending],
                records,
            )
        };
        of(false).min(of(true))
    }

    #[test]
    fn no_value_of_the_range_is_removed() {
        let text = |text: String| OwnedValue::Text(text.into());
        let plain = (0..60).map(|at| text(format!("{}\0{at}", "ab".repeat(at * 7 % 6))));
        assert!(narrowed_column(plain.collect()) <= 10);
        let coded = (0..60).map(|at| text(format!("a long text that occurs again: {}", at % 5)));
        assert_eq!(narrowed_column(coded.collect()), 12);
        let numbers = (0..60).map(|at| OwnedValue::Number([-0.0, 0.0, -1.5, 2.0, 1e300][at % 5]));
        assert_eq!(narrowed_column(numbers.collect()), 12);
        let mixed = (0..60).map(|at| match at % 5 {
            0 => text(at.to_string()),
            1 => OwnedValue::Number(at as f64),
            2 => OwnedValue::Boolean(at % 2 == 0),
            3 => OwnedValue::Null,
            _ => text(String::new()),
        });
        narrowed_column(mixed.collect());
        let lists = (0..60).map(|at| match at % 3 {
            0 => OwnedValue::Number(f64::from(at % 7)),
            1 => OwnedValue::List(
                (0..at % 4)
                    .map(|by| text((at * by % 11).to_string()))
                    .collect(),
            ),
            _ => OwnedValue::List([f64::from(at), 5.0, 1.5].map(OwnedValue::Number).into()),
        });
        narrowed_column(lists.collect());
        let times = Integers::build(&(0..60).map(|at| at * 7 % 30).collect::<Vec<i64>>());
        assert_eq!(narrowed(&BlockKeys::Times(&times), &[false, true], 60), 2);
    }
}
