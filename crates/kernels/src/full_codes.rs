//! All codes of one block.

use crate::codes::{Codes, RecordCodes, RecordMeta, RowResiduals};
use crate::layout::Layout;
use crate::low_nibbles::LowNibbles;

/// The codes of up to [`BLOCK_RECORDS`](crate::BLOCK_RECORDS) records with their low nibbles.
pub struct FullCodes {
    /// Those that searches always need.
    pub codes: Codes,
    /// The low nibbles of the same records.
    pub low: LowNibbles,
}

impl FullCodes {
    /// Codes of no records, with capacity for `capacity` records.
    #[must_use]
    pub fn new(layout: Layout, capacity: usize) -> Self {
        Self {
            codes: Codes::new(layout, capacity),
            low: LowNibbles::new(layout, capacity),
        }
    }

    /// Appends one record of another block.
    ///
    /// # Panics
    /// When the layouts differ, the other block has no such record, or this one is full.
    pub fn push(&mut self, (codes, low): (&Codes, &LowNibbles), slot: usize) {
        assert_eq!(
            self.codes.layout(),
            codes.layout(),
            "blocks have the same layout"
        );
        assert!(slot < codes.records(), "record exists");
        let to = self.codes.records();
        self.resize(to + 1);
        self.codes.copy(to, codes, slot);
        self.low.copy(to, low, slot);
        self.codes.note_tail_low(self.low.tail.row(to));
    }

    /// Stores a record at `slot`, which exists already or is the next one. `residuals` are ignored if there is no rest.
    pub(crate) fn write(
        &mut self,
        slot: usize,
        record: &RecordCodes,
        meta: RecordMeta,
        residuals: RowResiduals,
    ) {
        assert!(
            slot <= self.codes.records(),
            "slot is that of a record or the next one"
        );
        if slot == self.codes.records() {
            self.resize(slot + 1);
        }
        self.codes.write(slot, record, meta, residuals);
        self.low.write(slot, record);
        self.codes.note_tail_low(self.low.tail.row(slot));
    }

    fn resize(&mut self, records: usize) {
        self.codes.resize(records);
        self.low.resize(records);
    }
}
