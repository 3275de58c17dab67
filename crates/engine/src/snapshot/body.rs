//! The part of a block that never changes.

use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::columns::{Columns, Integers, Mask};
use crate::record::RecordUuid;
use crate::snapshot::equal_vectors::EqualVectors;
use crate::snapshot::file_names::FileId;
use crate::snapshot::keys::Keys;
use crate::snapshot::living_counts::LivingCounts;
use crate::snapshot::passage_table::PassageTable;

/// Identities, two of the times and the columns of the records of a block. None of these ever changes, except
/// `living_counts`, which are made when they are first needed.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) file_id: FileId,
    pub(crate) ids: Integers,
    pub(crate) uuids: Vec<RecordUuid>,
    /// The times of creation and of the last change. Equal times of a block are shared.
    pub(crate) created: Arc<Integers>,
    pub(crate) changed: Arc<Integers>,
    pub(crate) columns: Columns,
    /// Records without a vector, which no search finds; `None` where every record has one.
    pub(crate) without_vector: Option<Box<Mask>>,
    /// The keys of records; `None` where no record has one.
    pub(crate) keys: Option<Box<Keys>>,
    /// The passages of records with several; `None` where no record has several.
    pub(crate) passages: Option<Box<PassageTable>>,
    /// The records whose vectors are equal; `None` where no vector has many records.
    pub(crate) equal: Option<Box<EqualVectors>>,
    /// What the living records hold, once a description needed it.
    pub(crate) living_counts: Mutex<Option<LivingCounts>>,
}

impl Body {
    /// Finds the records whose vectors are equal. `vectors` are those of the block, in the order of rows.
    pub(super) fn with_equal_vectors<'a>(
        mut self,
        vectors: impl Iterator<Item = &'a [i32]>,
    ) -> Self {
        let rows = vectors.take(self.uuids.len()).enumerate();
        let with_one = rows.filter(|(slot, _)| {
            let passages = self.passages.as_ref();
            self.has_vector(*slot) && passages.is_none_or(|passages| !passages.records.get(*slot))
        });
        self.equal = EqualVectors::find(with_one);
        self
    }

    /// Whether the record in `slot` has a vector, so that searches can find it.
    pub(crate) fn has_vector(&self, slot: usize) -> bool {
        let without = self.without_vector.as_ref();
        without.is_none_or(|without| !without.get(slot))
    }

    /// The number of vectors: one for each record, then those of the later rows.
    pub(crate) fn rows(&self) -> usize {
        let later = self.passages.as_ref().map(|passages| passages.later_rows());
        self.uuids.len() + later.unwrap_or(0)
    }

    /// The id of the record to which a vector belongs.
    pub(super) fn id_of(&self, row: usize) -> u64 {
        self.ids.get(self.passage_of(row).0) as u64
    }

    /// The slot of the record to which a vector belongs, and the number of its passage.
    pub(crate) fn passage_of(&self, row: usize) -> (usize, usize) {
        let later = row.checked_sub(self.uuids.len());
        let (Some(later), Some(passages)) = (later, &self.passages) else {
            return (row, 0);
        };
        let slot = passages.owner(later);
        (slot, later - passages.later_of(slot).start + 1)
    }

    /// The rows of the vectors of a record's passages after the first.
    pub(crate) fn later_of(&self, slot: usize) -> Range<usize> {
        let later = self
            .passages
            .as_ref()
            .map(|passages| passages.later_of(slot));
        let later = later.unwrap_or(0..0);
        let records = self.uuids.len();
        records + later.start..records + later.end
    }

    /// The key of the record in `slot`.
    pub(crate) fn key(&self, slot: usize) -> Option<&str> {
        self.keys.as_ref()?.get(slot)
    }
}
