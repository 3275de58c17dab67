//! All columns of a block, and the data of a record as JSON.

use std::sync::OnceLock;

use crate::columns::column::Column;
use crate::columns::encoding::{Damaged, Decoder, put_count};
use crate::columns::integers::Integers;
use crate::columns::mask::{BLOCK_RECORDS, Mask};
use crate::columns::names::{ColumnId, ColumnNames};
use crate::columns::type_counts::TypeCounts;
use crate::json::write_value;
use crate::record::Value;

/// The data of up to 4,096 records by column. Immutable.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    len: usize,
    /// By ascending id.
    columns: Vec<(ColumnId, Column)>,
    /// The distinct lists of columns of the records, each in the order of a record's members.
    shapes: Vec<Box<[ColumnId]>>,
    record_shapes: Integers,
    /// Bytes on the heap, once they were counted.
    memory: OnceLock<usize>,
    /// Bytes of the strings of all records, once they were counted.
    texts: OnceLock<usize>,
}

impl Columns {
    pub(super) fn new(
        len: usize,
        columns: Vec<(ColumnId, Column)>,
        shapes: Vec<Box<[ColumnId]>>,
        record_shapes: Integers,
    ) -> Self {
        Self {
            len,
            columns,
            shapes,
            record_shapes,
            memory: OnceLock::new(),
            texts: OnceLock::new(),
        }
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The value of a record in a column; `None` when the record lacks it.
    ///
    /// # Panics
    /// When `slot` is not below [`Columns::len`].
    pub(crate) fn value(&self, slot: usize, id: ColumnId) -> Option<Value<'_>> {
        assert!(slot < self.len, "slot {slot} of {}", self.len);
        self.column(id)?.value(slot)
    }

    /// The cells of a record, in the order of its members.
    ///
    /// # Panics
    /// When `slot` is not below [`Columns::len`].
    pub(crate) fn cells(&self, slot: usize) -> impl Iterator<Item = (ColumnId, Value<'_>)> {
        let shape = &self.shapes[self.record_shapes.get(slot) as usize];
        shape
            .iter()
            .filter_map(move |&id| Some((id, self.column(id)?.value(slot)?)))
    }

    /// How many of the records hold each type in each column, by ascending id of the column.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (ColumnId, TypeCounts)> {
        let columns = self.columns.iter();
        columns.map(|(id, column)| (*id, column.counts(self.len)))
    }

    /// How many of the records of `within` hold each type in each column, by ascending id of the column.
    pub(crate) fn counts_within(
        &self,
        within: &Mask,
    ) -> impl Iterator<Item = (ColumnId, TypeCounts)> {
        let columns = self.columns.iter();
        columns.map(|(id, column)| (*id, column.counts_within(within)))
    }

    pub(crate) fn column(&self, id: ColumnId) -> Option<&Column> {
        let at = self.columns.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.columns[at].1)
    }

    /// Bytes on the heap.
    pub(crate) fn memory_bytes(&self) -> usize {
        *self.memory.get_or_init(|| self.count_memory())
    }

    /// Bytes of the strings of all records. A string that is stored once for several records counts for each of them.
    pub(crate) fn text_bytes(&self) -> usize {
        let count = || self.columns.iter().map(|(_, column)| column.text_bytes());
        *self.texts.get_or_init(|| count().sum())
    }

    fn count_memory(&self) -> usize {
        let shapes: usize = self
            .shapes
            .iter()
            .map(|shape| size_of_val::<[ColumnId]>(shape))
            .sum();
        self.columns.len() * size_of::<(ColumnId, Column)>()
            + self
                .columns
                .iter()
                .map(|(_, column)| column.memory_bytes())
                .sum::<usize>()
            + self.shapes.len() * size_of::<Box<[ColumnId]>>()
            + shapes
            + self.record_shapes.memory_bytes()
    }

    /// Appends the encoding: the number of records, the columns, the shapes and the shape of each record.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_count(self.len, out);
        put_count(self.columns.len(), out);
        for (id, column) in &self.columns {
            out.extend_from_slice(&id.0.to_le_bytes());
            column.write(out);
        }
        put_count(self.shapes.len(), out);
        for shape in &self.shapes {
            put_count(shape.len(), out);
            shape
                .iter()
                .for_each(|id| out.extend_from_slice(&id.0.to_le_bytes()));
        }
        self.record_shapes.write(out);
    }

    /// Decodes columns, whose encoding must fill `bytes`.
    ///
    /// # Errors
    /// [`Damaged`] if the encoding is not valid. Every length, code and offset is checked, so that no access to the result
    /// can panic.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let decoder = &mut Decoder::new(bytes);
        let len = decoder.count(BLOCK_RECORDS)?;
        let count = decoder.count(bytes.len())?;
        let mut columns: Vec<(ColumnId, Column)> = Vec::new();
        for _ in 0..count {
            let id = ColumnId(decoder.u32()?);
            if columns.last().is_some_and(|(last, _)| *last >= id) {
                return Err(Damaged("order of columns"));
            }
            columns.push((id, Column::read(decoder, len)?));
        }
        let count = decoder.count(len)?;
        let mut shapes = Vec::with_capacity(count);
        for _ in 0..count {
            let count = decoder.count(columns.len())?;
            let shape = decoder.values(count, |id| ColumnId(u32::from_le_bytes(id)))?;
            if shape
                .iter()
                .any(|id| columns.binary_search_by_key(id, |(id, _)| *id).is_err())
            {
                return Err(Damaged("shape of a record"));
            }
            shapes.push(shape);
        }
        let record_shapes = Integers::read_from(decoder, len)?;
        let sound = record_shapes
            .range()
            .is_none_or(|(min, max)| min >= 0 && (max as usize) < count);
        if !sound || !decoder.is_at_end() {
            return Err(Damaged("shapes of records"));
        }
        Ok(Self {
            len,
            columns,
            shapes,
            record_shapes,
            memory: OnceLock::new(),
            texts: OnceLock::new(),
        })
    }
}

/// Appends the data of a record as a JSON object, with all columns or only those of `shown`, which ascend. The members
/// keep the order in which the record was written.
pub(crate) fn write_data(
    columns: &Columns,
    slot: usize,
    names: &ColumnNames,
    shown: Option<&[ColumnId]>,
    out: &mut Vec<u8>,
) {
    out.push(b'{');
    let start = out.len();
    let write = |(id, value): (ColumnId, Value<'_>)| {
        if out.len() > start {
            out.push(b',');
        }
        out.extend_from_slice(names.member(id));
        write_value(value, out);
    };
    // `for_each` runs through chained iterators without making each cell an option first, which a loop does.
    match shown {
        None => columns.cells(slot).for_each(write),
        Some(shown) => {
            let cells = columns.cells(slot);
            cells
                .filter(|(id, _)| shown.binary_search(id).is_ok())
                .for_each(write);
        }
    }
    out.push(b'}');
}
