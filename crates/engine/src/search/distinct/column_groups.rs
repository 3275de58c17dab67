//! The groups of all records of a snapshot by the value of a column.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::columns::{Column, ColumnId};
use crate::error::Error;
use crate::facets::TallyMemory;
use crate::record::{RecordRow, Value};
use crate::runtime::StopCheck;
use crate::search::caches::Entries;
use crate::search::distinct::request::Distinct;
use crate::snapshot::{Block, Snapshot};

/// The number of the group of each record: records with an equal value have the same one.
#[derive(Debug)]
pub(crate) struct ColumnGroups {
    /// For each block by slot, [`ALONE`] for a record without a value; `None` for a block of such records alone.
    of_blocks: Vec<Option<Box<[u32]>>>,
    /// The number of groups.
    pub(crate) len: usize,
}

const ALONE: u32 = u32::MAX;

impl ColumnGroups {
    /// The groups of a request, which are made once for a snapshot.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Busy`]: they take too much memory; [`Error::Stopped`].
    pub(crate) fn of(
        distinct: &Distinct,
        snapshot: &Arc<Snapshot>,
        cache: &ColumnGroupsCache,
        stop_check: &StopCheck<'_>,
    ) -> Result<Arc<Self>, Error> {
        let column = snapshot.names.id(&distinct.column);
        if let Some(groups) = cache.find(&column, snapshot, |groups| Some(Arc::clone(groups))) {
            return Ok(groups);
        }
        let groups = Arc::new(Builder::new(snapshot, column).build(stop_check)?);
        let bytes = |groups: &Arc<Self>| groups.memory_bytes();
        cache.insert((column, snapshot), Arc::clone(&groups), MAX_BYTES, bytes);
        Ok(groups)
    }

    /// The group of a record; `None` for a record without a value.
    #[inline]
    pub(crate) fn at(&self, block: usize, slot: usize) -> Option<usize> {
        let groups = self.of_blocks[block].as_ref()?;
        Some(groups[slot] as usize).filter(|&group| group != ALONE as usize)
    }

    /// As [`ColumnGroups::at`], of a row of the snapshot.
    pub(crate) fn of_row(&self, snapshot: &Snapshot, row: RecordRow) -> Option<usize> {
        let (block, slot) = snapshot.locate(row)?;
        self.at(block, slot)
    }

    fn memory_bytes(&self) -> usize {
        let blocks = self.of_blocks.iter().flatten();
        blocks.map(|groups| size_of_val::<[u32]>(groups)).sum()
    }
}

/// Bytes of all cached groups of a database: those of 16 million records, or of several columns of fewer.
const MAX_BYTES: usize = 64 << 20;

/// The groups of the columns that requests asked for last, newest last. They are made again for each snapshot.
pub(crate) type ColumnGroupsCache = Entries<Option<ColumnId>, Arc<ColumnGroups>>;

struct Builder<'a> {
    snapshot: &'a Snapshot,
    /// `None` for a column that no record ever had.
    column: Option<ColumnId>,
    hasher: DefaultHashBuilder,
    /// Numbers of groups.
    table: HashTable<u32>,
    /// The hash of each value, and a record with it. Values are not copied from their blocks.
    values: Vec<(u32, RecordRow)>,
    memory: TallyMemory,
}

impl<'a> Builder<'a> {
    fn new(snapshot: &'a Snapshot, column: Option<ColumnId>) -> Self {
        Self {
            snapshot,
            column,
            hasher: DefaultHashBuilder::default(),
            table: HashTable::new(),
            values: Vec::new(),
            memory: TallyMemory::default(),
        }
    }

    fn build(mut self, stop_check: &StopCheck<'_>) -> Result<ColumnGroups, Error> {
        let mut of_blocks = Vec::with_capacity(self.snapshot.blocks.len());
        for block in &self.snapshot.blocks {
            let column = self.column.and_then(|id| block.body.columns.column(id));
            of_blocks.push(
                column
                    .map(|column| self.groups_of(block, column, stop_check))
                    .transpose()?,
            );
            let values = self.values.capacity() * size_of::<(u32, RecordRow)>();
            self.memory.set(self.table.allocation_size() + values);
            self.memory.check(too_many_values)?;
        }
        Ok(ColumnGroups {
            of_blocks,
            len: self.values.len(),
        })
    }

    fn groups_of(
        &mut self,
        block: &Block,
        column: &Column,
        stop_check: &StopCheck<'_>,
    ) -> Result<Box<[u32]>, Error> {
        // The groups by code: the value of a code is looked up once.
        let mut known = vec![ALONE; column.scalars.codes()];
        let mut groups = vec![ALONE; block.len()];
        for slot in block.alive.iter() {
            let code = column.scalars.code(slot);
            if let Some(code) = code
                && known[code] != ALONE
            {
                groups[slot] = known[code];
                continue;
            }
            let Some(value) = value_of(column, slot) else {
                continue;
            };
            stop_check.before_testing(VALUE_BYTES)?;
            groups[slot] = self.group_of(block.row(slot), value);
            if let Some(code) = code {
                known[code] = groups[slot];
            }
        }
        Ok(groups.into())
    }

    fn hash_of(&self, value: Value<'_>) -> u64 {
        match value {
            Value::Null => 0,
            Value::Boolean(boolean) => self.hasher.hash_one(boolean),
            Value::Number(number) => self.hasher.hash_one(number.to_bits()),
            Value::Text(text) => self.hasher.hash_one(text),
            Value::List(list) => list.iter().fold(1, |hash, element| {
                self.hasher.hash_one((hash, self.hash_of(element)))
            }),
        }
    }

    /// The group of a value, which is made if there is none.
    fn group_of(&mut self, row: RecordRow, value: Value<'_>) -> u32 {
        let hash = self.hash_of(value);
        let hash = (hash >> 32) as u32;
        let (values, snapshot, column) = (&self.values, self.snapshot, self.column);
        let is_same = |&group: &u32| {
            let (other, row) = values[group as usize];
            other == hash && {
                let (block, slot) = snapshot.at(row);
                let column = column.and_then(|id| block.body.columns.column(id));
                column.and_then(|column| value_of(column, slot)) == Some(value)
            }
        };
        if let Some(&group) = self.table.find(table_hash(hash), is_same) {
            return group;
        }
        let group = self.values.len() as u32;
        self.values.push((hash, row));
        let values = &self.values;
        let hash_of = |&group: &u32| table_hash(values[group as usize].0);
        self.table.insert_unique(table_hash(hash), group, hash_of);
        group
    }
}

/// Bytes that a value counts for in the stop check: looking it up takes about as long as testing them.
const VALUE_BYTES: usize = 256;

/// The hash for a table, which needs bits at both ends.
fn table_hash(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The value of a record; `None` for a record that lacks the column, or has null.
fn value_of(column: &Column, slot: usize) -> Option<Value<'_>> {
    let value = column.value(slot)?;
    (value != Value::Null).then_some(value)
}

/// The error of a request whose groups take more memory than one may have.
pub(super) fn too_many_values() -> Error {
    let detail = "the records have too many different values in the column: take another column, or a filter";
    Error::request("/distinct", detail)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::columns::ColumnNames;
    use crate::record::{OwnedValue, RecordId, RecordUuid, Vectors};
    use crate::snapshot::{Basis, NewRow, Times};

    const RECORDS: u32 = 1_000;

    /// Records that all have another value.
    pub(crate) fn snapshot() -> (Arc<Snapshot>, ColumnId) {
        let mut names = ColumnNames::default();
        let column = names.insert("unique");
        let row = |at: u32| NewRow {
            id: RecordId(at.into()),
            uuid: RecordUuid([0; 16]),
            key: None,
            times: Times::default(),
            cells: vec![(column, OwnedValue::Number(at.into()))],
            vectors: Vectors::one(vec![1 << 30]),
        };
        let rows: Vec<NewRow> = (0..RECORDS).map(row).collect();
        let block = Block::build(RecordRow(0), 1, &rows, &Arc::new(Basis::untrained(1)));
        let snapshot = Snapshot {
            blocks: vec![block],
            names: Arc::new(names),
            ..Snapshot::empty()
        };
        (Arc::new(snapshot), column)
    }

    pub(crate) fn is_refused<T>(result: Result<T, Error>) -> bool {
        let error = result.err().expect("a refusal");
        error.code() == "invalid_request" && error.problems()[0].pointer == "/distinct"
    }

    #[test]
    fn values_that_take_too_much_memory_are_refused() {
        let (snapshot, column) = snapshot();
        let groups = |memory| {
            let builder = Builder {
                memory,
                ..Builder::new(&snapshot, Some(column))
            };
            builder.build(&StopCheck::never())
        };
        // Each value takes 8 bytes, and 4 or 8 of the table.
        assert!(is_refused(groups(TallyMemory::of_at_most(5_000))));
        let groups = Arc::new(groups(TallyMemory::default()).expect("little memory"));
        assert_eq!(groups.len, RECORDS as usize);
    }
}
