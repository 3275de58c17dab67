//! The job that indexes the words of blocks, so that searches need not wait for it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::background::scheduler::{Job, Step};
use crate::lexical::{BlockIndex, GROUP_BLOCKS, GroupBuilder, GroupIndex, TextColumns};
use crate::snapshot::Block;

/// So many small groups are joined.
const SMALL_GROUPS: usize = 4;

/// Indexes blocks in groups. A step adds one block to the index of a group, or ends the group.
pub(crate) struct IndexWords {
    /// The groups that are left. The last one is indexed first.
    groups: Vec<Vec<Block>>,
    columns: TextColumns,
    builder: GroupBuilder,
    /// The lengths of the records of each block that was added to the builder.
    lengths: Vec<Box<[u8]>>,
}

impl IndexWords {
    pub(crate) fn new(groups: Vec<Vec<Block>>, columns: TextColumns) -> Self {
        Self {
            groups,
            columns,
            builder: GroupBuilder::default(),
            lengths: Vec::new(),
        }
    }
}

impl Job for IndexWords {
    fn step(&mut self, _stop: &AtomicBool) -> Step {
        let Some(blocks) = self.groups.last() else {
            return Step::Finished { progress: true };
        };
        if let Some(block) = blocks.get(self.lengths.len()) {
            let lengths = self.builder.add(&block.body.columns, &self.columns);
            self.lengths.push(lengths);
            return Step::Continue;
        }
        let group = Arc::new(std::mem::take(&mut self.builder).finish());
        for (at, (block, lengths)) in blocks.iter().zip(self.lengths.drain(..)).enumerate() {
            let index = BlockIndex::new(Arc::clone(&group), at, lengths);
            block.words.set(Arc::new(index));
        }
        self.groups.pop();
        Step::Continue
    }
}

/// The groups to index: the blocks without an index, or, while nothing is written, those of many small groups.
pub(crate) fn groups_to_index(blocks: &[Block], idle: bool) -> Vec<Vec<Block>> {
    let missing = blocks.iter().filter(|block| !block.has_words());
    let mut wanted: Vec<Block> = missing.cloned().collect();
    if wanted.is_empty() && idle {
        let small = small_groups(blocks);
        if small.len() >= SMALL_GROUPS {
            let is_small =
                |group: &Arc<GroupIndex>| small.iter().any(|small| Arc::ptr_eq(small, group));
            let blocks = blocks.iter().filter(|block| {
                let words = block.words.get();
                words.is_some_and(|words| is_small(words.group()))
            });
            wanted = blocks.cloned().collect();
        }
    }
    wanted.chunks(GROUP_BLOCKS).map(<[Block]>::to_vec).collect()
}

/// Whether the words are in so many small groups that they are indexed again in large ones.
pub(crate) fn has_many_small_groups(blocks: &[Block]) -> bool {
    small_groups(blocks).len() >= SMALL_GROUPS
}

/// The groups of which fewer than half as many blocks are left as a group can have.
fn small_groups(blocks: &[Block]) -> Vec<Arc<GroupIndex>> {
    let words = blocks.iter().filter_map(|block| block.words.get());
    let mut groups: Vec<Arc<GroupIndex>> = words.map(|words| Arc::clone(words.group())).collect();
    groups.sort_unstable_by_key(Arc::as_ptr);
    let groups = groups.chunk_by(Arc::ptr_eq);
    let small = groups.filter(|blocks| blocks.len() < GROUP_BLOCKS / 2);
    small.map(|blocks| Arc::clone(&blocks[0])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::ColumnId;
    use crate::lexical::{BlockMatches, GroupMatches, LexicalQuery};
    use crate::record::{OwnedValue, RecordId, RecordRow, RecordUuid, Vectors};
    use crate::snapshot::{Basis, NewRow, Times};

    /// A block of two records. The text of each has a word of its own.
    fn block(at: u32) -> Block {
        let row = |slot: u32| NewRow {
            id: RecordId(u64::from(2 * at + slot)),
            uuid: RecordUuid([0; 16]),
            key: None,
            times: Times::default(),
            cells: vec![(
                ColumnId(0),
                OwnedValue::Text(format!("common {}", own_word(at, slot)).into()),
            )],
            vectors: Vectors::one(vec![1 << 30]),
        };
        let basis = Arc::new(Basis::untrained(1));
        Block::build(RecordRow(2 * at), 1, &[row(0), row(1)], &basis)
    }

    fn own_word(block: u32, slot: u32) -> String {
        format!("{}", 1_000 + 2 * block + slot)
    }

    fn run(groups: Vec<Vec<Block>>) {
        let mut job = IndexWords::new(groups, TextColumns::Strings);
        while job.step(&AtomicBool::new(false)) == Step::Continue {}
    }

    /// The blocks and the slots of the records that have a word.
    fn found(blocks: &[Block], word: &str) -> Vec<(u32, u32)> {
        let query = LexicalQuery::parse(word, false).expect("a word");
        let mut matches = BlockMatches::default();
        let mut found = Vec::new();
        for (at, block) in (0..).zip(blocks) {
            let index = block.words.get().expect("an index");
            let of_group = GroupMatches::find(index.group(), &query);
            matches.find(&index, &of_group, &query);
            found.extend(matches.rows().iter().map(|slot| (at, slot as u32)));
        }
        found
    }

    fn assert_complete(blocks: &[Block]) {
        let all: Vec<(u32, u32)> = (0..blocks.len() as u32)
            .flat_map(|at| [(at, 0), (at, 1)])
            .collect();
        assert_eq!(found(blocks, "common"), all);
        for &(at, slot) in &all {
            assert_eq!(found(blocks, &own_word(at, slot)), [(at, slot)]);
        }
    }

    fn lens(groups: &[Vec<Block>]) -> Vec<usize> {
        groups.iter().map(Vec::len).collect()
    }

    #[test]
    fn blocks_without_an_index_are_indexed_in_groups() {
        let blocks: Vec<Block> = (0..37).map(block).collect();
        let groups = groups_to_index(&blocks, false);
        assert_eq!(lens(&groups), [16, 16, 5]);
        run(groups);
        assert!(groups_to_index(&blocks, true).is_empty());
        assert_complete(&blocks);
    }

    #[test]
    fn many_small_groups_are_joined_while_nothing_is_written() {
        let blocks: Vec<Block> = (0..SMALL_GROUPS as u32).map(block).collect();
        for (at, block) in blocks.iter().enumerate() {
            assert!(!has_many_small_groups(&blocks), "{at} groups");
            block.words(&TextColumns::Strings);
        }
        assert!(groups_to_index(&blocks, false).is_empty());
        let bytes =
            |blocks: &[Block]| -> usize { blocks.iter().map(|block| block.memory().lexical).sum() };
        let before = bytes(&blocks);
        let groups = groups_to_index(&blocks, true);
        assert_eq!(lens(&groups), [SMALL_GROUPS]);
        run(groups);
        assert!(bytes(&blocks) < before);
        assert!(groups_to_index(&blocks, true).is_empty());
        assert_complete(&blocks);
    }

    #[test]
    fn a_group_with_few_blocks_left_is_small() {
        let blocks: Vec<Block> = (0..(SMALL_GROUPS * GROUP_BLOCKS) as u32)
            .map(block)
            .collect();
        run(groups_to_index(&blocks, false));
        let some_of_each = |count: usize| -> Vec<Block> {
            let groups = blocks.chunks(GROUP_BLOCKS);
            groups.flat_map(|group| group[..count].to_vec()).collect()
        };
        assert!(!has_many_small_groups(&some_of_each(GROUP_BLOCKS / 2)));
        let few = some_of_each(1);
        let groups = groups_to_index(&few, true);
        assert_eq!(lens(&groups), [SMALL_GROUPS]);
        run(groups);
        assert!(!has_many_small_groups(&few));
    }
}
