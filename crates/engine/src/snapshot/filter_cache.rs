//! What a filter lets through, kept for filters that come again.
//!
//! The columns of a block never change, so the records of it that pass a filter are found once. A filter
//! that comes a single time would only take the place of others: its second search is the one that keeps
//! them. Losing them costs time, never an answer.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use hashbrown::HashMap;

use crate::columns::Mask;
use crate::filter::FilterKey;
use crate::snapshot::block::Block;
use crate::snapshot::file_id::FileId;
use crate::snapshot::view::Snapshot;

/// Bytes of all masks that are kept.
const MAX_BYTES: usize = 8 << 20;

/// Filters that are known at most, those that came once among them.
const MAX_FILTERS: usize = 1024;

/// The filters of a database's searches, the one that came last at the end.
#[derive(Default)]
pub(crate) struct FilterCache {
    kept: Mutex<VecDeque<Kept>>,
}

struct Kept {
    filter: FilterKey,
    /// `None` for a filter that came once.
    masks: Option<Arc<Masks>>,
}

/// The records of each block that pass one filter, dead ones among them.
#[derive(Debug)]
pub(crate) struct Masks {
    /// By the file_id of the block's body.
    blocks: HashMap<FileId, OnceLock<Arc<Mask>>>,
}

impl FilterCache {
    /// The masks of a filter that has come before.
    pub(crate) fn look(
        &self,
        filter: Option<FilterKey>,
        snapshot: &Snapshot,
    ) -> Option<Arc<Masks>> {
        let filter = filter?;
        let mut kept = self.kept.lock();
        let before = kept
            .iter()
            .position(|known| known.filter == filter)
            .and_then(|at| kept.remove(at));
        let masks = before.map(|known| match known.masks {
            Some(masks) if masks.are_of(snapshot) => masks,
            masks => Arc::new(Masks::new(snapshot, masks.as_deref())),
        });
        kept.push_back(Kept {
            filter,
            masks: masks.clone(),
        });
        let mut bytes: usize = kept.iter().map(Kept::bytes).sum();
        while bytes > MAX_BYTES || kept.len() > MAX_FILTERS {
            bytes -= kept.pop_front().map_or(bytes, |known| known.bytes());
        }
        masks
    }
}

impl Kept {
    fn bytes(&self) -> usize {
        let blocks = self.masks.as_ref().map_or(0, |masks| masks.blocks.len());
        blocks * size_of::<(FileId, OnceLock<Arc<Mask>>, Mask)>()
    }
}

impl Masks {
    /// Those of a snapshot, with what is known of blocks that were there before.
    fn new(snapshot: &Snapshot, before: Option<&Self>) -> Self {
        let known = |file_id| before.and_then(|before| before.blocks.get(&file_id));
        let blocks = snapshot.blocks.iter().map(|block| {
            let file_id = block.body.file_id;
            (file_id, known(file_id).cloned().unwrap_or_default())
        });
        Self {
            blocks: blocks.collect(),
        }
    }

    fn are_of(&self, snapshot: &Snapshot) -> bool {
        self.blocks.len() == snapshot.blocks.len()
            && snapshot
                .blocks
                .iter()
                .all(|block| self.blocks.contains_key(&block.body.file_id))
    }

    /// The mask of a block, which `find` finds if it is not known; `None` for a block of another snapshot.
    ///
    /// # Errors
    /// Those of `find`; nothing is kept then.
    pub(crate) fn of<E>(
        &self,
        block: &Block,
        find: impl FnOnce() -> Result<Mask, E>,
    ) -> Result<Option<&Mask>, E> {
        let Some(kept) = self.blocks.get(&block.body.file_id) else {
            return Ok(None);
        };
        if let Some(mask) = kept.get() {
            return Ok(Some(mask));
        }
        let found = find()?;
        Ok(Some(kept.get_or_init(|| Arc::new(found))))
    }

    /// Whether the mask of a block is known.
    pub(crate) fn has(&self, block: &Block) -> bool {
        let kept = self.blocks.get(&block.body.file_id);
        kept.is_some_and(|kept| kept.get().is_some())
    }
}
