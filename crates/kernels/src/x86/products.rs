//! Pruning pass 1 by matrix products of sixteen queries and sixteen records.

use crate::aligned::AlignedBytes;
use crate::codes::Codes;
use crate::lanes::Lanes;
use crate::layout::{Layout, TILE_RECORDS};
use crate::scan::Scan;
use crate::scan_codes::{Meta, valid_lanes};

/// Queries in one product.
pub(super) const QUERIES: usize = 16;
/// Dimensions in one product.
pub(super) const DIMS: usize = 64;
/// Bytes of either operand.
pub(super) const OPERAND_BYTES: usize = 1024;

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
    /// The operations for what is made of the products. Their `BYTE_OFFSET` is that of the fine codes.
    type Lanes: Lanes;
    /// Bytes of a fine code in an operand.
    const FINE_BYTES: usize = 1;

    unsafe fn begin() {}
    /// Writes 64 fine codes of a query as its row of an operand.
    #[inline(always)]
    fn pack_fine(codes: &[i8; DIMS], row: &mut [u8]) {
        pack_bytes(codes, row);
    }
    /// Operands of the fine codes of a tile, which may be written to `out`.
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
    unsafe fn end() {}
}

/// Whether both bands of the head are made up of whole operands.
pub(super) fn fits(layout: &Layout) -> bool {
    layout.fine().is_multiple_of(DIMS) && layout.coarse().is_multiple_of(DIMS)
}

/// [`scan_codes`](crate::scan_codes::scan_codes) by products of sixteen queries at a time.
///
/// # Safety
/// The CPU has `M`'s instructions, which the caller is compiled for; the queries have the codes' layout, which [`fits`].
#[inline(always)]
pub(super) unsafe fn scan_by_products<M: Multiplier>(codes: &Codes, scans: &mut [Scan<'_>]) {
    let layout = codes.layout();
    let (fine_steps, high_steps) = (layout.fine() / DIMS, layout.coarse() / DIMS);
    let packed = packed_queries::<M>(&layout, scans);
    let mut nibbles = AlignedBytes::default();
    nibbles.resize(layout.coarse() * TILE_RECORDS);
    let zero = Products([[0; TILE_RECORDS]; QUERIES]);
    let (mut fine, mut high) = (zero, zero);
    let fine_bytes = fine_steps * OPERAND_BYTES * M::FINE_BYTES;
    let mut wide = AlignedBytes::default();
    wide.resize(fine_bytes);
    let group_bytes = fine_bytes + high_steps * OPERAND_BYTES;

    // SAFETY: the caller's contract. A tile has 1024 bytes for each 64 fine dimensions, then the packed nibbles of the
    // coarse dimensions, which `unpack` expands to 1024 bytes for each 64 dimensions, then scales and norms. `packed`
    // has a group's operands in the same order.
    unsafe {
        M::begin();
        for tile in 0..codes.records().div_ceil(TILE_RECORDS) {
            let valid = valid_lanes(codes, tile);
            let is_needed = |scan: &Scan<'_>| scan.tile_mask(tile) & valid != 0;
            if !scans.iter().any(is_needed) {
                continue;
            }
            let bytes = codes.tile(tile);
            unpack(
                &bytes[layout.coarse_offset()..layout.meta_offset()],
                nibbles.as_mut_bytes(),
            );
            let fine_codes =
                M::fine_operands(bytes.as_ptr(), fine_steps, wide.as_mut_bytes().as_mut_ptr());
            let meta = Meta::<M::Lanes>::load(bytes.as_ptr().add(layout.meta_offset()));
            let groups = packed.as_bytes().chunks_exact(group_bytes);
            for (queries, scans) in groups.zip(scans.chunks_mut(QUERIES)) {
                if !scans.iter().any(is_needed) {
                    continue;
                }
                let queries = queries.as_ptr();
                if fine_steps > 0 {
                    M::multiply_fine(queries, fine_codes, fine_steps, scans.len(), &mut fine);
                }
                if high_steps > 0 {
                    let queries = queries.add(fine_bytes);
                    let nibbles = nibbles.as_bytes().as_ptr();
                    M::multiply_nibbles(queries, nibbles, high_steps, scans.len(), &mut high);
                }
                for (row, scan) in scans.iter_mut().enumerate() {
                    let mask = scan.tile_mask(tile) & valid;
                    if mask != 0 {
                        meta.add_candidates(
                            &fine.0[row],
                            &high.0[row],
                            M::Lanes::BYTE_OFFSET,
                            scan,
                            tile,
                            mask,
                        );
                    }
                }
            }
        }
        M::end();
    }
}

/// The codes of each sixteen queries. 64 dimensions of one query are next to the same 64 dimensions of the next query.
fn packed_queries<M: Multiplier>(layout: &Layout, scans: &[Scan<'_>]) -> AlignedBytes {
    let fine_bytes = layout.fine() * QUERIES * M::FINE_BYTES;
    let group_bytes = fine_bytes + layout.coarse() * QUERIES;
    let mut packed = AlignedBytes::default();
    packed.resize(scans.len().div_ceil(QUERIES) * group_bytes);
    let groups = packed.as_mut_bytes().chunks_exact_mut(group_bytes);
    for (group, scans) in groups.zip(scans.chunks(QUERIES)) {
        let (fine, high) = group.split_at_mut(fine_bytes);
        for (row, scan) in scans.iter().enumerate() {
            let (fine_codes, high_codes) = scan.query.codes.head.split_at(layout.fine());
            let row_bytes = DIMS * M::FINE_BYTES;
            let operands = fine.chunks_exact_mut(row_bytes * QUERIES);
            for (operand, codes) in operands.zip(fine_codes.as_chunks().0) {
                M::pack_fine(codes, &mut operand[row * row_bytes..][..row_bytes]);
            }
            let operands = high.chunks_exact_mut(OPERAND_BYTES);
            for (operand, codes) in operands.zip(high_codes.as_chunks().0) {
                pack_bytes(codes, &mut operand[row * DIMS..]);
            }
        }
    }
    packed
}

fn pack_bytes(codes: &[i8; DIMS], row: &mut [u8]) {
    for (byte, code) in row.iter_mut().zip(codes) {
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
