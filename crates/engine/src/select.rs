//! Which records of a snapshot a filter and a time range leave.

use crate::block::Block;
use crate::filter::{BoundFilter, Filter};
use crate::mask::Mask;
use crate::search::TimeRange;
use crate::snapshot::Snapshot;

/// A filter and a time range, bound to a snapshot.
#[derive(Debug)]
pub(crate) struct Selection {
    filter: Option<BoundFilter>,
    time_range: TimeRange,
}

impl Selection {
    pub(crate) fn bind(
        snapshot: &Snapshot,
        filter: Option<&Filter>,
        time_range: TimeRange,
    ) -> Self {
        Self {
            filter: filter.map(|filter| filter.bind(&snapshot.names)),
            time_range,
        }
    }

    /// Takes out the rules that are better tested on few records, judged by the largest block.
    pub(crate) fn put_off(&mut self, snapshot: &Snapshot) -> Option<BoundFilter> {
        let sample = snapshot.blocks.iter().max_by_key(|block| block.len())?;
        let (cheap, lazy) = self.filter.as_ref()?.split(&sample.body.columns);
        if lazy.is_some() {
            self.filter = Some(cheap);
        }
        lazy
    }

    /// The living records of a block that pass.
    pub(crate) fn mask(&self, block: &Block) -> Mask {
        let mut mask = (*block.alive).clone();
        if self.time_range != TimeRange::ALWAYS && !mask.is_empty() {
            mask = block
                .synced
                .mask_between(self.time_range.start, self.time_range.end, &mask);
        }
        match &self.filter {
            Some(filter) if !mask.is_empty() => filter.mask(&block.body.columns, &mask),
            _ => mask,
        }
    }

    /// Whether one record passes.
    pub(crate) fn holds(&self, (block, slot): (&Block, usize)) -> bool {
        let range = self.time_range.start..=self.time_range.end;
        block.alive.get(slot)
            && range.contains(&block.synced.get(slot))
            && self
                .filter
                .as_ref()
                .is_none_or(|filter| filter.matches(&block.body.columns, slot))
    }
}
