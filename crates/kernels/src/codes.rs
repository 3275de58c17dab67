//! The codes of one block.

use crate::aligned::AlignedBytes;
use crate::layout::{BLOCK_RECORDS, Layout, META_FIELD_BYTES, TILE_RECORDS, UNIT};
use crate::nibbles::{high_nibble, low_nibble};

/// The packed codes of up to [`BLOCK_RECORDS`] records; [`Layout`] describes the position of each byte.
pub struct Codes {
    layout: Layout,
    records: usize,
    head: AlignedBytes,
    /// Rows, then [`ROW_OVERREAD`] bytes.
    rest: AlignedBytes,
}

/// Readable bytes after the last row. Kernels read 64 bytes at a time, so they read past the end of a row. The bytes past
/// the end are multiplied with zeros of the query.
pub(crate) const ROW_OVERREAD: usize = 64;

/// The scale, residuals and norm of one record, in units of 1/65535.
#[derive(Clone, Copy, Default)]
pub(crate) struct RecordMeta {
    pub(crate) scale: u16,
    /// In a layout along an axis: the axis residual.
    pub(crate) coarse_residual: u16,
    /// In a layout along an axis: the rest norm.
    pub(crate) tail_norm: u16,
    pub(crate) full_residual: u16,
}

/// A value in units of 1/65535, rounded up, at most 1.
pub(crate) fn rounded_up(value: f64) -> u16 {
    // The cast saturates. A norm exceeds 1 only by the rounding of a unit vector, which the slack of a query covers.
    (value / UNIT).ceil() as u16
}

impl Codes {
    /// Codes of no records, with capacity for `capacity` records.
    #[must_use]
    pub fn new(layout: Layout, capacity: usize) -> Self {
        let mut rest = AlignedBytes::with_capacity(layout.rest_bytes(capacity) + ROW_OVERREAD);
        rest.resize(ROW_OVERREAD);
        Self {
            layout,
            records: 0,
            head: AlignedBytes::with_capacity(layout.head_bytes(capacity)),
            rest,
        }
    }

    /// Restores codes from the bytes of [`head_bytes`](Self::head_bytes) and [`rest_bytes`](Self::rest_bytes).
    ///
    /// `None` if there are more than [`BLOCK_RECORDS`] records, or the lengths do not fit the number of records. Any bytes
    /// are safe to scan; a checksum must detect wrong bytes.
    #[must_use]
    pub fn from_bytes(layout: Layout, records: usize, head: &[u8], rest: &[u8]) -> Option<Self> {
        if records > BLOCK_RECORDS
            || head.len() != layout.head_bytes(records)
            || rest.len() != layout.rest_bytes(records)
        {
            return None;
        }
        let mut codes = Self::new(layout, records);
        codes.resize(records);
        codes.head.as_mut_bytes().copy_from_slice(head);
        codes.rest.as_mut_bytes()[..rest.len()].copy_from_slice(rest);
        Some(codes)
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

    /// The tiles, the last one padded with zeros; `layout.head_bytes(records)` bytes.
    #[must_use]
    pub fn head_bytes(&self) -> &[u8] {
        self.head.as_bytes()
    }

    /// The rows; `layout.rest_bytes(records)` bytes.
    #[must_use]
    pub fn rest_bytes(&self) -> &[u8] {
        &self.rest.as_bytes()[..self.layout.rest_bytes(self.records)]
    }

    /// Bytes allocated, used or not.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.head.memory_bytes() + self.rest.memory_bytes()
    }

    /// Appends the records of another block.
    ///
    /// # Panics
    /// When the layouts differ or there would be more than [`BLOCK_RECORDS`].
    pub fn append(&mut self, other: &Self) {
        for slot in 0..other.records {
            self.push(other, slot);
        }
    }

    /// Appends one record of another block.
    ///
    /// # Panics
    /// When the layouts differ, the other block has no such record, or this one is full.
    pub fn push(&mut self, other: &Self, slot: usize) {
        assert_eq!(self.layout, other.layout, "blocks have the same layout");
        assert!(slot < other.records, "record exists");
        let to = self.records;
        self.resize(to + 1);

        let (from_tile, from_lane) = (other.tile(slot / TILE_RECORDS), slot % TILE_RECORDS);
        let meta = self.layout.meta_offset();
        let lane = to % TILE_RECORDS;
        let tile = self.tile_mut(to / TILE_RECORDS);
        for column in (0..meta).step_by(4 * TILE_RECORDS) {
            copy(
                &mut tile[column..],
                lane,
                &from_tile[column..],
                from_lane,
                4,
            );
        }
        for column in (meta..tile.len()).step_by(META_FIELD_BYTES) {
            copy(
                &mut tile[column..],
                lane,
                &from_tile[column..],
                from_lane,
                2,
            );
        }
        let row = self.layout.row_bytes();
        copy(
            self.rest.as_mut_bytes(),
            to,
            other.rest.as_bytes(),
            slot,
            row,
        );
    }

    /// Stores a record at `slot`, which exists already or is the next one.
    ///
    /// `record` has one code for each dimension, in -127..=127, or in -119..=119 in the coarse band.
    pub(crate) fn write(&mut self, slot: usize, record: &[i8], meta: RecordMeta) {
        assert!(
            slot <= self.records,
            "slot is that of a record or the next one"
        );
        if slot == self.records {
            self.resize(slot + 1);
        }
        let layout = self.layout;
        let lane = slot % TILE_RECORDS;
        let (fine, others) = record.split_at(layout.fine());
        let (coarse, tail) = others.split_at(layout.coarse());

        let tile = self.tile_mut(slot / TILE_RECORDS);
        for (dim, &code) in fine.iter().enumerate() {
            tile[(dim / 4 * TILE_RECORDS + lane) * 4 + dim % 4] = offset_byte(code);
        }
        let nibbles = &mut tile[layout.coarse_offset()..];
        for (group, codes) in coarse.chunks_exact(8).enumerate() {
            for at in 0..4 {
                nibbles[(group * TILE_RECORDS + lane) * 4 + at] =
                    nibble_pair(high_nibble(codes[at]), high_nibble(codes[at + 4]));
            }
        }
        let fields = tile[layout.meta_offset()..].chunks_exact_mut(META_FIELD_BYTES);
        let values = [
            meta.scale,
            meta.coarse_residual,
            meta.tail_norm,
            meta.full_residual,
        ];
        for (field, value) in fields.zip(values) {
            field[2 * lane..][..2].copy_from_slice(&value.to_le_bytes());
        }

        let start = layout.rest_bytes(slot);
        let row = &mut self.rest.as_mut_bytes()[start..][..layout.row_bytes()];
        let (low, bytes) = row.split_at_mut(layout.coarse() / 2);
        for (packed, codes) in low.chunks_exact_mut(4).zip(coarse.chunks_exact(8)) {
            for at in 0..4 {
                packed[at] = nibble_pair(low_nibble(codes[at]), low_nibble(codes[at + 4]));
            }
        }
        for (byte, &code) in bytes.iter_mut().zip(tail) {
            *byte = offset_byte(code);
        }
    }

    /// The rows, and the bytes after them that kernels may read.
    pub(crate) fn padded_rest(&self) -> &[u8] {
        self.rest.as_bytes()
    }

    /// The scale, residuals and norm of the record at `slot`.
    #[inline(always)]
    pub(crate) fn meta(&self, slot: usize) -> RecordMeta {
        let fields = &self.tile(slot / TILE_RECORDS)[self.layout.meta_offset()..];
        let value = |field: usize| {
            let at = field * META_FIELD_BYTES + slot % TILE_RECORDS * 2;
            u16::from_le_bytes([fields[at], fields[at + 1]])
        };
        RecordMeta {
            scale: value(0),
            coarse_residual: value(1),
            tail_norm: value(2),
            full_residual: value(3),
        }
    }

    #[inline(always)]
    pub(crate) fn tile(&self, tile: usize) -> &[u8] {
        let bytes = self.layout.tile_bytes();
        &self.head.as_bytes()[tile * bytes..][..bytes]
    }

    fn tile_mut(&mut self, tile: usize) -> &mut [u8] {
        let bytes = self.layout.tile_bytes();
        &mut self.head.as_mut_bytes()[tile * bytes..][..bytes]
    }

    fn resize(&mut self, records: usize) {
        assert!(records <= BLOCK_RECORDS, "a block holds 4096 records");
        self.records = records;
        self.head.resize(self.layout.head_bytes(records));
        self.rest
            .resize(self.layout.rest_bytes(records) + ROW_OVERREAD);
    }
}

/// Copies an element of `size` bytes from one array to another.
fn copy(to: &mut [u8], to_index: usize, from: &[u8], from_index: usize, size: usize) {
    to[to_index * size..][..size].copy_from_slice(&from[from_index * size..][..size]);
}

fn offset_byte(code: i8) -> u8 {
    code.cast_unsigned() ^ 0x80
}

fn nibble_pair(low: i8, high: i8) -> u8 {
    (low + 8).cast_unsigned() | (high + 8).cast_unsigned() << 4
}
