//! Pruning pass 1 by matrix products of sixteen queries and sixteen records.

use crate::aligned::AlignedBytes;
use crate::codes::Codes;
use crate::lanes::Lanes;
use crate::layout::{Layout, TILE_RECORDS};
use crate::query::Query;
use crate::residence::Residence;
use crate::scan::Scan;
use crate::scan_codes::{CACHE_LINE, Meta, valid_lanes};

/// Queries in one product.
pub(super) const QUERIES: usize = 16;
/// Dimensions in one product.
pub(super) const DIMS: usize = 64;
/// Bytes of either operand.
pub(super) const OPERAND_BYTES: usize = 1024;
/// Groups of four dimensions in one operand.
pub(super) const WORDS: usize = DIMS / 4;

/// A row for each query, a column for each record.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Products(pub(super) [[i32; TILE_RECORDS]; QUERIES]);

/// A way to multiply matrices.
///
/// # Safety
/// `multiply` and `multiply_nibbles` may be called only between `begin` and `end` on the same thread, and all of them only if
/// the CPU and the operating system support the instructions and the caller is compiled for them.
pub(super) trait Multiplier {
    /// The operations for what is made of the products.
    type Lanes: Lanes;
    /// The minimum number of queries: with fewer, products save less than they cost.
    const MIN_QUERIES: usize;
    /// Bytes of an operand of sixteen queries.
    const QUERIES_BYTES: usize = OPERAND_BYTES;

    unsafe fn begin() {}
    /// Writes 64 codes of a query as a row of an operand.
    #[inline(always)]
    fn pack(codes: &[i8; DIMS], row: usize, operand: &mut [u8]) {
        pack_row(codes, row, operand);
    }
    /// Operands of the fine codes of a tile, which may be written to `out`: it has room for two for each step.
    #[inline(always)]
    unsafe fn fine_operands(tile: *const u8, _steps: usize, _out: *mut u8) -> *const u8 {
        tile
    }
    /// The products of sixteen queries and sixteen records over `steps >= 1` times 64 fine dimensions, from `steps` contiguous
    /// operands. Only the first `rows >= 1` queries are needed.
    unsafe fn multiply_fine(
        queries: *const u8,
        codes: *const u8,
        steps: usize,
        rows: usize,
        out: &mut Products,
    );
    /// As `multiply_fine`, over dimensions whose codes are bytes for queries and nibbles for records.
    #[inline(always)]
    unsafe fn multiply_nibbles(
        queries: *const u8,
        codes: *const u8,
        steps: usize,
        rows: usize,
        out: &mut Products,
    ) {
        // SAFETY: the caller's contract.
        unsafe { Self::multiply_fine(queries, codes, steps, rows, out) }
    }
    /// What the products with fine codes and with nibbles contain in addition to the dot products.
    #[inline(always)]
    fn biases(query: &Query) -> [i32; 2] {
        query.biases(Self::Lanes::BYTE_OFFSET)
    }
    unsafe fn end() {}
}

/// [`scan_codes`](crate::scan_codes::scan_codes), by products where there are enough queries and the layout fits.
///
/// # Safety
/// The CPU has `M`'s instructions, which the caller is compiled for; the queries have the codes' layout.
#[inline(always)]
pub(super) unsafe fn scan_codes<M: Multiplier>(
    codes: &Codes,
    residence: Residence,
    scans: &mut [Scan<'_>],
) {
    // SAFETY: the caller's contract.
    unsafe {
        if scans.len() < M::MIN_QUERIES || !fits(&codes.layout()) {
            crate::scan_codes::scan_codes::<M::Lanes>(codes, residence, scans);
        } else {
            scan_by_products::<M>(codes, scans);
        }
    }
}

/// Whether both bands of the head are made up of whole operands.
fn fits(layout: &Layout) -> bool {
    layout.fine().is_multiple_of(DIMS) && layout.coarse().is_multiple_of(DIMS)
}

/// Tiles whose operands stay in the L1 cache with those of sixteen queries.
const TILES: usize = 4;

/// [`scan_codes`](crate::scan_codes::scan_codes) by products of sixteen queries at a time.
///
/// # Safety
/// The CPU has `M`'s instructions, which the caller is compiled for; the queries have the codes' layout, which [`fits`].
#[inline(always)]
unsafe fn scan_by_products<M: Multiplier>(codes: &Codes, scans: &mut [Scan<'_>]) {
    let layout = codes.layout();
    let packed = packed_queries::<M>(&layout, scans);
    let group_bytes = layout.head_dims() / DIMS * M::QUERIES_BYTES;
    let needed: Vec<usize> = (0..codes.records().div_ceil(TILE_RECORDS))
        .filter(|&tile| is_needed(scans, tile, valid_lanes(codes, tile)))
        .collect();
    let mut operands: [AlignedBytes; TILES] = Default::default();
    for operands in &mut operands {
        operands.resize((2 * layout.fine() + layout.coarse()) * TILE_RECORDS);
    }
    let mut tiles: Vec<TileOperands<M>> = Vec::with_capacity(TILES);
    let mut products = [Products([[0; TILE_RECORDS]; QUERIES]); 2];

    // SAFETY: the caller's contract. `packed` has the operands of each group. Any address may be prefetched.
    unsafe {
        M::begin();
        for first in (0..needed.len()).step_by(TILES) {
            let (now, later) = needed[first..].split_at(TILES.min(needed.len() - first));
            for &tile in later.iter().take(TILES) {
                for line in codes.tile(tile).chunks(CACHE_LINE) {
                    M::Lanes::prefetch(line.as_ptr());
                }
            }
            tiles.clear();
            for (&tile, operands) in now.iter().zip(&mut operands) {
                let operands = operands.as_mut_bytes();
                tiles.push(TileOperands::new(codes, tile, operands));
            }
            let groups = packed.as_bytes().chunks_exact(group_bytes);
            for (queries, scans) in groups.zip(scans.chunks_mut(QUERIES)) {
                for tile in &tiles {
                    tile.scan(&layout, queries.as_ptr(), scans, &mut products);
                }
            }
        }
        M::end();
    }
}

/// Whether a scan has one of the `valid` lanes of a tile in its mask.
#[inline(always)]
fn is_needed(scans: &[Scan<'_>], tile: usize, valid: u16) -> bool {
    scans.iter().any(|scan| scan.tile_mask(tile) & valid != 0)
}

/// A tile whose codes are operands.
struct TileOperands<M: Multiplier> {
    tile: usize,
    /// The lanes that hold records.
    valid: u16,
    fine: *const u8,
    high: *const u8,
    meta: Meta<M::Lanes>,
}

impl<M: Multiplier> TileOperands<M> {
    /// `operands` has room for those of the tile. They are not moved while the result is used.
    ///
    /// # Safety
    /// As for [`scan_by_products`].
    #[inline(always)]
    unsafe fn new(codes: &Codes, tile: usize, operands: &mut [u8]) -> Self {
        let layout = codes.layout();
        let bytes = codes.tile(tile);
        let (fine, high) = operands.split_at_mut(2 * layout.fine() * TILE_RECORDS);
        unpack(&bytes[layout.coarse_offset()..layout.meta_offset()], high);
        // SAFETY: the caller's contract. A tile has 1024 bytes for each 64 fine dimensions, then the packed nibbles of the
        // coarse dimensions, which `unpack` expands to 1024 bytes for each 64 dimensions, then scales and norms.
        unsafe {
            Self {
                tile,
                valid: valid_lanes(codes, tile),
                fine: M::fine_operands(bytes.as_ptr(), layout.fine() / DIMS, fine.as_mut_ptr()),
                high: high.as_ptr(),
                meta: Meta::load(bytes.as_ptr().add(layout.meta_offset())),
            }
        }
    }

    /// Scans the tile for a group of queries.
    ///
    /// # Safety
    /// As for [`scan_by_products`]; the operands exist, and `queries` are those of the scans.
    #[inline(always)]
    unsafe fn scan(
        &self,
        layout: &Layout,
        queries: *const u8,
        scans: &mut [Scan<'_>],
        [fine, high]: &mut [Products; 2],
    ) {
        if !is_needed(scans, self.tile, self.valid) {
            return;
        }
        let (fine_steps, high_steps) = (layout.fine() / DIMS, layout.coarse() / DIMS);
        // SAFETY: the caller's contract.
        unsafe {
            if fine_steps > 0 {
                M::multiply_fine(queries, self.fine, fine_steps, scans.len(), fine);
            }
            if high_steps > 0 {
                let queries = queries.add(fine_steps * M::QUERIES_BYTES);
                M::multiply_nibbles(queries, self.high, high_steps, scans.len(), high);
            }
            // Few queries have a candidate in a tile. They are found first, without a branch for each query.
            let (mut reaching, mut rows) = ([0; QUERIES], 0_u32);
            for (row, scan) in scans.iter().enumerate() {
                let products = [&fine.0[row], &high.0[row]];
                let biases = M::biases(scan.query);
                reaching[row] = scan.tile_mask(self.tile)
                    & self.valid
                    & self.meta.reaching(products, biases, scan);
                rows |= u32::from(reaching[row] != 0) << row;
            }
            while rows != 0 {
                let row = rows.trailing_zeros() as usize;
                rows &= rows - 1;
                let products = [&fine.0[row], &high.0[row]];
                let scan = &mut scans[row];
                let biases = M::biases(scan.query);
                let meta = &self.meta;
                meta.add_candidates(products, biases, scan, self.tile, reaching[row]);
            }
        }
    }
}

/// The codes of each sixteen queries. 64 dimensions of one query are next to the same 64 dimensions of the next query.
fn packed_queries<M: Multiplier>(layout: &Layout, scans: &[Scan<'_>]) -> AlignedBytes {
    let group_bytes = layout.head_dims() / DIMS * M::QUERIES_BYTES;
    let mut packed = AlignedBytes::default();
    packed.resize(scans.len().div_ceil(QUERIES) * group_bytes);
    let groups = packed.as_mut_bytes().chunks_exact_mut(group_bytes);
    for (group, scans) in groups.zip(scans.chunks(QUERIES)) {
        for (row, scan) in scans.iter().enumerate() {
            let operands = group.chunks_exact_mut(M::QUERIES_BYTES);
            for (operand, codes) in operands.zip(scan.query.codes.head.as_chunks().0) {
                M::pack(codes, row, operand);
            }
        }
    }
    packed
}

pub(super) fn pack_row(codes: &[i8; DIMS], row: usize, operand: &mut [u8]) {
    for (byte, code) in operand[row * DIMS..].iter_mut().zip(codes) {
        *byte = code.cast_unsigned();
    }
}

/// Expands nibbles `[coarse / 8][16][4]` to one byte per code, `[coarse / 4][16][4]`.
#[inline(always)]
fn unpack(nibbles: &[u8], out: &mut [u8]) {
    for (out, packed) in out
        .as_chunks_mut::<128>()
        .0
        .iter_mut()
        .zip(nibbles.as_chunks::<64>().0)
    {
        for at in 0..64 {
            out[at] = packed[at] & 15;
            out[at + 64] = packed[at] >> 4;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{DIMS, Multiplier, OPERAND_BYTES, Products};
    use crate::check::{agrees_on, skipped};
    use crate::codes::Codes;
    use crate::kernel::Kernel;
    use crate::layout::Layout;
    use crate::residence::Residence;
    use crate::scan::Scan;
    use crate::x86::AVX512_VNNI;
    use crate::x86::avx512::Zmm;

    /// A software implementation of `TDPBSUD`.
    pub(in crate::x86) struct Plain;

    impl Multiplier for Plain {
        type Lanes = Zmm;
        const MIN_QUERIES: usize = 1;

        unsafe fn multiply_fine(
            queries: *const u8,
            codes: *const u8,
            steps: usize,
            rows: usize,
            out: &mut Products,
        ) {
            // SAFETY: the caller passes `steps` operands.
            let (queries, codes) = unsafe {
                (
                    std::slice::from_raw_parts(queries, steps * OPERAND_BYTES),
                    std::slice::from_raw_parts(codes, steps * OPERAND_BYTES),
                )
            };
            for (row, sums) in out.0[..rows].iter_mut().enumerate() {
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum = (0..steps * DIMS)
                        .map(|dim| {
                            let (step, dim) = (dim / DIMS * OPERAND_BYTES, dim % DIMS);
                            let query = queries[step + row * 64 + dim];
                            let code = codes[step + dim / 4 * 64 + column * 4 + dim % 4];
                            i32::from(query.cast_signed()) * i32::from(code)
                        })
                        .sum();
                }
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    unsafe fn scan_in_software(codes: &Codes, _: Residence, scans: &mut [Scan<'_>]) {
        // SAFETY: compiled for AVX-512; the layouts below fit.
        unsafe { super::scan_by_products::<Plain>(codes, scans) }
    }

    #[test]
    fn products_agree_with_the_reference_also_without_a_matrix_unit() {
        if !(AVX512_VNNI.available)() {
            skipped("this CPU lacks AVX-512 VNNI");
            return;
        }
        let kernel = Kernel {
            name: "plain",
            scan_codes: scan_in_software,
            ..AVX512_VNNI
        };
        let layouts = [(384, 64, 128), (64, 64, 0), (136, 0, 128), (256, 192, 64)];
        for (seed, (dims, fine, coarse)) in layouts.into_iter().enumerate() {
            let layout = Layout::new(dims, fine, coarse).expect("valid bands");
            for queries in [1, 16, 37] {
                assert!(
                    agrees_on(&kernel, layout, 150, queries, 1 + seed as u64),
                    "{layout:?}"
                );
            }
        }
    }
}
