//! The low nibbles of the codes of one block, which may be left out: without them, the bounds are wider.

use crate::codes::{Codes, RecordCodes};
use crate::layout::{BLOCK_RECORDS, Layout, Plane};
use crate::nibbles::low_nibble;
use crate::plane_rows::PlaneRows;

/// The low nibbles of the codes of up to [`BLOCK_RECORDS`] records: the planes of [`Layout`] that pass 3 reads.
pub struct LowNibbles {
    layout: Layout,
    records: usize,
    pub(crate) coarse: PlaneRows,
    pub(crate) tail: PlaneRows,
    pub(crate) fine: PlaneRows,
}

impl LowNibbles {
    /// Nibbles of no records, with capacity for `capacity` records.
    pub(crate) fn new(layout: Layout, capacity: usize) -> Self {
        let rows = |plane| PlaneRows::new(layout.plane_bytes(plane), capacity);
        Self {
            layout,
            records: 0,
            coarse: rows(Plane::CoarseLow),
            tail: rows(Plane::TailLow),
            fine: rows(Plane::FineLow),
        }
    }

    /// Restores the low nibbles from the bytes of [`rest_bytes`](Self::rest_bytes).
    ///
    /// `None` if there are more than [`BLOCK_RECORDS`] records, or the length does not fit the number of records. Any bytes are
    /// safe to scan; a checksum must detect wrong bytes.
    #[must_use]
    pub fn from_bytes(layout: Layout, records: usize, rest: &[u8]) -> Option<Self> {
        if records > BLOCK_RECORDS || rest.len() != layout.rest_bytes(records) {
            return None;
        }
        let others = &rest[records * layout.plane_bytes(Plane::TailHigh)..];
        let split = |bytes, plane| PlaneRows::split_from(bytes, layout.plane_bytes(plane), records);
        let (coarse, others) = split(others, Plane::CoarseLow);
        let (tail, others) = split(others, Plane::TailLow);
        let (fine, _) = split(others, Plane::FineLow);
        Some(Self {
            layout,
            records,
            coarse,
            tail,
            fine,
        })
    }

    /// The rest of `codes`, whose low nibbles these are: the planes one after the other, then the residuals;
    /// `layout.rest_bytes(records)` bytes.
    #[must_use]
    pub fn rest_bytes(&self, codes: &Codes) -> Vec<u8> {
        let [coarse, tail, fine] = self.planes().map(PlaneRows::rows);
        let mut out = [codes.tail_high().rows(), coarse, tail, fine].concat();
        out.extend(codes.residual_bytes());
        out
    }

    /// The layout of the codes.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The number of records.
    #[must_use]
    pub fn records(&self) -> usize {
        self.records
    }

    /// Bytes allocated, used or not.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.planes().map(PlaneRows::memory_bytes).iter().sum()
    }

    /// The planes in the order in which pass 3 reads them.
    pub(crate) fn planes(&self) -> [&PlaneRows; 3] {
        [&self.coarse, &self.tail, &self.fine]
    }

    pub(crate) fn resize(&mut self, records: usize) {
        self.records = records;
        for plane in [&mut self.coarse, &mut self.tail, &mut self.fine] {
            plane.resize(records);
        }
    }

    /// Copies the nibbles of one record of another block to `slot`.
    pub(crate) fn copy(&mut self, slot: usize, other: &Self, from: usize) {
        let planes = [&mut self.coarse, &mut self.tail, &mut self.fine];
        for (plane, other) in planes.into_iter().zip(other.planes()) {
            plane.row_mut(slot).copy_from_slice(other.row(from));
        }
    }

    /// Stores the nibbles of a record.
    pub(crate) fn write(&mut self, slot: usize, record: &RecordCodes) {
        let (coarse, tail) = record.codes[self.layout.fine()..].split_at(self.layout.coarse());
        self.coarse.write(slot, coarse, low_nibble);
        self.tail.write(slot, tail, low_nibble);
        self.fine.write(slot, &record.fine_low, |low| low);
    }
}
