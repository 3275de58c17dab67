//! One column of a block.

use std::convert::Infallible;

use crate::columns::encoding::{Damaged, Decoder, put_count};
use crate::columns::lists::Lists;
use crate::columns::mask::Mask;
use crate::columns::scalars::Scalars;
use crate::columns::texts::Texts;
use crate::columns::type_counts::TypeCounts;
use crate::record::{List, Value};

/// The values that the records of a block have in one column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// The values that are no lists.
    pub(crate) scalars: Scalars,
    /// In the order of their records; empty for most columns.
    lists: Box<[Lists]>,
}

/// Begins the encoding of a column with lists. The encoding of scalars begins with another byte.
const WITH_LISTS: u8 = 2;

impl Column {
    pub(super) fn new(scalars: Scalars, lists: Box<[Lists]>) -> Self {
        Self { scalars, lists }
    }

    /// The value at a slot; `None` when the record lacks the column.
    pub(crate) fn value(&self, slot: usize) -> Option<Value<'_>> {
        let list = || self.lists.iter().find_map(|lists| lists.list(slot));
        self.scalars.get(slot).or_else(|| list().map(Value::List))
    }

    /// The slots of `within` for which `test` holds of the value, or of an element of the list. `test` gets rows of `within` with
    /// the values that they belong to: scalars, and elements.
    ///
    /// # Errors
    /// Those of `test`.
    pub(crate) fn any<E>(
        &self,
        within: &Mask,
        mut test: impl FnMut(&Scalars, &Mask) -> Result<Mask, E>,
    ) -> Result<Mask, E> {
        let mut out = self
            .scalars
            .by_row(within, |rows| test(&self.scalars, rows))?;
        for lists in &self.lists {
            let rows = lists.rows(within);
            if !rows.is_empty() {
                lists.add_slots(&test(&lists.elements, &rows)?, &mut out);
            }
        }
        Ok(out)
    }

    /// The slots of `within` with a value other than null and `[]`.
    pub(crate) fn with_value(&self, within: &Mask) -> Mask {
        let scalars = &self.scalars;
        let with_value: Result<Mask, Infallible> =
            scalars.by_row(within, |rows| Ok(scalars.with_value(rows)));
        let mut out = with_value.unwrap_or_else(|never| match never {});
        if !self.lists.is_empty() {
            self.lists
                .iter()
                .for_each(|lists| lists.add_non_empty(&mut out));
            out.and(within);
        }
        out
    }

    /// The scalars, and the elements of lists.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Scalars> {
        std::iter::once(&self.scalars).chain(self.lists.iter().map(|lists| &lists.elements))
    }

    /// One of [`Column::parts`] by its place.
    pub(crate) fn part(&self, at: usize) -> Option<&Scalars> {
        match at.checked_sub(1) {
            None => Some(&self.scalars),
            Some(at) => self.lists.get(at).map(|lists| &lists.elements),
        }
    }

    /// Calls `visit` with the place of each part and its rows of the records of `within`: each element of a list once.
    pub(crate) fn each_part(&self, within: &Mask, mut visit: impl FnMut(usize, &Scalars, &Mask)) {
        visit(0, &self.scalars, &self.scalars.rows(within));
        for (at, lists) in (1..).zip(&self.lists) {
            visit(at, &lists.elements, &lists.distinct_rows(within));
        }
    }

    /// Calls `visit` with each record of `within` that has a list.
    pub(crate) fn each_list<'a>(&'a self, within: &Mask, mut visit: impl FnMut(usize, List<'a>)) {
        self.lists
            .iter()
            .for_each(|lists| lists.each(within, &mut visit));
    }

    /// How many of the `records` of the block hold each type.
    pub(crate) fn counts(&self, records: usize) -> TypeCounts {
        TypeCounts {
            lists: self.lists.iter().map(Lists::records).sum(),
            ..self.scalars.counts(records)
        }
    }

    /// How many of the records of `within` hold each type.
    pub(crate) fn counts_within(&self, within: &Mask) -> TypeCounts {
        TypeCounts {
            lists: self.lists.iter().map(|lists| lists.count(within)).sum(),
            ..self.scalars.counts_within(within)
        }
    }

    /// Bytes of the strings of all records.
    pub(super) fn text_bytes(&self) -> usize {
        let texts = self.parts().filter_map(Scalars::text);
        texts.map(Texts::bytes_of_rows).sum()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let lists = self.lists.iter().map(Lists::memory_bytes);
        self.scalars.memory_bytes() + lists.sum::<usize>()
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if !self.lists.is_empty() {
            out.push(WITH_LISTS);
            put_count(self.lists.len(), out);
            self.lists.iter().for_each(|lists| lists.write(out));
        }
        self.scalars.write(out);
    }

    /// Decodes a column of a block of `len` records.
    pub(super) fn read(decoder: &mut Decoder<'_>, len: usize) -> Result<Self, Damaged> {
        let count = match decoder.take(WITH_LISTS) {
            true => decoder.count(len)?,
            false => 0,
        };
        let lists = (0..count).map(|_| Lists::read(decoder, len));
        Ok(Self {
            lists: lists.collect::<Result<_, _>>()?,
            scalars: Scalars::read(decoder, len)?,
        })
    }
}
