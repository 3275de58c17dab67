//! Records as the interface shows them, written straight to their JSON text.

use crate::columns::ColumnId;
use crate::error::Error;
use crate::json::{write_id, write_key};
use crate::record::{Score, Variant};
use crate::snapshot::{Block, Snapshot, VectorWriter, write_data_and_times};

/// Writes the records of a response.
pub(crate) struct RecordWriter<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) variant: Variant,
    /// The columns that `data` shows, ascending; `None` for all.
    pub(crate) shown: Option<Vec<ColumnId>>,
    /// `None` for records without their vectors.
    pub(crate) vectors: Option<VectorWriter>,
}

impl RecordWriter<'_> {
    /// Writes a record.
    ///
    /// # Errors
    /// The error of a vector that cannot be read.
    pub(crate) fn write(
        &mut self,
        record: (&Block, usize),
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.write_open(record, None, out)?;
        out.push(b'}');
        Ok(())
    }

    /// Writes a record without its last brace, so that members can follow.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) fn write_open(
        &mut self,
        (block, slot): (&Block, usize),
        score: Option<Score>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        out.extend_from_slice(b"{\"id\":");
        write_id(self.variant, block.id(slot), block.uuid(slot), out);
        write_key(block.key(slot), out);
        if let Some(score) = score {
            out.extend_from_slice(b",\"relevance_score\":");
            score.write(out);
        }
        let shown = self.shown.as_deref();
        write_data_and_times(self.snapshot, (block, slot), self.variant, shown, out);
        if let Some(vectors) = &mut self.vectors {
            vectors.write((block, slot), out)?;
        }
        Ok(())
    }
}
