//! Exports: all records of one snapshot, or those that pass a filter, as NDJSON in the order of their ids.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::columns::Mask;
use crate::error::Error;
use crate::filter::RequestReader;
use crate::json::{write_integer, write_key};
use crate::limits::Limits;
use crate::record::{RecordRow, TimeRange, TopK, Variant};
use crate::runtime::{StopCheck, StopFlag};
use crate::settings::Settings;
use crate::snapshot::{Block, Selection, Snapshot, VectorWriter, write_data_and_times};

/// Bytes of a chunk. A chunk ends with the first record that reaches them.
const CHUNK_BYTES: usize = 256 << 10;

/// An export in progress.
///
/// It reads the snapshot that was the newest when it began. It holds no lock of the store and stops no writer: the only
/// cost of a slow reader is the memory of blocks that were replaced meanwhile.
pub(crate) struct ExportReader {
    snapshot: Arc<Snapshot>,
    order: InOrder,
    lines: LineWriter,
}

impl ExportReader {
    /// Begins an export from a request in JSON: `vectors`, `filter`, `forced_filter`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer to the member that is not valid; [`Error::Stopped`].
    pub(crate) fn begin(
        request: &str,
        limits: &Limits,
        settings: &Settings,
        snapshot: Arc<Snapshot>,
        stop: &StopFlag,
    ) -> Result<Self, Error> {
        let request = RequestReader::new(request, limits)?;
        let filter = request.filter(Variant::B)?;
        let vectors = request.flag("vectors")?;
        let selection = Selection::bind(&snapshot, filter.as_ref(), TimeRange::ALWAYS);
        Ok(Self {
            order: InOrder::new(&snapshot, &selection, stop)?,
            lines: LineWriter::new(vectors, settings.fingerprint.as_deref()),
            snapshot,
        })
    }

    /// The next lines, each with its line end; nothing after the last record.
    ///
    /// # Errors
    /// [`Error::Stopped`]; [`Error::IndexFiles`] when neither the index files nor the store have a vector.
    pub(crate) fn next_chunk(&mut self, stop: &StopFlag) -> Result<Vec<u8>, Error> {
        let mut out = Vec::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 8);
        while out.len() < CHUNK_BYTES {
            let Some(row) = self.order.next(&self.snapshot, stop)? else {
                break;
            };
            let record = self.snapshot.at(row);
            self.lines.write(&self.snapshot, record, &mut out)?;
        }
        Ok(out)
    }
}

/// The number of records whose order is known at a time. They take 4 MiB.
const WINDOW: usize = 1 << 18;

/// Yields rows in the order of the ids of their records.
///
/// The rows of a snapshot are in the order of their commits. To sort all ids would take memory in proportion to the
/// database, so one pass over the ids finds the next [`WINDOW`] records. A block whose ids are all outside the window is
/// skipped: in a database that was filled in the order of its ids, all passes together read each block about once.
struct InOrder {
    /// The selected records of each block, and the smallest and the largest of their ids.
    blocks: Vec<(Mask, u64, u64)>,
    /// The records that come next, the last of them first.
    window: Vec<(u64, RecordRow)>,
    /// Every id up to this one was yielded.
    last: u64,
    /// [`WINDOW`], except in tests.
    window_records: usize,
}

impl InOrder {
    /// Finds the selected records.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    fn new(snapshot: &Snapshot, selection: &Selection, stop: &StopFlag) -> Result<Self, Error> {
        let stop_check = &StopCheck::new(stop);
        let mut blocks = Vec::with_capacity(snapshot.blocks.len());
        for block in &snapshot.blocks {
            if stop.load(Relaxed) {
                return Err(Error::Stopped);
            }
            let mask = selection.mask(block, stop_check)?;
            let (mut smallest, mut largest) = (u64::MAX, 0);
            block.body.ids.each(&mask, |id| {
                smallest = smallest.min(id as u64);
                largest = largest.max(id as u64);
            });
            blocks.push((mask, smallest, largest));
        }
        Ok(Self {
            blocks,
            window: Vec::new(),
            last: 0,
            window_records: WINDOW,
        })
    }

    /// The next row; `None` after the last.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    fn next(&mut self, snapshot: &Snapshot, stop: &StopFlag) -> Result<Option<RecordRow>, Error> {
        if self.window.is_empty() {
            self.fill(snapshot, stop)?;
        }
        let Some((id, row)) = self.window.pop() else {
            return Ok(None);
        };
        self.last = id;
        Ok(Some(row))
    }

    /// Finds the next records.
    fn fill(&mut self, snapshot: &Snapshot, stop: &StopFlag) -> Result<(), Error> {
        let mut first = TopK::new(self.window_records);
        for (block, (mask, smallest, largest)) in snapshot.blocks.iter().zip(&self.blocks) {
            if stop.load(Relaxed) {
                return Err(Error::Stopped);
            }
            let is_after_window = first.last().is_some_and(|&(id, _)| *smallest > id);
            if *largest <= self.last || is_after_window {
                continue;
            }
            for slot in mask.iter() {
                let id = block.id(slot).0;
                if id > self.last {
                    first.push((id, block.row(slot)));
                }
            }
        }
        self.window = first.into_sorted();
        self.window.reverse();
        Ok(())
    }
}

/// Writes records with all that an upsert needs to store them again as they are.
pub(crate) struct LineWriter {
    /// `None` for lines without vectors.
    vectors: Option<VectorWriter>,
}

impl LineWriter {
    /// `fingerprint` is that of the model of the database.
    pub(crate) fn new(vectors: bool, fingerprint: Option<&str>) -> Self {
        Self {
            vectors: vectors.then(|| VectorWriter::new(fingerprint)),
        }
    }

    /// Appends the line of a record.
    ///
    /// # Errors
    /// [`Error::IndexFiles`] when neither the index files nor the store have the vector of the snapshot.
    pub(crate) fn write(
        &mut self,
        snapshot: &Snapshot,
        (block, slot): (&Block, usize),
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        out.extend_from_slice(b"{\"id\":");
        write_integer(block.id(slot).0, out);
        out.extend_from_slice(b",\"uuid\":\"");
        block.uuid(slot).write(out);
        out.push(b'"');
        write_key(block.key(slot), out);
        write_data_and_times(snapshot, (block, slot), Variant::A, None, out);
        if let Some(vectors) = &mut self.vectors {
            vectors.write((block, slot), out)?;
        }
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::{RecordId, RecordUuid, TimeRange, Vectors};
    use crate::snapshot::{Basis, Block, NewRow, Times};

    fn row(id: u64) -> NewRow {
        NewRow {
            id: RecordId(id),
            uuid: RecordUuid([0; 16]),
            key: None,
            times: Times::default(),
            cells: Vec::new(),
            vectors: Vectors::one(vec![1 << 30]),
        }
    }

    #[test]
    fn rows_come_in_the_order_of_ids_whatever_the_window() {
        let basis = Arc::new(Basis::untrained(1));
        let mut snapshot = Snapshot::empty();
        // Blocks in falling, rising and mixed order of ids.
        let ids: Vec<Vec<u64>> = vec![
            (900..1000).rev().collect(),
            (1..200).collect(),
            (200..700).map(|n| 200 + (n * 7) % 500).collect(),
            vec![5000, 1500],
        ];
        for ids in &ids {
            let rows: Vec<NewRow> = ids.iter().map(|&id| row(id)).collect();
            let first = snapshot.next_row();
            snapshot.blocks.push(Block::build(first, 1, &rows, &basis));
        }
        snapshot.blocks[1].mark_deleted(7);
        let mut expected: Vec<u64> = ids.concat();
        expected.retain(|&id| id != 8);
        expected.sort_unstable();
        for window in [1, 3, 100, WINDOW] {
            let stop = StopFlag::default();
            let selection = Selection::bind(&snapshot, None, TimeRange::ALWAYS);
            let mut order = InOrder::new(&snapshot, &selection, &stop).expect("not stopped");
            order.window_records = window;
            let mut found = Vec::new();
            while let Some(row) = order.next(&snapshot, &stop).expect("not stopped") {
                found.push(snapshot.id_of(row).0);
            }
            assert_eq!(found, expected, "window of {window}");
        }
    }
}
