//! The layout of the codes of a block in memory.

/// Records in one tile, the unit every kernel works on.
pub const TILE_RECORDS: usize = 16;

/// The maximal number of records in [`Codes`](crate::Codes): a block of 256 tiles.
pub const BLOCK_RECORDS: usize = 4096;

/// The three bands of a record's dimensions, and the position of the codes of each.
///
/// The dimensions, padded with zeros to a multiple of eight, are split in order into
///
/// - *fine*: 12-bit codes `16h + l`, with `h` of 8 bits in the head and `l` in the rest,
/// - *coarse*: 8-bit codes `16h + l`, with `h` in the head and `l` in the rest,
/// - *tail*: 8-bit codes `16h + l`, both nibbles in the rest.
///
/// The **head** is what pruning pass 1 reads: contiguous tiles of 16 records, each
///
/// | bytes | what |
/// |---|---|
/// | `[fine / 4][16][4]` | `h` + 128 |
/// | `[coarse / 8][16][4]` | low nibble `h + 8` of dimension `8g + j`, high nibble of `8g + 4 + j` |
/// | `[16]` u16 | scale, unit 1/65535 |
/// | `[16]` u16 | coarse residual: norm of the error of the coarse band if only high nibbles are known, rounded up |
/// | `[16]` u16 | tail norm: norm of the tail band, rounded up |
/// | `[16]` u16 | fine residual: norm of the error of the fine band if only the head is known, rounded up |
///
/// The **rest** is four [planes](Plane) of nibbles, plus 8 and packed as in the head, with one row for each record, and then
/// the [residuals of each row](crate::codes::RowResiduals). Numbers are little endian.
///
/// If all dimensions are fine, their codes have 8 bits, and there is no rest.
///
/// In a layout **along an axis** all dimensions are fine, and dimension 0 is the axis: a direction in which all vectors are
/// long. The scale of a record is its component along the axis, so that its codes represent only the other components,
/// with a step of their size. The fields of a tile then are
///
/// | bytes | what |
/// |---|---|
/// | `[16]` u16 | scale: the component along the axis, 0 for a negative one, unit 1/65535 |
/// | `[16]` u16 | axis residual: the error of the scale, rounded up |
/// | `[16]` u16 | rest norm: norm of the other components, rounded up |
/// | `[16]` u16 | fine residual: norm of the error of the codes, rounded up |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    dims: usize,
    fine: usize,
    coarse: usize,
    along_axis: bool,
}

/// A part of the rest: nibbles of one band of every record, in the order in which passes 2 and 3 read them.
///
/// The high nibbles of the tail come first: they exclude nearly all candidates of every query. A query that is unlike the
/// records is long in the tail, so without them the head would exclude hardly any record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plane {
    TailHigh,
    CoarseLow,
    TailLow,
    FineLow,
}

impl Plane {
    pub(crate) const ALL: [Self; 4] = [
        Self::TailHigh,
        Self::CoarseLow,
        Self::TailLow,
        Self::FineLow,
    ];
}

/// Bytes of the scales, residuals and norms of a tile.
const META_BYTES: usize = 4 * META_FIELD_BYTES;
/// Bytes of one of these fields: a u16 for each record of the tile.
pub(crate) const META_FIELD_BYTES: usize = 2 * TILE_RECORDS;

/// Bytes of the residuals of a row: a u16 for each band.
pub(crate) const ROW_RESIDUAL_BYTES: usize = 6;

/// One unit of the u16 scales, residuals and norms.
pub(crate) const UNIT: f64 = 1.0 / 65_535.0;

impl Layout {
    /// Maximal number of dimensions: `255 * 127 * 65536` is the largest sum that fits an i32.
    const MAX_DIMS: usize = 65_536;

    /// Bands of `fine` and `coarse` dimensions and a tail of the others, out of `dims` rounded up
    /// to a multiple of eight.
    ///
    /// `None` unless `fine` and `coarse` are multiples of 8, both fit into the dimensions, the head
    /// holds at least one dimension and there are no more than 65,536.
    #[must_use]
    pub fn new(dims: usize, fine: usize, coarse: usize) -> Option<Self> {
        if dims > Self::MAX_DIMS {
            return None;
        }
        let dims = dims.next_multiple_of(8);
        let fits = fine
            .checked_add(coarse)
            .is_some_and(|head| (1..=dims).contains(&head));
        (fits && fine.is_multiple_of(8) && coarse.is_multiple_of(8)).then_some(Self {
            dims,
            fine,
            coarse,
            along_axis: false,
        })
    }

    /// A layout whose dimensions are all fine: the head holds all codes, and there is no rest.
    ///
    /// `None` for no dimensions or more than 65,536.
    #[must_use]
    pub fn identity(dims: usize) -> Option<Self> {
        Self::new(dims, dims.next_multiple_of(8), 0)
    }

    /// A layout along an axis, which is dimension 0.
    ///
    /// `None` for no dimensions or more than 65,536.
    #[must_use]
    pub fn along_axis(dims: usize) -> Option<Self> {
        Some(Self {
            along_axis: true,
            ..Self::identity(dims)?
        })
    }

    /// Whether the layout is along an axis.
    #[must_use]
    pub fn is_along_axis(&self) -> bool {
        self.along_axis
    }

    /// Dimensions, padded to a multiple of eight.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Dimensions of the fine band.
    #[must_use]
    pub fn fine(&self) -> usize {
        self.fine
    }

    /// Dimensions of the coarse band.
    #[must_use]
    pub fn coarse(&self) -> usize {
        self.coarse
    }

    /// Dimensions of the tail band.
    #[must_use]
    pub fn tail(&self) -> usize {
        self.dims - self.fine - self.coarse
    }

    /// Bytes of one tile of the head; a multiple of 64.
    #[must_use]
    pub fn tile_bytes(&self) -> usize {
        self.meta_offset() + META_BYTES
    }

    /// Bytes of the head of `records` records.
    #[must_use]
    pub fn head_bytes(&self, records: usize) -> usize {
        records.div_ceil(TILE_RECORDS) * self.tile_bytes()
    }

    /// Bytes of one record in the rest; zero if the head holds all codes.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        let planes = Plane::ALL.iter().map(|&plane| self.plane_bytes(plane));
        planes.sum::<usize>() + self.residual_bytes()
    }

    /// Bytes of the low nibbles of one record.
    #[must_use]
    pub fn low_bytes(&self) -> usize {
        let planes = [Plane::CoarseLow, Plane::TailLow, Plane::FineLow];
        planes.map(|plane| self.plane_bytes(plane)).iter().sum()
    }

    /// Dimensions of the smallest band that has any.
    #[must_use]
    pub fn smallest_band(&self) -> usize {
        let bands = [self.fine, self.coarse, self.tail()];
        bands
            .into_iter()
            .filter(|&dims| dims > 0)
            .min()
            .unwrap_or(1)
    }

    /// Bytes of the rest of `records` records.
    #[must_use]
    pub fn rest_bytes(&self, records: usize) -> usize {
        records * self.row_bytes()
    }

    /// Bytes of one record in a plane.
    pub(crate) fn plane_bytes(&self, plane: Plane) -> usize {
        match plane {
            Plane::CoarseLow => self.coarse / 2,
            Plane::FineLow if self.has_rest() => self.fine / 2,
            Plane::FineLow => 0,
            Plane::TailHigh | Plane::TailLow => self.tail() / 2,
        }
    }

    /// Bytes of the residuals of one record in the rest.
    pub(crate) fn residual_bytes(&self) -> usize {
        if self.has_rest() {
            ROW_RESIDUAL_BYTES
        } else {
            0
        }
    }

    /// Whether the head does not hold all codes.
    pub(crate) fn has_rest(&self) -> bool {
        self.fine < self.dims
    }

    /// Dimensions of the fine and coarse bands.
    pub(crate) fn head_dims(&self) -> usize {
        self.fine + self.coarse
    }

    /// Where the nibbles of a tile begin.
    pub(crate) fn coarse_offset(&self) -> usize {
        self.fine * TILE_RECORDS
    }

    /// Where the scales of a tile begin.
    pub(crate) fn meta_offset(&self) -> usize {
        self.coarse_offset() + self.coarse / 2 * TILE_RECORDS
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;

    #[test]
    fn banded_head_of_384_dimensions_takes_136_bytes_a_record() {
        let layout = Layout::new(384, 64, 128).expect("valid bands");
        assert_eq!(layout.tile_bytes(), 136 * 16);
        assert_eq!(layout.head_bytes(17), 2 * 136 * 16);
        assert_eq!(layout.row_bytes(), 32 + 64 + 192 + 6);
    }

    #[test]
    fn refuses_bands_that_do_not_pack() {
        assert_eq!(Layout::new(384, 68, 128), None);
        assert_eq!(Layout::new(384, 64, 132), None);
        assert_eq!(Layout::new(384, 256, 136), None);
        assert_eq!(Layout::new(384, 0, 0), None);
        assert_eq!(Layout::new(8, usize::MAX - 3, 8), None);
        assert_eq!(Layout::identity(0), None);
        assert_eq!(Layout::identity(65_537), None);
        assert_eq!(Layout::identity(10).map(|layout| layout.dims()), Some(16));
    }
}
