//! Which records of a snapshot a filter and a time range leave.

use std::sync::Arc;

use crate::block::Block;
use crate::filter::{BoundFilter, Filter};
use crate::mask::Mask;
use crate::search::{Masks, TimeRange};
use crate::snapshot::Snapshot;

/// A filter and a time range, bound to a snapshot.
#[derive(Debug)]
pub(crate) struct Selection {
    filter: Option<BoundFilter>,
    time_range: TimeRange,
    /// What is known of the filter from earlier searches.
    known: Option<Arc<Masks>>,
    /// Whether records without a vector are left out.
    with_vector: bool,
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
            known: None,
            with_vector: false,
        }
    }

    /// Leaves out records without a vector: they have no score.
    pub(crate) fn only_with_vector(&mut self) {
        self.with_vector = true;
    }

    /// Takes what the filter lets through from masks that are kept, if they are, and adds to them.
    pub(crate) fn keep_in(&mut self, known: Option<Arc<Masks>>) {
        self.known = known;
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
        let columns = &block.body.columns;
        let mut mask = (*block.alive).clone();
        if self.with_vector
            && let Some(without) = &block.body.without_vector
        {
            mask.and_not(without);
        }
        let mut filter = self.filter.as_ref();
        if let (Some(known), Some(all)) = (&self.known, filter)
            && let Some(passing) = known.of(block, || all.mask(columns, &Mask::full(block.len())))
        {
            mask.and(passing);
            filter = None;
        }
        if self.time_range != TimeRange::ALWAYS && !mask.is_empty() {
            let TimeRange { start, end } = self.time_range;
            mask = block.synced.mask_between(start, end, &mask);
        }
        match filter {
            Some(filter) if !mask.is_empty() => filter.mask(columns, &mask),
            _ => mask,
        }
    }

    /// Whether one record passes.
    pub(crate) fn holds(&self, (block, slot): (&Block, usize)) -> bool {
        let range = self.time_range.start..=self.time_range.end;
        block.alive.get(slot)
            && (!self.with_vector || block.has_vector(slot))
            && range.contains(&block.synced.get(slot))
            && self
                .filter
                .as_ref()
                .is_none_or(|filter| filter.matches(&block.body.columns, slot))
    }
}
