//! The passages of the records of a block that have several.

use std::ops::Range;

use crate::columns::Mask;
use crate::record::{Passage, take_number};

/// The passages of a block.
///
/// The vector of a record's first passage is the vector of the record. The vectors of its later passages are in rows of
/// their own: the later rows of the block, by slot and passage.
#[derive(Debug)]
pub(crate) struct PassageTable {
    /// The records with several passages.
    pub(crate) records: Mask,
    /// The slots of `records`, ascending.
    slots: Vec<u16>,
    /// For each of `slots`, the number of its first place; then the number of places.
    starts: Vec<u32>,
    /// The slot of each later row.
    owners: Vec<u16>,
    columns: Vec<Box<str>>,
    places: Vec<Place>,
}

/// Where a passage is.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The number of the column in `columns`.
    column: u32,
    start: u32,
    end: u32,
}

impl PassageTable {
    /// The passages of the records of a block, in the order of their slots; `None` where no record has several.
    pub(super) fn of(places: impl Iterator<Item = Option<Vec<Passage>>>) -> Option<Box<Self>> {
        let mut table = Self::empty();
        for (slot, places) in places.enumerate() {
            let Some(places) = places else { continue };
            for Passage { column, start, end } in places {
                let column = table.column(column);
                table.places.push(Place { column, start, end });
            }
            table.starts.push(table.places.len() as u32);
            table.slots.push(slot as u16);
        }
        table.index();
        (!table.slots.is_empty()).then(|| Box::new(table))
    }

    fn empty() -> Self {
        Self {
            records: Mask::empty(),
            slots: Vec::new(),
            starts: vec![0],
            owners: Vec::new(),
            columns: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The number of a column in `columns`, to which it is added if it is new.
    fn column(&mut self, name: Box<str>) -> u32 {
        let known = self.columns.iter().position(|column| *column == name);
        let at = known.unwrap_or_else(|| {
            self.columns.push(name);
            self.columns.len() - 1
        });
        at as u32
    }

    /// Derives the mask and the owners from the slots.
    fn index(&mut self) {
        self.records = self.slots.iter().map(|&slot| usize::from(slot)).collect();
        self.owners = Vec::with_capacity(self.later_rows());
        for (at, &slot) in self.slots.iter().enumerate() {
            let later = self.starts[at + 1] - self.starts[at] - 1;
            self.owners.extend((0..later).map(|_| slot));
        }
    }

    /// The number of later rows.
    pub(crate) fn later_rows(&self) -> usize {
        self.places.len() - self.slots.len()
    }

    /// The slot of the record to which a later row belongs.
    pub(crate) fn owner(&self, later: usize) -> usize {
        usize::from(self.owners[later])
    }

    /// The later rows of a record; empty for a record with one vector.
    pub(crate) fn later_of(&self, slot: usize) -> Range<usize> {
        match self.slots.binary_search(&(slot as u16)) {
            Ok(at) => self.starts[at] as usize - at..self.starts[at + 1] as usize - at - 1,
            Err(_) => 0..0,
        }
    }

    /// The places of a record's passages; `None` for a record with one vector.
    pub(crate) fn places_of(&self, slot: usize) -> Option<Vec<Passage>> {
        let at = self.slots.binary_search(&(slot as u16)).ok()?;
        let places = self.starts[at] as usize..self.starts[at + 1] as usize;
        Some(places.map(|place| self.place(place)).collect())
    }

    fn place(&self, at: usize) -> Passage {
        let Place { column, start, end } = self.places[at];
        Passage {
            column: self.columns[column as usize].clone(),
            start,
            end,
        }
    }

    /// Bytes in memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(|column| column.len() + 16).sum();
        size_of::<Self>()
            + 2 * (self.slots.len() + self.owners.len())
            + 4 * self.starts.len()
            + size_of::<Place>() * self.places.len()
            + columns
    }

    /// The table as a file holds it: the numbers of slots and columns; each slot and the number of its passages; each
    /// column as length and name; then column, start and end of each place. Numbers are little-endian, four bytes each.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let number = |number: u32, out: &mut Vec<u8>| out.extend_from_slice(&number.to_le_bytes());
        number(self.slots.len() as u32, &mut out);
        number(self.columns.len() as u32, &mut out);
        for (at, &slot) in self.slots.iter().enumerate() {
            number(u32::from(slot), &mut out);
            number(self.starts[at + 1] - self.starts[at], &mut out);
        }
        for column in &self.columns {
            number(column.len() as u32, &mut out);
            out.extend_from_slice(column.as_bytes());
        }
        for place in &self.places {
            number(place.column, &mut out);
            number(place.start, &mut out);
            number(place.end, &mut out);
        }
        out
    }

    /// Reads the bytes of [`PassageTable::to_bytes`]; `None` when they are not those of a block of `records` records.
    pub(crate) fn from_bytes(bytes: &[u8], records: usize) -> Option<Box<Self>> {
        let mut rest = bytes;
        let (slots, columns) = (take_number(&mut rest)?, take_number(&mut rest)?);
        let mut table = Self::empty();
        let mut count = 0_u32;
        for _ in 0..slots {
            let slot = take_number(&mut rest)?;
            let places = take_number(&mut rest).filter(|&places| places > 1)?;
            let is_next = table
                .slots
                .last()
                .is_none_or(|&last| u32::from(last) < slot);
            if !is_next || slot as usize >= records {
                return None;
            }
            count = count.checked_add(places)?;
            table.slots.push(slot as u16);
            table.starts.push(count);
        }
        for _ in 0..columns {
            let length = take_number(&mut rest)? as usize;
            let (name, later) = rest.split_at_checked(length)?;
            rest = later;
            table.columns.push(std::str::from_utf8(name).ok()?.into());
        }
        for _ in 0..count {
            let column = take_number(&mut rest).filter(|&column| column < columns)?;
            let (start, end) = (take_number(&mut rest)?, take_number(&mut rest)?);
            table.places.push(Place { column, start, end });
        }
        table.index();
        (rest.is_empty() && slots > 0).then(|| Box::new(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table in which the record of slot `n` has `counts[n]` passages.
    fn table(counts: &[usize]) -> Option<Box<PassageTable>> {
        let places = counts.iter().enumerate().map(|(slot, &count)| {
            let place = |at: usize| Passage {
                column: format!("column {}", at % 2).into(),
                start: slot as u32,
                end: (slot + at) as u32,
            };
            (count > 1).then(|| (0..count).map(place).collect())
        });
        PassageTable::of(places)
    }

    #[test]
    fn later_rows_follow_slots_and_passages() {
        let counts = [1, 3, 1, 2, 5, 0, 2];
        let table = table(&counts).expect("some have several");
        assert_eq!(table.later_rows(), 8);
        let mut next = 0;
        for (slot, &count) in counts.iter().enumerate() {
            let later = table.later_of(slot);
            assert_eq!(later.len(), count.max(1) - 1);
            assert_eq!(table.records.get(slot), count > 1);
            for row in later {
                assert_eq!((row, table.owner(row)), (next, slot));
                next += 1;
            }
            let places = table.places_of(slot);
            assert_eq!(places.as_ref().map(Vec::len), (count > 1).then_some(count));
            for (at, place) in places.into_iter().flatten().enumerate() {
                assert_eq!(&*place.column, format!("column {}", at % 2));
                assert_eq!(place.end as usize, slot + at);
            }
        }
        assert!(self::table(&[1, 0, 1]).is_none());
    }

    #[test]
    fn bytes_give_the_same_table_and_parts_of_them_none() {
        let table = table(&[1, 3, 1, 2]).expect("some have several");
        let bytes = table.to_bytes();
        let read = PassageTable::from_bytes(&bytes, 4).expect("a table");
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!(read.later_of(3), table.later_of(3));
        assert!(
            PassageTable::from_bytes(&bytes, 3).is_none(),
            "a slot too many"
        );
        for length in 0..bytes.len() {
            assert!(PassageTable::from_bytes(&bytes[..length], 4).is_none());
        }
    }
}
