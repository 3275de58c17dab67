//! Encodes the values of a column that are no lists.

use crate::columns::mask::Mask;
use crate::columns::numbers::Numbers;
use crate::columns::row_set::RowSet;
use crate::columns::scalars::Scalars;
use crate::columns::texts::Texts;
use crate::record::Value;

/// A column is sparse if fewer than one record in this many has a value that is no list.
const SPARSE_RATIO: usize = 8;

/// The values of one column in the order of the records; numbers and texts are concatenated separately.
#[derive(Default)]
pub(super) struct ScalarsBuilder {
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

impl ScalarsBuilder {
    pub(super) fn push(&mut self, slot: u16, value: Value<'_>) {
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
            Value::List(_) => unreachable!("lists are not pushed"),
        };
        self.slots.push(slot);
        self.kinds.push(kind);
    }

    pub(super) fn finish(self, len: usize) -> Scalars {
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
        let mut column = Scalars::new(sparse.then(|| self.slots.as_slice().into()));
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
