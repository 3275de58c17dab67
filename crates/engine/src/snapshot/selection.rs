//! The selection: the records of a snapshot that pass a filter and a time range.

use std::sync::Arc;

use crate::columns::Mask;
use crate::filter::{BoundFilter, Filter};
use crate::record::{RecordRow, TimeRange};
use crate::runtime::{StopCheck, Stopped};
use crate::snapshot::Masks;
use crate::snapshot::block::Block;
use crate::snapshot::view::Snapshot;

/// Nanoseconds above which a filter is expensive: it takes so long that other requests must not wait for it.
pub(crate) const EXPENSIVE_NS: f64 = 20e6;

/// A filter and a time range, bound to a snapshot.
#[derive(Debug)]
pub(crate) struct Selection {
    filter: Option<BoundFilter>,
    time_range: TimeRange,
    /// Cached results of the filter.
    masks: Option<Arc<Masks>>,
    /// Whether records without a vector are left out.
    with_vector: bool,
    /// Records that are left out.
    excluded: Vec<RecordRow>,
}

impl Selection {
    /// Binds a filter to the columns of a snapshot.
    pub(crate) fn bind(
        snapshot: &Snapshot,
        filter: Option<&Filter>,
        time_range: TimeRange,
    ) -> Self {
        Self {
            filter: filter.map(|filter| filter.bind(&snapshot.names)),
            time_range,
            masks: None,
            with_vector: false,
            excluded: Vec::new(),
        }
    }

    /// Leaves out some records.
    pub(crate) fn exclude(&mut self, rows: Vec<RecordRow>) {
        self.excluded = rows;
    }

    /// Leaves out records without a vector: they have no score.
    pub(crate) fn require_vector(&mut self) {
        self.with_vector = true;
    }

    /// Takes the results of the filter from cached masks, and adds new results to them.
    pub(crate) fn use_masks(&mut self, masks: Option<Arc<Masks>>) {
        self.masks = masks;
    }

    /// Removes the rules that are expensive to evaluate and keep many records, judged by the largest block, and returns
    /// them. They are cheaper to evaluate on a few records than on all.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn split_off_expensive(
        &mut self,
        snapshot: &Snapshot,
        stop_check: &StopCheck<'_>,
    ) -> Result<Option<BoundFilter>, Stopped> {
        let sample = snapshot.blocks.iter().max_by_key(|block| block.len());
        let (Some(sample), Some(filter)) = (sample, &self.filter) else {
            return Ok(None);
        };
        let (cheap, expensive) = filter.split(&sample.body.columns, stop_check)?;
        if expensive.is_some() {
            self.filter = Some(cheap);
        }
        Ok(expensive)
    }

    /// Whether the filter takes longer than `max_ns` nanoseconds. It is evaluated on all records of the snapshot, and then
    /// rule by rule on `explained` of them.
    pub(crate) fn takes_longer(&self, max_ns: f64, snapshot: &Snapshot, explained: usize) -> bool {
        let Some(filter) = &self.filter else {
            return false;
        };
        let mut cost = 0.0;
        for block in &snapshot.blocks {
            let whole = filter.cost(&block.body.columns);
            if !self.masks.as_ref().is_some_and(|masks| masks.has(block)) {
                cost += whole;
            }
            let of_record = whole / block.len().max(1) as f64;
            if cost + of_record * explained as f64 > max_ns {
                return true;
            }
        }
        false
    }

    /// The living records of a block that pass.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn mask(&self, block: &Block, stop_check: &StopCheck<'_>) -> Result<Mask, Stopped> {
        let columns = &block.body.columns;
        let mut mask = (*block.alive).clone();
        if self.with_vector
            && let Some(without) = &block.body.without_vector
        {
            mask.and_not(without);
        }
        for row in &self.excluded {
            let slot = row.0.checked_sub(block.first.0).map(|slot| slot as usize);
            if let Some(slot) = slot.filter(|&slot| slot < block.len()) {
                mask.clear(slot);
            }
        }
        let mut filter = self.filter.as_ref();
        if let (Some(masks), Some(bound)) = (&self.masks, filter) {
            let evaluate = || bound.mask(columns, &Mask::full(block.len()), stop_check);
            if let Some(passing) = masks.get_or_insert(block, evaluate)? {
                mask.and(passing);
                filter = None;
            }
        }
        if self.time_range != TimeRange::ALWAYS && !mask.is_empty() {
            let TimeRange { start, end } = self.time_range;
            mask = block.synced.mask_between(start, end, &mask);
        }
        match filter {
            Some(filter) if !mask.is_empty() => filter.mask(columns, &mask, stop_check),
            _ => Ok(mask),
        }
    }

    /// Whether one living record passes.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn holds(
        &self,
        (block, slot): (&Block, usize),
        stop_check: &StopCheck<'_>,
    ) -> Result<bool, Stopped> {
        let range = self.time_range.start..=self.time_range.end;
        if !block.alive.get(slot)
            || self.with_vector && !block.has_vector(slot)
            || self.excluded.contains(&block.row(slot))
            || !range.contains(&block.synced.get(slot))
        {
            return Ok(false);
        }
        match &self.filter {
            Some(filter) => filter.matches(&block.body.columns, slot, stop_check),
            None => Ok(true),
        }
    }
}
