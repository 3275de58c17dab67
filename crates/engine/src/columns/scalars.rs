//! The values of a column of a block that are no lists.

use crate::columns::encoding::{Damaged, Decoder, put_count, put_values};
use crate::columns::mask::{BLOCK_RECORDS, Mask};
use crate::columns::numbers::Numbers;
use crate::columns::row_set::RowSet;
use crate::columns::texts::Texts;
use crate::columns::type_counts::TypeCounts;
use crate::columns::value_set::ValueSet;
use crate::record::{Elements, Value};

/// The values that the records of a block have in one column, stored by type; or the elements of lists.
///
/// A *row* is an index into these values. In a dense column the row is the slot of the record in the block. In a sparse
/// column, which few records have, the row is the index of the slot in `slots`.
#[derive(Clone, Debug)]
pub(crate) struct Scalars {
    /// For a sparse column, the slots of its rows, ascending.
    slots: Option<Box<[u16]>>,
    pub(super) nulls: RowSet,
    pub(super) booleans: RowSet,
    /// The rows that hold `true`.
    pub(super) trues: RowSet,
    pub(super) has_number: RowSet,
    pub(super) numbers: Option<Numbers>,
    pub(super) has_text: RowSet,
    pub(super) texts: Option<Texts>,
}

/// The rows are elements of lists.
impl Elements for Scalars {
    fn at(&self, place: usize) -> Value<'_> {
        self.get(place).unwrap_or(Value::Null)
    }
}

impl Scalars {
    pub(super) fn new(slots: Option<Box<[u16]>>) -> Self {
        Self {
            slots,
            nulls: RowSet::None,
            booleans: RowSet::None,
            trues: RowSet::None,
            has_number: RowSet::None,
            numbers: None,
            has_text: RowSet::None,
            texts: None,
        }
    }

    fn row(&self, slot: usize) -> Option<usize> {
        match &self.slots {
            None => Some(slot),
            Some(slots) => slots.binary_search(&(slot as u16)).ok(),
        }
    }

    /// The value at a slot; `None` when there is none.
    pub(super) fn get(&self, slot: usize) -> Option<Value<'_>> {
        let row = self.row(slot)?;
        match (&self.texts, &self.numbers) {
            (Some(texts), _) if self.has_text.get(row) => Some(Value::Text(texts.get(row))),
            (_, Some(numbers)) if self.has_number.get(row) => Some(Value::Number(numbers.get(row))),
            _ if self.booleans.get(row) => Some(Value::Boolean(self.trues.get(row))),
            _ if self.nulls.get(row) => Some(Value::Null),
            _ => None,
        }
    }

    /// The code of the string of a record, below [`Scalars::codes`]: equal strings have the same one. `None` for another value,
    /// and where strings have no codes.
    pub(crate) fn code(&self, slot: usize) -> Option<usize> {
        let Some(Texts::Coded { codes, .. }) = &self.texts else {
            return None;
        };
        let row = self.row(slot).filter(|&row| self.has_text.get(row))?;
        Some(codes.delta(row) as usize)
    }

    /// The number of different codes of strings.
    pub(crate) fn codes(&self) -> usize {
        match &self.texts {
            Some(Texts::Coded { entries, .. }) => entries.len(),
            _ => 0,
        }
    }

    /// The rows of the slots in `within`.
    pub(crate) fn rows(&self, within: &Mask) -> Mask {
        let Some(slots) = &self.slots else {
            return within.clone();
        };
        let rows = slots.iter().enumerate();
        rows.filter(|(_, slot)| within.get(usize::from(**slot)))
            .map(|(row, _)| row)
            .collect()
    }

    /// The rows of `within` with a value other than null.
    pub(super) fn with_value(&self, within: &Mask) -> Mask {
        let mut out = self.booleans.within(within);
        out.or(&self.has_number.within(within));
        out.or(&self.has_text.within(within));
        out
    }

    /// The slots of `within` whose rows `test` returns. `test` gets the rows of `within`.
    ///
    /// # Errors
    /// Those of `test`.
    pub(crate) fn by_row<E>(
        &self,
        within: &Mask,
        test: impl FnOnce(&Mask) -> Result<Mask, E>,
    ) -> Result<Mask, E> {
        let Some(slots) = &self.slots else {
            return test(within);
        };
        let rows = self.rows(within);
        let mut out = Mask::empty();
        for row in test(&rows)?.iter() {
            out.set(slots[row].into());
        }
        Ok(out)
    }

    /// The rows of `within` that hold this boolean.
    pub(crate) fn booleans(&self, boolean: bool, within: &Mask) -> Mask {
        let mut rows = self.booleans.within(within);
        let trues = self.trues.within(&rows);
        if boolean {
            return trues;
        }
        rows.and_not(&trues);
        rows
    }

    /// The numbers, and the rows of `within` that hold one.
    pub(crate) fn numbers(&self, within: &Mask) -> Option<(&Numbers, Mask)> {
        Some((self.numbers.as_ref()?, self.has_number.within(within)))
    }

    /// The slot of each row; `None` where every record of the block has a row.
    pub(crate) fn slots(&self) -> Option<&[u16]> {
        self.slots.as_deref()
    }

    /// The strings, and the rows of `within` that hold one.
    pub(crate) fn texts(&self, within: &Mask) -> Option<(&Texts, Mask)> {
        Some((self.texts.as_ref()?, self.has_text.within(within)))
    }

    /// The rows of `within` whose value is in the set.
    pub(crate) fn in_set(&self, set: &ValueSet, within: &Mask) -> Mask {
        let mut out = Mask::empty();
        for boolean in [false, true] {
            if set.booleans[usize::from(boolean)] {
                out.or(&self.booleans(boolean, within));
            }
        }
        if let (Some((numbers, rows)), false) = (self.numbers(within), set.numbers.is_empty()) {
            out.or(&numbers.in_set(&set.numbers, &rows));
        }
        if let (Some((texts, rows)), false) = (self.texts(within), set.texts.is_empty()) {
            out.or(&texts.in_set(&set.texts, &rows));
        }
        out
    }

    pub(crate) fn text(&self) -> Option<&Texts> {
        self.texts.as_ref()
    }

    /// How many of the `records` of the block hold each type.
    pub(super) fn counts(&self, records: usize) -> TypeCounts {
        let rows = self.slots.as_ref().map_or(records, |slots| slots.len());
        TypeCounts {
            nulls: self.nulls.count(rows),
            booleans: self.booleans.count(rows),
            numbers: self.has_number.count(rows),
            texts: self.has_text.count(rows),
            lists: 0,
        }
    }

    /// How many of the records of `within` hold each type.
    pub(super) fn counts_within(&self, within: &Mask) -> TypeCounts {
        let rows = self.rows(within);
        let count = |set: &RowSet| set.within(&rows).count() as u32;
        // A row of a dense column may be a record that lacks the column, so every type is counted.
        TypeCounts {
            nulls: count(&self.nulls),
            booleans: count(&self.booleans),
            numbers: count(&self.has_number),
            texts: count(&self.has_text),
            lists: 0,
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let bits = [
            &self.nulls,
            &self.booleans,
            &self.trues,
            &self.has_number,
            &self.has_text,
        ];
        self.slots
            .as_ref()
            .map_or(0, |slots| size_of_val::<[u16]>(slots))
            + bits.into_iter().map(RowSet::memory_bytes).sum::<usize>()
            + self.numbers.as_ref().map_or(0, Numbers::memory_bytes)
            + self.texts.as_ref().map_or(0, Texts::memory_bytes)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match &self.slots {
            None => out.push(0),
            Some(slots) => {
                out.push(1);
                put_count(slots.len(), out);
                put_values(slots, u16::to_le_bytes, out);
            }
        }
        self.nulls.write(out);
        self.booleans.write(out);
        self.trues.write(out);
        self.has_number.write(out);
        if let Some(numbers) = &self.numbers {
            numbers.write(out);
        }
        self.has_text.write(out);
        if let Some(texts) = &self.texts {
            texts.write(out);
        }
    }

    /// Decodes the values of a block of `len` records.
    pub(super) fn read(decoder: &mut Decoder<'_>, len: usize) -> Result<Self, Damaged> {
        let slots = match decoder.u8()? {
            0 => None,
            1 => {
                let count = decoder.count(len)?;
                let slots = decoder.values(count, u16::from_le_bytes)?;
                let ascending = slots.windows(2).all(|pair| pair[0] < pair[1]);
                if !ascending || slots.last().is_some_and(|&slot| slot as usize >= len) {
                    return Err(Damaged("slots of a sparse column"));
                }
                Some(slots)
            }
            _ => return Err(Damaged("column")),
        };
        let rows = slots.as_ref().map_or(len, |slots| slots.len());
        debug_assert!(rows <= BLOCK_RECORDS, "the block's length was checked");
        let mut column = Self::new(slots);
        column.nulls = RowSet::read(decoder, rows)?;
        column.booleans = RowSet::read(decoder, rows)?;
        column.trues = RowSet::read(decoder, rows)?;
        column.has_number = RowSet::read(decoder, rows)?;
        if !matches!(column.has_number, RowSet::None) {
            column.numbers = Some(Numbers::read(decoder, rows)?);
        }
        column.has_text = RowSet::read(decoder, rows)?;
        if !matches!(column.has_text, RowSet::None) {
            column.texts = Some(Texts::read(decoder, rows)?);
        }
        Ok(column)
    }
}
