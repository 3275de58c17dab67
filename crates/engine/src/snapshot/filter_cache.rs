//! The filter cache: masks of the records that pass a filter, for filters that are used again.
//!
//! The columns of a block never change, so a filter is evaluated on a block once. A filter that is used a single time
//! would only displace others, so its masks are cached from its second use on. Losing masks costs time, and never
//! changes a result.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use hashbrown::HashMap;

use crate::columns::Mask;
use crate::filter::FilterKey;
use crate::snapshot::block::Block;
use crate::snapshot::file_names::FileId;
use crate::snapshot::view::Snapshot;

/// Bytes of all cached masks.
const MAX_BYTES: usize = 8 << 20;

/// Filters in the cache at most, including those that were used once.
const MAX_FILTERS: usize = 1024;

/// The filters of a database's requests, the one used last at the end.
#[derive(Default)]
pub(crate) struct FilterCache {
    entries: Mutex<VecDeque<Entry>>,
}

struct Entry {
    filter: FilterKey,
    /// `None` for a filter that was used once.
    masks: Option<Arc<Masks>>,
}

/// The records of each block that pass one filter, including dead records.
#[derive(Debug)]
pub(crate) struct Masks {
    /// By the file id of the block's body.
    blocks: HashMap<FileId, OnceLock<Arc<Mask>>>,
}

impl FilterCache {
    /// The masks of a filter, if this is not its first use.
    pub(crate) fn get(&self, filter: Option<FilterKey>, snapshot: &Snapshot) -> Option<Arc<Masks>> {
        let filter = filter?;
        let mut entries = self.entries.lock();
        let before = entries
            .iter()
            .position(|entry| entry.filter == filter)
            .and_then(|at| entries.remove(at));
        let masks = before.map(|entry| match entry.masks {
            Some(masks) if masks.are_of(snapshot) => masks,
            masks => Arc::new(Masks::new(snapshot, masks.as_deref())),
        });
        entries.push_back(Entry {
            filter,
            masks: masks.clone(),
        });
        let mut bytes: usize = entries.iter().map(Entry::bytes).sum();
        while bytes > MAX_BYTES || entries.len() > MAX_FILTERS {
            bytes -= entries.pop_front().map_or(bytes, |entry| entry.bytes());
        }
        masks
    }
}

impl Entry {
    fn bytes(&self) -> usize {
        let blocks = self.masks.as_ref().map_or(0, |masks| masks.blocks.len());
        blocks * size_of::<(FileId, OnceLock<Arc<Mask>>, Mask)>()
    }
}

impl Masks {
    /// Masks for the blocks of a snapshot, with those that `before` already holds.
    fn new(snapshot: &Snapshot, before: Option<&Self>) -> Self {
        let cached = |file_id| before.and_then(|before| before.blocks.get(&file_id));
        let blocks = snapshot.blocks.iter().map(|block| {
            let file_id = block.body.file_id;
            (file_id, cached(file_id).cloned().unwrap_or_default())
        });
        Self {
            blocks: blocks.collect(),
        }
    }

    /// Whether there is a place for each block of a snapshot, and for no other block.
    fn are_of(&self, snapshot: &Snapshot) -> bool {
        self.blocks.len() == snapshot.blocks.len()
            && snapshot
                .blocks
                .iter()
                .all(|block| self.blocks.contains_key(&block.body.file_id))
    }

    /// The mask of a block, computed by `evaluate` if it is not cached; `None` for a block of another snapshot.
    ///
    /// # Errors
    /// Those of `evaluate`; then nothing is cached.
    pub(crate) fn get_or_insert<E>(
        &self,
        block: &Block,
        evaluate: impl FnOnce() -> Result<Mask, E>,
    ) -> Result<Option<&Mask>, E> {
        let Some(cached) = self.blocks.get(&block.body.file_id) else {
            return Ok(None);
        };
        if let Some(mask) = cached.get() {
            return Ok(Some(mask));
        }
        let mask = evaluate()?;
        Ok(Some(cached.get_or_init(|| Arc::new(mask))))
    }

    /// Whether the mask of a block is cached.
    pub(crate) fn has(&self, block: &Block) -> bool {
        let cached = self.blocks.get(&block.body.file_id);
        cached.is_some_and(|cached| cached.get().is_some())
    }
}
