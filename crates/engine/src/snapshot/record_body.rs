//! The end of the JSON of a record: its data and its times.

use std::hint::black_box;

use crate::columns::{ColumnId, write_data};
use crate::json::write_times;
use crate::record::{Value, Variant};
use crate::snapshot::block::Block;
use crate::snapshot::new_row::Times;
use crate::snapshot::view::Snapshot;

/// Appends the members `data`, with all columns or those of `shown`, and `timestamps` of a record; other members stand
/// before them.
pub(crate) fn write_data_and_times(
    snapshot: &Snapshot,
    (block, slot): (&Block, usize),
    variant: Variant,
    shown: Option<&[ColumnId]>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b",\"data\":");
    write_data(&block.body.columns, slot, &snapshot.names, shown, out);
    block.times(slot).write_member(variant, out);
}

/// Reads what [`write_data_and_times`] reads of a record, so that this is in the cache then. The reads for several records wait
/// for the memory together; while records are written, each waits alone.
pub(crate) fn read_ahead((block, slot): (&Block, usize)) {
    for (_, value) in block.body.columns.cells(slot) {
        if let Value::Text(text) = value {
            black_box(text.as_bytes().first());
        }
    }
    black_box((block.id(slot), block.times(slot)));
}

impl Times {
    /// Appends the member `timestamps`; other members stand before it.
    pub(crate) fn write_member(self, variant: Variant, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"timestamps\":");
        write_times(variant, [self.created, self.changed, self.synced], out);
    }
}
