//! A snapshot: every record of a database as of one commit.

use std::sync::Arc;

use cosift_kernels::{Codes, Residence};

use crate::columns::ColumnNames;
use crate::lexical::WordColumns;
use crate::record::{Data, RecordId, RecordRow};
use crate::snapshot::block::Block;
use crate::snapshot::file_names::FileId;

/// All records of a database after one commit. A snapshot never changes: readers keep theirs while the writer publishes
/// the next.
#[derive(Clone)]
pub(crate) struct Snapshot {
    /// The commit.
    pub version: u64,
    pub(crate) names: Arc<ColumnNames>,
    /// The columns whose words the blocks index.
    pub(crate) words: Arc<WordColumns>,
    /// How often the rows were renumbered. Rows of two snapshots are comparable only if this number is the same in both.
    pub(crate) numbering: u64,
    /// By rising first row. Rows of dropped blocks leave gaps.
    pub(crate) blocks: Vec<Block>,
}

impl Snapshot {
    pub(crate) fn empty() -> Self {
        Self {
            version: 0,
            names: Arc::default(),
            words: Arc::default(),
            numbering: 0,
            blocks: Vec::new(),
        }
    }

    /// Where scans of all blocks read codes from, if the heads of the others are about as long.
    pub(crate) fn residence_of(&self, codes: &Codes) -> Residence {
        Residence::of(self.blocks.len() * codes.head_bytes().len())
    }

    /// Records that are neither deleted nor replaced.
    #[must_use]
    pub(crate) fn records(&self) -> usize {
        self.blocks.iter().map(|block| block.living).sum()
    }

    /// Vectors of records that are neither deleted nor replaced.
    pub(crate) fn vectors(&self) -> usize {
        self.blocks.iter().map(Block::vectors).sum()
    }

    /// Records whose codes are in a basis that was learned.
    pub(crate) fn rotated(&self) -> usize {
        self.blocks
            .iter()
            .filter(|block| block.coded.basis.is_trained())
            .map(|block| block.living)
            .sum()
    }

    /// The data of a living row.
    pub(crate) fn data_of(&self, row: RecordRow) -> Data {
        let (block, slot) = self.at(row);
        let cells = block.body.columns.cells(slot);
        let named = cells.map(|(id, value)| (self.names.name(id).into(), value.into()));
        Data::new(named.collect())
    }

    /// The index of a row's block, and the slot in the block.
    pub(crate) fn locate(&self, row: RecordRow) -> Option<(usize, usize)> {
        let at = self
            .blocks
            .partition_point(|block| block.first <= row)
            .checked_sub(1)?;
        let slot = (row.0 - self.blocks[at].first.0) as usize;
        (slot < self.blocks[at].len()).then_some((at, slot))
    }

    /// The block of a row and the slot in it. The row must come from this snapshot or its index.
    pub(crate) fn at(&self, row: RecordRow) -> (&Block, usize) {
        let (at, slot) = self.locate(row).expect("a row of this snapshot");
        (&self.blocks[at], slot)
    }

    /// The id of the record in a row, which must come from this snapshot or its index.
    pub(crate) fn id_of(&self, row: RecordRow) -> RecordId {
        let (block, slot) = self.at(row);
        block.id(slot)
    }

    /// The number of the next new row.
    pub(crate) fn next_row(&self) -> RecordRow {
        self.blocks
            .last()
            .map_or(RecordRow(0), |block| block.row(block.len()))
    }

    /// The largest id of the files of its blocks; `None` without blocks.
    pub(crate) fn newest_file(&self) -> Option<FileId> {
        let blocks = self.blocks.iter();
        blocks
            .flat_map(|block| [block.body.file_id, block.coded.file_id])
            .max()
    }

    /// The same records with rows numbered from `first`, without gaps.
    pub(crate) fn renumbered(&self, first: RecordRow) -> Self {
        let mut renumbered = self.clone();
        renumbered.numbering += 1;
        let mut next = first.0;
        for block in &mut renumbered.blocks {
            block.first = RecordRow(next);
            next += block.len() as u32;
        }
        renumbered
    }
}
