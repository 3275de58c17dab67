//! Records as the interface shows them, written straight to their JSON text.

use crate::columns::ColumnId;
use crate::json::{write_id, write_key};
use crate::record::{Score, Variant};
use crate::snapshot::{Block, Snapshot, write_data_and_times};

/// Writes the records of a response.
pub(crate) struct RecordWriter<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) variant: Variant,
    /// The columns that `data` shows, ascending; `None` for all.
    pub(crate) shown: Option<Vec<ColumnId>>,
}

impl RecordWriter<'_> {
    /// Writes a record.
    pub(crate) fn write(&self, record: (&Block, usize), out: &mut Vec<u8>) {
        self.write_open(record, None, out);
        out.push(b'}');
    }

    /// Writes a record without its last brace, so that members can follow.
    pub(crate) fn write_open(
        &self,
        (block, slot): (&Block, usize),
        score: Option<Score>,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(b"{\"id\":");
        write_id(self.variant, block.id(slot), block.uuid(slot), out);
        write_key(block.key(slot), out);
        if let Some(score) = score {
            out.extend_from_slice(b",\"relevance_score\":");
            score.write(out);
        }
        let shown = self.shown.as_deref();
        write_data_and_times(self.snapshot, (block, slot), self.variant, shown, out);
    }
}
