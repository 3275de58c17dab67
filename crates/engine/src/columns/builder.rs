//! Encodes records into columns.

use hashbrown::HashMap;

use crate::columns::column::Column;
use crate::columns::integers::Integers;
use crate::columns::lists::ListsBuilder;
use crate::columns::mask::BLOCK_RECORDS;
use crate::columns::names::{ColumnId, ColumnNames};
use crate::columns::scalars_builder::ScalarsBuilder;
use crate::columns::table::Columns;
use crate::record::{Data, OwnedValue, Value};

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

/// The values of one column, in the order of the records.
#[derive(Default)]
struct ColumnBuilder {
    scalars: ScalarsBuilder,
    lists: Vec<ListsBuilder>,
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
        let Value::List(list) = value else {
            return self.scalars.push(slot, value);
        };
        if self.lists.last().is_none_or(|lists| !lists.has_room(list)) {
            self.lists.push(ListsBuilder::default());
        }
        let lists = self.lists.last_mut().expect("one was pushed");
        lists.push(slot, list);
    }

    fn finish(self, len: usize) -> Column {
        let lists = self.lists.into_iter().map(ListsBuilder::finish);
        Column::new(self.scalars.finish(len), lists.collect())
    }
}
