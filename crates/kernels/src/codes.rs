//! The codes of one block, without the low nibbles.

use crate::aligned::AlignedBytes;
use crate::layout::{
    BLOCK_RECORDS, Layout, META_FIELD_BYTES, Plane, ROW_RESIDUAL_BYTES, TILE_RECORDS, UNIT,
};
use crate::nibbles::high_nibble;
use crate::plane_rows::{PlaneRows, nibble_pairs, sum_of_squares};

/// The packed codes of up to [`BLOCK_RECORDS`] records without their [`LowNibbles`](crate::LowNibbles); [`Layout`] describes the position of each
/// byte.
pub struct Codes {
    layout: Layout,
    records: usize,
    head: AlignedBytes,
    tail_high: PlaneRows,
    /// Of each record; none if the head holds all codes.
    residuals: Vec<RowResiduals>,
    /// The largest sum of squares of a record's low nibbles in the tail.
    largest_tail_low: u32,
}

/// The scale, residuals and norm of one record, in units of 1/65535.
#[derive(Clone, Copy)]
pub(crate) struct RecordMeta {
    pub(crate) scale: u16,
    /// In a layout along an axis: the axis residual.
    pub(crate) coarse_residual: u16,
    /// In a layout along an axis: the rest norm.
    pub(crate) tail_norm: u16,
    pub(crate) fine_residual: u16,
}

/// The norm of the error of each band of one record if all of its codes are known, rounded up, in units of 1/65535.
#[derive(Clone, Copy, Default)]
pub(crate) struct RowResiduals {
    pub(crate) fine: u16,
    pub(crate) coarse: u16,
    pub(crate) tail: u16,
}

impl RowResiduals {
    fn to_bytes(self) -> [u8; ROW_RESIDUAL_BYTES] {
        let [fine, coarse, tail] = [self.fine, self.coarse, self.tail].map(u16::to_le_bytes);
        [fine[0], fine[1], coarse[0], coarse[1], tail[0], tail[1]]
    }

    fn from_bytes([a, b, c, d, e, f]: [u8; ROW_RESIDUAL_BYTES]) -> Self {
        let [fine, coarse, tail] = [[a, b], [c, d], [e, f]].map(u16::from_le_bytes);
        Self { fine, coarse, tail }
    }
}

/// The codes of one record.
pub(crate) struct RecordCodes {
    /// One for each dimension: -127..=127 in the fine band, -119..=119 in the others.
    pub(crate) codes: Vec<i8>,
    /// The low nibbles of the fine band, -8..=7; none if the head holds all codes.
    pub(crate) fine_low: Vec<i8>,
}

/// A value in units of 1/65535, rounded up, at most 1.
pub(crate) fn rounded_up(value: f64) -> u16 {
    // The cast saturates. A norm exceeds 1 only by the rounding of a unit vector, which the slack of a query covers.
    (value / UNIT).ceil() as u16
}

impl Codes {
    pub(crate) fn new(layout: Layout, capacity: usize) -> Self {
        Self {
            layout,
            records: 0,
            head: AlignedBytes::with_capacity(layout.head_bytes(capacity)),
            tail_high: PlaneRows::new(layout.plane_bytes(Plane::TailHigh), capacity),
            residuals: Vec::with_capacity(if layout.has_rest() { capacity } else { 0 }),
            largest_tail_low: 0,
        }
    }

    /// Restores codes from the bytes of [`head_bytes`](Self::head_bytes) and [`rest_bytes`](crate::LowNibbles::rest_bytes).
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
        let bytes_of = |plane| records * layout.plane_bytes(plane);
        let (tail_high, others) =
            PlaneRows::split_from(rest, layout.plane_bytes(Plane::TailHigh), records);
        codes.tail_high = tail_high;
        codes.resize(records);
        codes.head.as_mut_bytes().copy_from_slice(head);
        let others = &others[bytes_of(Plane::CoarseLow)..];
        let (tail_low, others) = others.split_at(bytes_of(Plane::TailLow));
        for row in tail_low.chunks_exact(layout.plane_bytes(Plane::TailLow).max(1)) {
            codes.note_tail_low(row);
        }
        let residuals = others[bytes_of(Plane::FineLow)..].as_chunks().0.iter();
        codes.residuals = residuals.copied().map(RowResiduals::from_bytes).collect();
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

    /// The residuals of all records.
    pub(crate) fn residual_bytes(&self) -> impl Iterator<Item = u8> {
        self.residuals.iter().flat_map(|row| row.to_bytes())
    }

    /// Bytes allocated, used or not.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let residuals = self.residuals.capacity() * size_of::<RowResiduals>();
        self.head.memory_bytes() + self.tail_high.memory_bytes() + residuals
    }

    /// Copies one record of another block to `slot`.
    pub(crate) fn copy(&mut self, slot: usize, other: &Self, from: usize) {
        let (from_tile, from_lane) = (other.tile(from / TILE_RECORDS), from % TILE_RECORDS);
        let meta = self.layout.meta_offset();
        let lane = slot % TILE_RECORDS;
        let tile = self.tile_mut(slot / TILE_RECORDS);
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
        let row = self.tail_high.row_mut(slot);
        row.copy_from_slice(other.tail_high.row(from));
        if let Some(residuals) = self.residuals.get_mut(slot) {
            *residuals = other.residuals[from];
        }
    }

    /// Stores a record, apart from its low nibbles.
    pub(crate) fn write(
        &mut self,
        slot: usize,
        record: &RecordCodes,
        meta: RecordMeta,
        residuals: RowResiduals,
    ) {
        let layout = self.layout;
        let lane = slot % TILE_RECORDS;
        let (fine, others) = record.codes.split_at(layout.fine());
        let (coarse, tail) = others.split_at(layout.coarse());

        let tile = self.tile_mut(slot / TILE_RECORDS);
        for (dim, &code) in fine.iter().enumerate() {
            tile[(dim / 4 * TILE_RECORDS + lane) * 4 + dim % 4] = offset_byte(code);
        }
        let nibbles = &mut tile[layout.coarse_offset()..];
        for (group, codes) in coarse.chunks_exact(8).enumerate() {
            let at = (group * TILE_RECORDS + lane) * 4;
            nibbles[at..at + 4].copy_from_slice(&nibble_pairs(codes, high_nibble));
        }
        let fields = tile[layout.meta_offset()..].chunks_exact_mut(META_FIELD_BYTES);
        let values = [
            meta.scale,
            meta.coarse_residual,
            meta.tail_norm,
            meta.fine_residual,
        ];
        for (field, value) in fields.zip(values) {
            field[2 * lane..][..2].copy_from_slice(&value.to_le_bytes());
        }
        self.tail_high.write(slot, tail, high_nibble);
        if let Some(row) = self.residuals.get_mut(slot) {
            *row = residuals;
        }
    }

    /// The high nibbles of the tail.
    pub(crate) fn tail_high(&self) -> &PlaneRows {
        &self.tail_high
    }

    /// A number that the norm of a record's low nibbles in the tail certainly does not exceed.
    pub(crate) fn tail_low_norm(&self) -> f32 {
        (self.largest_tail_low as f32).sqrt().next_up()
    }

    /// Takes the low nibbles of the tail of a record into account in [`Codes::tail_low_norm`].
    pub(crate) fn note_tail_low(&mut self, row: &[u8]) {
        self.largest_tail_low = self.largest_tail_low.max(sum_of_squares(row));
    }

    /// The scale, residuals and norm of the record at `slot`.
    #[inline(always)]
    pub(crate) fn meta(&self, slot: usize) -> RecordMeta {
        let tile = self.tile(slot / TILE_RECORDS);
        let fields = &tile[self.layout.meta_offset()..][..4 * META_FIELD_BYTES];
        let value = |field: usize| {
            let at = field * META_FIELD_BYTES + slot % TILE_RECORDS * 2;
            u16::from_le_bytes([fields[at], fields[at + 1]])
        };
        RecordMeta {
            scale: value(0),
            coarse_residual: value(1),
            tail_norm: value(2),
            fine_residual: value(3),
        }
    }

    /// The residuals of the record at `slot`, whose fields are `meta`.
    #[inline(always)]
    pub(crate) fn residuals(&self, slot: usize, meta: &RecordMeta) -> RowResiduals {
        self.residuals.get(slot).copied().unwrap_or(RowResiduals {
            fine: meta.fine_residual,
            coarse: 0,
            tail: 0,
        })
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

    pub(crate) fn resize(&mut self, records: usize) {
        assert!(records <= BLOCK_RECORDS, "a block holds 4096 records");
        self.records = records;
        self.head.resize(self.layout.head_bytes(records));
        self.tail_high.resize(records);
        if self.layout.has_rest() {
            self.residuals.resize(records, RowResiduals::default());
        }
    }
}

/// Copies an element of `size` bytes from one array to another.
fn copy(to: &mut [u8], to_index: usize, from: &[u8], from_index: usize, size: usize) {
    to[to_index * size..][..size].copy_from_slice(&from[from_index * size..][..size]);
}

fn offset_byte(code: i8) -> u8 {
    code.cast_unsigned() ^ 0x80
}
