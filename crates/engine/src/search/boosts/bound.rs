//! Boosts bound to the columns of a snapshot.

use crate::columns::{BLOCK_RECORDS, ColumnId, ColumnNames, Mask, each_of_word};
use crate::filter::BoundFilter;
use crate::json::parse_time;
use crate::record::{Extra, RecordTime, SCORE_STEPS, Score, Value, Weight};
use crate::runtime::{StopCheck, Stopped};
use crate::search::boosts::nearness::Nearness;
use crate::search::boosts::request::{Boost, BoostBy, Measured};
use crate::snapshot::Block;

/// Estimated nanoseconds to read a number and to compute its nearness.
const NUMBER_COST: f64 = 5.0;

/// Estimated nanoseconds to parse a time and to compute its nearness.
const TIME_TEXT_COST: f64 = 40.0;

/// Bytes that a text that may be a time counts for in the stop check.
const TIME_BYTES: usize = 32;

/// The boosts of a search.
#[derive(Debug)]
pub(crate) struct BoundBoosts {
    boosts: Vec<BoundBoost>,
}

#[derive(Debug)]
struct BoundBoost {
    weight: Weight,
    by: BoundBy,
}

#[derive(Debug)]
enum BoundBy {
    Filter(BoundFilter),
    Time(RecordTime, Nearness),
    /// `None` for a column that no record ever had.
    Number(Option<ColumnId>, Nearness),
    TimeText(Option<ColumnId>, Nearness),
}

/// The boosts of the records of a block, weighted and summed.
#[derive(Debug)]
pub(crate) struct BlockBoosts {
    sums: Box<[Extra]>,
    highest: Extra,
}

impl Default for BlockBoosts {
    fn default() -> Self {
        Self {
            sums: vec![Extra::default(); BLOCK_RECORDS].into(),
            highest: Extra::default(),
        }
    }
}

impl BlockBoosts {
    /// What the boosts of a record add to its score; it must be one of those that were computed.
    pub(crate) fn of(&self, slot: usize) -> Extra {
        self.sums[slot]
    }

    /// The highest of the sums.
    pub(crate) fn highest(&self) -> Extra {
        self.highest
    }
}

impl BoundBoosts {
    pub(crate) fn bind(boosts: &[Boost], names: &ColumnNames) -> Self {
        let bind = |boost: &Boost| BoundBoost {
            weight: boost.weight,
            by: match &boost.by {
                BoostBy::Filter(filter) => BoundBy::Filter(filter.bind(names)),
                BoostBy::Nearness(measured, nearness) => match measured {
                    Measured::Time(time) => BoundBy::Time(*time, *nearness),
                    Measured::Number(column) => BoundBy::Number(names.id(column), *nearness),
                    Measured::TimeText(column) => BoundBy::TimeText(names.id(column), *nearness),
                },
            },
        };
        Self {
            boosts: boosts.iter().map(bind).collect(),
        }
    }

    /// The boosts of one record, in the order of the request.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn of_record(
        &self,
        block: &Block,
        slot: usize,
        stop_check: &StopCheck<'_>,
    ) -> Result<Vec<Score>, Stopped> {
        let boosts = self.boosts.iter();
        boosts
            .map(|boost| boost.by.of_record(block, slot, stop_check))
            .collect()
    }

    /// The sum of the boosts of one record, each times its weight.
    pub(crate) fn sum(&self, of_record: &[Score]) -> Extra {
        let weighted = self.boosts.iter().zip(of_record);
        weighted.map(|(boost, &part)| boost.weight.of(part)).sum()
    }

    /// Computes the boosts of the records of `within`.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn find(
        &self,
        block: &Block,
        within: &Mask,
        stop_check: &StopCheck<'_>,
        found: &mut BlockBoosts,
    ) -> Result<(), Stopped> {
        found.sums.fill(Extra::default());
        for BoundBoost { weight, by } in &self.boosts {
            by.find(block, within, stop_check, |slot, part| {
                found.sums[slot] = found.sums[slot] + weight.of(part);
            })?;
        }
        found.highest = Extra::default();
        within.each(&found.sums, |sum| found.highest = found.highest.max(sum));
        Ok(())
    }

    /// Estimated nanoseconds that [`BoundBoosts::find`] takes for all records of a block.
    pub(crate) fn cost(&self, block: &Block) -> f64 {
        let records = block.len() as f64;
        let of_boost = |boost: &BoundBoost| match &boost.by {
            BoundBy::Filter(filter) => filter.cost(&block.body.columns),
            BoundBy::Time(..) | BoundBy::Number(..) => NUMBER_COST * records,
            BoundBy::TimeText(..) => TIME_TEXT_COST * records,
        };
        self.boosts.iter().map(of_boost).sum()
    }
}

impl BoundBy {
    fn of_record(
        &self,
        block: &Block,
        slot: usize,
        stop_check: &StopCheck<'_>,
    ) -> Result<Score, Stopped> {
        let columns = &block.body.columns;
        let value = |column: &Option<ColumnId>| column.and_then(|id| columns.value(slot, id));
        Ok(match self {
            Self::Filter(filter) => match filter.matches(columns, slot, stop_check)? {
                true => Score(SCORE_STEPS),
                false => Score(0),
            },
            Self::Time(time, nearness) => nearness.of(block.times_of(*time).get(slot) as f64),
            Self::Number(column, nearness) => greatest(value(column), |value| match value {
                Value::Number(number) => nearness.of(number),
                _ => Score(0),
            }),
            Self::TimeText(column, nearness) => of_time_texts(value(column), *nearness),
        })
    }

    /// Calls `add` for each record of `within` whose boost may be above 0.
    fn find(
        &self,
        block: &Block,
        within: &Mask,
        stop_check: &StopCheck<'_>,
        mut add: impl FnMut(usize, Score),
    ) -> Result<(), Stopped> {
        let columns = &block.body.columns;
        match self {
            Self::Filter(filter) => {
                let passing = filter.mask(columns, within, stop_check)?;
                passing.each_slot(|slot| add(slot, Score(SCORE_STEPS)));
            }
            Self::Time(time, nearness) => {
                let times = block.times_of(*time);
                let range = times.range().unwrap_or_default();
                if nearness.reaches(range.0 as f64, range.1 as f64) {
                    within.each_word(|first, word| {
                        let times = times.numbers_from(first);
                        each_of_word(first, word, times, |time| nearness.of(time), &mut add);
                    });
                }
            }
            Self::Number(column, nearness) => {
                let column = column.and_then(|id| columns.column(id));
                if let Some(column) = column {
                    let reaches = |min, max| nearness.reaches(min, max);
                    column.each_number(within, reaches, |number| nearness.of(number), add);
                }
            }
            Self::TimeText(column, nearness) => {
                if let Some(column) = column.and_then(|id| columns.column(id)) {
                    for slot in within.iter() {
                        stop_check.before_testing(TIME_BYTES)?;
                        add(slot, of_time_texts(column.value(slot), *nearness));
                    }
                }
            }
        }
        Ok(())
    }
}

/// What `of` returns for a value: of a list, the greatest for one of its elements. 0 where there is none.
fn greatest(value: Option<Value<'_>>, of: impl FnMut(Value<'_>) -> Score) -> Score {
    let elements = value.into_iter().flat_map(Value::elements);
    elements.map(of).max().unwrap_or(Score(0))
}

/// The nearness of a text that is a time, or the greatest of the elements of a list; 0 for any other value.
fn of_time_texts(value: Option<Value<'_>>, nearness: Nearness) -> Score {
    greatest(value, |value| match value {
        Value::Text(text) => {
            parse_time(text).map_or(Score(0), |time| nearness.of(time.milliseconds as f64))
        }
        _ => Score(0),
    })
}
