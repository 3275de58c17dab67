//! The lists of a column.

use std::ops::Range;

use hashbrown::HashSet;

use crate::columns::encoding::{Damaged, Decoder, put_count, put_values};
use crate::columns::mask::{BLOCK_RECORDS, Mask};
use crate::columns::row_set::RowSet;
use crate::columns::scalars::Scalars;
use crate::columns::scalars_builder::ScalarsBuilder;
use crate::record::{List, Value};

/// Lists of consecutive records that have one, with up to 4,096 elements together. The elements are rows, so that
/// whatever tests and counts scalars does so with elements.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    /// The slots of the records, ascending.
    slots: Box<[u16]>,
    /// The row at which each list ends. It begins where the list before it ends.
    ends: Box<[u16]>,
    pub(super) elements: Scalars,
    /// The rows whose element equals an earlier one of the same list.
    repeats: RowSet,
}

impl Lists {
    /// Each record, with the rows of its elements.
    fn iter(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let ranges = starts
            .zip(&self.ends)
            .map(|(&start, &end)| start.into()..end.into());
        self.slots.iter().map(|&slot| slot.into()).zip(ranges)
    }

    /// Calls `visit` with each record of `within` and its list.
    pub(super) fn each<'a>(&'a self, within: &Mask, mut visit: impl FnMut(usize, List<'a>)) {
        for (slot, rows) in self.iter().filter(|(slot, _)| within.get(*slot)) {
            visit(slot, List::new(&self.elements, rows));
        }
    }

    /// The list of a record.
    pub(super) fn list(&self, slot: usize) -> Option<List<'_>> {
        let at = self.slots.binary_search(&(slot as u16)).ok()?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(List::new(
            &self.elements,
            start.into()..self.ends[at].into(),
        ))
    }

    /// The rows of the elements of the records of `within`.
    pub(super) fn rows(&self, within: &Mask) -> Mask {
        let mut rows = Mask::empty();
        for (_, range) in self.iter().filter(|(slot, _)| within.get(*slot)) {
            range.for_each(|row| rows.set(row));
        }
        rows
    }

    /// The rows of [`Lists::rows`], without those of repeats.
    pub(super) fn distinct_rows(&self, within: &Mask) -> Mask {
        let rows = self.rows(within);
        rows.without(&self.repeats.within(&rows))
    }

    /// Adds the records with an element in one of the rows.
    pub(super) fn add_slots(&self, rows: &Mask, out: &mut Mask) {
        if rows.is_empty() {
            return;
        }
        for (slot, mut range) in self.iter() {
            if range.any(|row| rows.get(row)) {
                out.set(slot);
            }
        }
    }

    /// The number of records of `within` with a list.
    pub(super) fn count(&self, within: &Mask) -> u32 {
        let slots = self.slots.iter().filter(|&&slot| within.get(slot.into()));
        slots.count() as u32
    }

    /// The number of records with a list.
    pub(super) fn records(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Adds the records with an element.
    pub(super) fn add_non_empty(&self, out: &mut Mask) {
        for (slot, range) in self.iter() {
            if !range.is_empty() {
                out.set(slot);
            }
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val::<[u16]>(&self.slots)
            + size_of_val::<[u16]>(&self.ends)
            + self.elements.memory_bytes()
            + self.repeats.memory_bytes()
    }

    /// Appends the encoding: the records, the ends, the elements and which of them are repeats.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_count(self.slots.len(), out);
        put_values(&self.slots, u16::to_le_bytes, out);
        put_values(&self.ends, u16::to_le_bytes, out);
        self.elements.write(out);
        self.repeats.write(out);
    }

    /// Decodes lists of a block of `len` records.
    pub(super) fn read(decoder: &mut Decoder<'_>, len: usize) -> Result<Self, Damaged> {
        let count = decoder.count(len)?;
        let slots = decoder.values(count, u16::from_le_bytes)?;
        let ends = decoder.values(count, u16::from_le_bytes)?;
        let ascending = slots.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || slots.last().is_some_and(|&slot| usize::from(slot) >= len) {
            return Err(Damaged("slots of lists"));
        }
        let rows = usize::from(ends.last().copied().unwrap_or(0));
        if rows > BLOCK_RECORDS || ends.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(Damaged("ends of lists"));
        }
        let elements = Scalars::read(decoder, rows)?;
        let all = Mask::full(rows);
        if elements.rows(&all) != all || elements.with_value(&all) != all {
            return Err(Damaged("elements of lists"));
        }
        Ok(Self {
            slots,
            ends,
            elements,
            repeats: RowSet::read(decoder, rows)?,
        })
    }
}

/// Collects the lists of a column.
#[derive(Default)]
pub(super) struct ListsBuilder {
    slots: Vec<u16>,
    ends: Vec<u16>,
    elements: ScalarsBuilder,
    repeats: Vec<usize>,
}

impl ListsBuilder {
    /// Whether `list` can be added.
    pub(super) fn has_room(&self, list: List<'_>) -> bool {
        self.rows() + list.len() <= BLOCK_RECORDS
    }

    fn rows(&self) -> usize {
        self.ends.last().copied().unwrap_or(0).into()
    }

    /// Adds the list of a record, for which there is room.
    pub(super) fn push(&mut self, slot: u16, list: List<'_>) {
        let mut seen = HashSet::with_capacity(list.len());
        let start = self.rows();
        for (row, element) in (start..).zip(list.iter()) {
            self.elements.push(row as u16, element);
            if !seen.insert(Key::of(element)) {
                self.repeats.push(row);
            }
        }
        self.slots.push(slot);
        self.ends.push((start + list.len()) as u16);
    }

    pub(super) fn finish(self) -> Lists {
        let rows = self.rows();
        let repeats: Mask = self.repeats.into_iter().collect();
        Lists {
            slots: self.slots.into(),
            ends: self.ends.into(),
            elements: self.elements.finish(rows),
            repeats: RowSet::build(&repeats, rows),
        }
    }
}

/// An element, as equal elements have it.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Other,
    Boolean(bool),
    Number(u64),
    Text(&'a str),
}

impl<'a> Key<'a> {
    fn of(element: Value<'a>) -> Self {
        match element {
            Value::Boolean(boolean) => Self::Boolean(boolean),
            // Adding zero turns -0 into 0, which equals it.
            Value::Number(number) => Self::Number((number + 0.0).to_bits()),
            Value::Text(text) => Self::Text(text),
            Value::Null | Value::List(_) => Self::Other,
        }
    }
}
