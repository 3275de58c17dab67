//! Boosts bound to the columns of a snapshot.

use cosift_kernels::{NEAREST, Nearness, add_nearness, integers_between};

use crate::columns::{BLOCK_RECORDS, ColumnId, ColumnNames, Mask};
use crate::filter::BoundFilter;
use crate::json::parse_time;
use crate::record::{Extra, RecordTime, SCORE_STEPS, Score, Value, Weight};
use crate::runtime::{StopCheck, Stopped};
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

const _: () = assert!(NEAREST == SCORE_STEPS);

/// The boosts of the records of a block, weighted and summed.
#[derive(Debug)]
pub(crate) struct BlockBoosts {
    /// Steps of [`Extra`].
    sums: Box<[u64]>,
    highest: Extra,
}

impl Default for BlockBoosts {
    fn default() -> Self {
        Self {
            sums: vec![0; BLOCK_RECORDS].into(),
            highest: Extra::default(),
        }
    }
}

impl BlockBoosts {
    /// What the boosts of a record add to its score; it must be one of those that were computed.
    pub(crate) fn of(&self, slot: usize) -> Extra {
        Extra::from_steps(self.sums[slot])
    }

    /// A sum that no record exceeds.
    pub(crate) fn highest(&self) -> Extra {
        self.highest
    }

    /// A sum that most records do not exceed, if the numbers are spread evenly.
    pub(crate) fn high(&self) -> Extra {
        Extra::from_steps(self.highest.steps() / 4 * 3)
    }

    /// The records of `within` whose sum exceeds [`BlockBoosts::high`].
    pub(crate) fn above_high(&self, within: &Mask) -> Mask {
        self.at_least(Extra::from_steps(self.high().steps() + 1), within)
    }

    /// The records of `within` whose sum is at least `lowest`.
    pub(crate) fn at_least(&self, lowest: Extra, within: &Mask) -> Mask {
        Mask(integers_between(
            &self.sums,
            lowest.steps(),
            u64::MAX,
            &within.0,
        ))
    }

    fn add(&mut self, slot: usize, extra: Extra) {
        self.sums[slot] += extra.steps();
    }

    /// Adds what the numbers of the slots of a word count.
    fn add_numbers(
        &mut self,
        (first, word): (usize, u64),
        numbers: &[f64; 64],
        nearness: Nearness,
        weight: Weight,
    ) {
        let (words, _) = self.sums.as_chunks_mut();
        add_nearness(
            numbers,
            word,
            nearness,
            weight.steps(),
            &mut words[first / 64],
        );
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
        found.sums.fill(0);
        found.highest = Extra::default();
        for BoundBoost { weight, by } in &self.boosts {
            let highest = by.find(block, within, stop_check, *weight, found)?;
            found.highest = found.highest + weight.of(highest);
        }
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
            Self::Time(time, nearness) => {
                Score(nearness.of(block.times_of(*time).get(slot) as f64))
            }
            Self::Number(column, nearness) => greatest(value(column), |value| match value {
                Value::Number(number) => Score(nearness.of(number)),
                _ => Score(0),
            }),
            Self::TimeText(column, nearness) => of_time_texts(value(column), *nearness),
        })
    }

    /// Adds the boost of each record of `within`, times `weight`, to `found`. Returns a boost that none exceeds.
    fn find(
        &self,
        block: &Block,
        within: &Mask,
        stop_check: &StopCheck<'_>,
        weight: Weight,
        found: &mut BlockBoosts,
    ) -> Result<Score, Stopped> {
        let columns = &block.body.columns;
        let column = |id: &Option<ColumnId>| id.and_then(|id| columns.column(id));
        let mut highest = Score(0);
        match self {
            Self::Filter(filter) => {
                let passing = filter.mask(columns, within, stop_check)?;
                if !passing.is_empty() {
                    highest = Score(SCORE_STEPS);
                    passing.each_slot(|slot| found.add(slot, weight.of(highest)));
                }
            }
            Self::Time(time, nearness) => {
                let times = block.times_of(*time);
                let (min, max) = times.range().unwrap_or_default();
                highest = Score(nearness.highest_between(min as f64, max as f64));
                if highest > Score(0) {
                    within.each_word(|first, word| {
                        let times = times.numbers_from(first);
                        found.add_numbers((first, word), &times, *nearness, weight);
                    });
                }
            }
            Self::Number(id, nearness) => {
                let Some(column) = column(id) else {
                    return Ok(highest);
                };
                column.each_list(within, |slot, list| {
                    let boosts = list.numbers().map(|number| Score(nearness.of(number)));
                    let boost = boosts.max().unwrap_or(Score(0));
                    found.add(slot, weight.of(boost));
                    highest = highest.max(boost);
                });
                let scalars = &column.scalars;
                if let Some((numbers, rows)) = scalars.numbers(&scalars.rows(within)) {
                    let (min, max) = numbers.range();
                    let of_scalars = Score(nearness.highest_between(min, max));
                    highest = highest.max(of_scalars);
                    match scalars.slots() {
                        _ if of_scalars == Score(0) => {}
                        None => rows.each_word(|first, word| {
                            let numbers = numbers.numbers_from(first);
                            found.add_numbers((first, word), &numbers, *nearness, weight);
                        }),
                        Some(slots) => rows.each_slot(|row| {
                            let boost = Score(nearness.of(numbers.get(row)));
                            found.add(slots[row].into(), weight.of(boost));
                        }),
                    }
                }
            }
            Self::TimeText(id, nearness) => {
                if let Some(column) = column(id) {
                    // By the code of a text: equal texts are parsed once.
                    let mut known: Vec<Option<Score>> = vec![None; column.scalars.codes()];
                    for slot in within.iter() {
                        let code = column.scalars.code(slot);
                        let boost = match code.and_then(|code| known[code]) {
                            Some(boost) => boost,
                            None => {
                                stop_check.before_testing(TIME_BYTES)?;
                                of_time_texts(column.value(slot), *nearness)
                            }
                        };
                        if let Some(code) = code {
                            known[code] = Some(boost);
                        }
                        found.add(slot, weight.of(boost));
                        highest = highest.max(boost);
                    }
                }
            }
        }
        Ok(highest)
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
            let time = parse_time(text);
            time.map_or(Score(0), |time| {
                Score(nearness.of(time.milliseconds as f64))
            })
        }
        _ => Score(0),
    })
}
