//! The index of the words of a block.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::columns::Columns;
use crate::lexical::group_index::{GroupBuilder, GroupIndex};
use crate::lexical::text_columns::TextColumns;

/// A block in the index of its group.
#[derive(Debug)]
pub(crate) struct BlockIndex {
    group: Arc<GroupIndex>,
    /// The place of the block in the group.
    at: usize,
    /// The number of words of each record, at most [`MAX_LENGTH`](crate::lexical::score::MAX_LENGTH).
    pub(super) lengths: Box<[u8]>,
}

impl BlockIndex {
    /// The block at a place of a group. `lengths` are those that [`GroupBuilder::add`] returned for the block.
    pub(crate) fn new(group: Arc<GroupIndex>, at: usize, lengths: Box<[u8]>) -> Self {
        Self { group, at, lengths }
    }

    /// Indexes the records of a block as a group of one block.
    pub(crate) fn build(columns: &Columns, embedded: &TextColumns) -> Self {
        let mut builder = GroupBuilder::default();
        let lengths = builder.add(columns, embedded);
        Self::new(Arc::new(builder.finish()), 0, lengths)
    }

    /// The index of the group, which its blocks share.
    pub(crate) fn group(&self) -> &Arc<GroupIndex> {
        &self.group
    }

    /// The place of the block in the group.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Bytes on the heap. Each block of a group has an equal part of the group's bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.group.memory_bytes() / self.group.blocks() + self.lengths.len()
    }
}

/// The index of a block's words, once a search or a background job needed it. The job may replace it by a place in a
/// larger group.
#[derive(Debug, Default)]
pub(crate) struct BlockWords {
    index: RwLock<Option<Arc<BlockIndex>>>,
    building: Mutex<()>,
}

impl BlockWords {
    /// The index, if it is there.
    pub(crate) fn get(&self) -> Option<Arc<BlockIndex>> {
        self.index.read().clone()
    }

    /// The index, which is built if it is not there yet.
    pub(crate) fn get_or_build(&self, build: impl FnOnce() -> BlockIndex) -> Arc<BlockIndex> {
        self.get().unwrap_or_else(|| {
            // Of several searches that need the index, one builds it, and `get` does not wait for it.
            let _building = self.building.lock();
            self.get().unwrap_or_else(|| {
                let index = Arc::new(build());
                self.set(Arc::clone(&index));
                index
            })
        })
    }

    /// Sets or replaces the index.
    pub(crate) fn set(&self, index: Arc<BlockIndex>) {
        *self.index.write() = Some(index);
    }
}
