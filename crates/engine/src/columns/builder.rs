//! Encodes records into columns.

use hashbrown::HashMap;

use crate::columns::column::Column;
use crate::columns::integers::Integers;
use crate::columns::mask::{BLOCK_RECORDS, Mask};
use crate::columns::names::{ColumnId, ColumnNames};
use crate::columns::numbers::Numbers;
use crate::columns::row_set::RowSet;
use crate::columns::table::Columns;
use crate::columns::texts::Texts;
use crate::record::{Data, OwnedValue, Value};

/// A column is sparse if fewer than one record in this many has it.
const SPARSE_RATIO: usize = 8;

/// Collects up to 4,096 records and encodes them as [`Columns`].
#[derive(Default)]
pub(crate) struct ColumnsBuilder {
    len: usize,
    columns: HashMap<ColumnId, ColumnBuilder>,
    /// The distinct lists of columns, in the order of their first use.
    shapes: Vec<Box<[ColumnId]>>,
    shape_ids: HashMap<Box<[ColumnId]>, i64>,
    record_shapes: Vec<i64>,
}

/// The values of one column in the order of the records; numbers and texts are concatenated separately.
#[derive(Default)]
struct ColumnBuilder {
    slots: Vec<u16>,
    kinds: Vec<Kind>,
    numbers: Vec<f64>,
    text: String,
    text_ends: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Kind {
    Null,
    False,
    True,
    Number,
    Text,
}

impl ColumnsBuilder {
    /// Adds a record, whose columns must be distinct. `-0` becomes `0`, because JSON text has no `-0`.
    ///
    /// # Panics
    /// When 4,096 records were added already.
    pub(crate) fn push<'a>(&mut self, cells: impl IntoIterator<Item = (ColumnId, Value<'a>)>) {
        assert!(
            self.len < BLOCK_RECORDS,
            "a block holds {BLOCK_RECORDS} records"
        );
        let slot = self.len as u16;
        self.len += 1;
        let mut shape = Vec::new();
        for (id, value) in cells {
            shape.push(id);
            self.columns.entry(id).or_default().push(slot, value);
        }
        let known = self.shape_ids.get(&shape[..]).copied();
        self.record_shapes.push(known.unwrap_or_else(|| {
            let id = self.shapes.len() as i64;
            self.shapes.push(shape[..].into());
            self.shape_ids.insert(shape.into(), id);
            id
        }));
    }

    /// Adds a record. New column names get an id in `names`.
    ///
    /// # Panics
    /// When 4,096 records were added already.
    pub(crate) fn push_data(&mut self, data: &Data, names: &mut ColumnNames) {
        self.push(
            data.cells()
                .iter()
                .map(|(name, value)| (names.insert(name), value.borrow())),
        );
    }

    /// Encodes the records that were added.
    pub(crate) fn finish(self) -> Columns {
        let mut columns: Vec<(ColumnId, Column)> = self
            .columns
            .into_iter()
            .map(|(id, column)| (id, column.finish(self.len)))
            .collect();
        columns.sort_unstable_by_key(|(id, _)| *id);
        Columns::new(
            self.len,
            columns,
            self.shapes,
            Integers::build(&self.record_shapes),
        )
    }
}

impl Columns {
    /// Encodes records, each a list of cells with distinct columns.
    ///
    /// # Panics
    /// When there are more than 4,096.
    pub(crate) fn build<'a>(
        records: impl IntoIterator<Item = &'a [(ColumnId, OwnedValue)]>,
    ) -> Self {
        let mut builder = ColumnsBuilder::default();
        for record in records {
            builder.push(record.iter().map(|(id, value)| (*id, value.borrow())));
        }
        builder.finish()
    }

    /// Encodes the records of all parts, in order.
    ///
    /// # Panics
    /// When there are more than 4,096 records.
    pub(crate) fn join(parts: &[&Self]) -> Self {
        let mut builder = ColumnsBuilder::default();
        for part in parts {
            (0..part.len()).for_each(|slot| builder.push(part.cells(slot)));
        }
        builder.finish()
    }
}

impl ColumnBuilder {
    fn push(&mut self, slot: u16, value: Value<'_>) {
        debug_assert!(
            self.slots.last() != Some(&slot),
            "a record has a column once"
        );
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Boolean(false) => Kind::False,
            Value::Boolean(true) => Kind::True,
            Value::Number(number) => {
                // Adding zero turns -0 into 0 and leaves every other number alone.
                self.numbers.push(number + 0.0);
                Kind::Number
            }
            Value::Text(text) => {
                self.text.push_str(text);
                self.text_ends.push(self.text.len());
                Kind::Text
            }
        };
        self.slots.push(slot);
        self.kinds.push(kind);
    }

    fn finish(self, len: usize) -> Column {
        let sparse = self.slots.len() * SPARSE_RATIO < len;
        let rows = if sparse { self.slots.len() } else { len };
        let mut masks = [const { Mask::empty() }; 5];
        let [nulls, booleans, trues, has_number, has_text] = &mut masks;
        let min = self.numbers.iter().copied().reduce(f64::min).unwrap_or(0.0);
        let mut numbers = vec![min; if self.numbers.is_empty() { 0 } else { rows }];
        let mut texts = vec![""; if self.text_ends.is_empty() { 0 } else { rows }];
        let mut next_number = self.numbers.iter();
        let mut next_end = self.text_ends.iter();
        let mut start = 0;
        for (at, (&slot, kind)) in self.slots.iter().zip(&self.kinds).enumerate() {
            let row = if sparse { at } else { slot.into() };
            match kind {
                Kind::Null => nulls.set(row),
                Kind::False => booleans.set(row),
                Kind::True => {
                    booleans.set(row);
                    trues.set(row);
                }
                Kind::Number => {
                    has_number.set(row);
                    numbers[row] = *next_number
                        .next()
                        .expect("a value was pushed with each kind");
                }
                Kind::Text => {
                    has_text.set(row);
                    let end = *next_end.next().expect("a value was pushed with each kind");
                    texts[row] = &self.text[start..end];
                    start = end;
                }
            }
        }
        let mut column = Column::new(sparse.then(|| self.slots.as_slice().into()));
        column.nulls = RowSet::build(nulls, rows);
        column.booleans = RowSet::build(booleans, rows);
        column.trues = RowSet::build(trues, rows);
        column.has_number = RowSet::build(has_number, rows);
        column.has_text = RowSet::build(has_text, rows);
        column.numbers = (!numbers.is_empty()).then(|| Numbers::build(numbers));
        column.texts = (!texts.is_empty()).then(|| Texts::build(&texts));
        column
    }
}
