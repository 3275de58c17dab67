//! The codes of one block.

use crate::aligned::AlignedBytes;
use crate::layout::{BLOCK_RECORDS, Layout, META_FIELD_BYTES, TILE_RECORDS};
use crate::nibbles::{high_nibble, low_nibble};

/// The packed codes of up to [`BLOCK_RECORDS`] records; [`Layout`] says where each byte lies.
pub struct Codes {
    layout: Layout,
    records: usize,
    head: AlignedBytes,
    /// Rows, then [`ROW_OVERREAD`] bytes.
    rest: AlignedBytes,
}

/// Kernels read the rest 64 bytes at a time and so past the end of a row, against zeros of the
/// query; behind the last row there must be bytes to read.
pub(crate) const ROW_OVERREAD: usize = 64;

/// One record's scale, residuals and norm, in units of 1/65535.
#[derive(Clone, Copy, Default)]
pub(crate) struct RecordMeta {
    pub(crate) scale: u16,
    pub(crate) coarse_residual: u16,
    pub(crate) tail_norm: u16,
    pub(crate) full_residual: u16,
}

impl Codes {
    /// No records yet, with room for `capacity`.
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

    /// Codes as [`head_bytes`](Self::head_bytes) and [`rest_bytes`](Self::rest_bytes) gave them.
    ///
    /// `None` when there are more than [`BLOCK_RECORDS`] or the lengths are not those of so many
    /// records. Any bytes are safe to scan; whether they are the right ones is for a checksum.
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

    /// How the codes lie.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Records held.
    #[must_use]
    pub fn records(&self) -> usize {
        self.records
    }

    /// Tiles, the last one filled up with zeros; `layout.head_bytes(records)` bytes.
    #[must_use]
    pub fn head_bytes(&self) -> &[u8] {
        self.head.as_bytes()
    }

    /// Rows; `layout.rest_bytes(records)` bytes.
    #[must_use]
    pub fn rest_bytes(&self) -> &[u8] {
        &self.rest.as_bytes()[..self.layout.rest_bytes(self.records)]
    }

    /// Bytes allocated, used or not.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.head.memory_bytes() + self.rest.memory_bytes()
    }

    /// Adds the records of another block behind the last.
    ///
    /// # Panics
    /// When the layouts differ or there would be more than [`BLOCK_RECORDS`].
    pub fn append(&mut self, other: &Self) {
        for slot in 0..other.records {
            self.push(other, slot);
        }
    }

    /// Adds one record of another block behind the last.
    ///
    /// # Panics
    /// When the layouts differ, the other block has no such record, or this one is full.
    pub fn push(&mut self, other: &Self, slot: usize) {
        assert_eq!(self.layout, other.layout, "blocks have one layout");
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

    /// Packs a record at `slot`, at most one past the last.
    ///
    /// A code a dimension, in -127..=127, or -119..=119 in the coarse band.
    pub(crate) fn write(&mut self, slot: usize, record: &[i8], meta: RecordMeta) {
        assert!(slot <= self.records, "slot is a record's or the next");
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

    /// Rows and the bytes kernels may read behind them.
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

/// Copies one of the `size`-byte elements of an array over one of another.
fn copy(to: &mut [u8], to_index: usize, from: &[u8], from_index: usize, size: usize) {
    to[to_index * size..][..size].copy_from_slice(&from[from_index * size..][..size]);
}

fn offset_byte(code: i8) -> u8 {
    code.cast_unsigned() ^ 0x80
}

fn nibble_pair(low: i8, high: i8) -> u8 {
    (low + 8).cast_unsigned() | (high + 8).cast_unsigned() << 4
}
