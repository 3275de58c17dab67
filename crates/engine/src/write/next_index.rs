//! The index files of the next model, which are made before it takes the place of the current one, so that the switch is quick.

use std::sync::Arc;

use crate::error::Error;
use crate::runtime::DatabaseEvents;
use crate::snapshot::{Coding, FileId, IndexFiles, Snapshot};
use crate::store::{Reader, Stamp};
use crate::write::block_maintenance::BlockMaintenance;
use crate::write::replay::replay;

/// The records that have vectors of the next model, as searches will read them.
pub(crate) struct NextIndex {
    snapshot: Arc<Snapshot>,
    index_files: Arc<IndexFiles>,
    blocks: BlockMaintenance,
}

impl NextIndex {
    /// Reads the records from the store, and writes the vectors of full blocks to their files. `progress` returns whether to go
    /// on.
    ///
    /// # Errors
    /// [`Error::Store`]; [`Error::Closed`] when `progress` returns false. Then no file is left.
    pub(crate) fn build(
        store: &Reader,
        index_files: IndexFiles,
        dimensions: usize,
        events: DatabaseEvents,
        progress: &dyn Fn(usize) -> bool,
    ) -> Result<Self, Error> {
        let index_files = Arc::new(index_files);
        index_files.clear();
        let mut blocks = BlockMaintenance::new(Arc::clone(&index_files), events);
        let coding = Coding::untrained(dimensions);
        let replayed = store.at_one_commit_of_next(|moment| {
            replay(
                &coding,
                Some(&mut blocks),
                Snapshot::empty(),
                moment,
                progress,
            )
        });
        match replayed {
            Ok((published, _)) => Ok(Self {
                snapshot: published.snapshot,
                index_files,
                blocks,
            }),
            Err(error) => {
                blocks.abandon(store);
                Err(error)
            }
        }
    }

    /// Saves the index files with a stamp of the store.
    ///
    /// # Errors
    /// [`Error::IndexFiles`].
    pub(crate) fn save(&self, stamp: Stamp) -> Result<(), Error> {
        Ok(self.index_files.save(&self.snapshot, stamp, &|| false)?)
    }

    /// The vector files that the store does not name yet, each with the ids and the slots of its records.
    pub(crate) fn files(&self) -> impl Iterator<Item = (FileId, Vec<(u64, usize)>)> {
        let pending = self.blocks.pending().iter();
        pending.filter_map(|file_id| {
            let mut blocks = self.snapshot.blocks.iter();
            let block = blocks.find(|block| block.body.file_id == *file_id)?;
            let slots = block.alive.iter();
            Some((
                *file_id,
                slots.map(|slot| (block.id(slot).0, slot)).collect(),
            ))
        })
    }

    /// Removes the vector files that the store does not name.
    pub(crate) fn abandon(&self, store: &Reader) {
        self.blocks.abandon(store);
    }
}
