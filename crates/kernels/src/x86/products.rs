//! Pruning pass 1 by matrix products of sixteen queries and sixteen records.

use super::avx512::Zmm;
use crate::aligned::AlignedBytes;
use crate::codes::Codes;
use crate::lanes::Lanes;
use crate::layout::{Layout, TILE_RECORDS};
use crate::scan::Scan;
use crate::scan_codes::{Meta, valid_lanes};

/// Queries in one product.
const QUERIES: usize = 16;
/// Dimensions in one product.
const DIMS: usize = 64;
/// Bytes of either operand.
pub(super) const OPERAND_BYTES: usize = 1024;

/// A row for each query, a column for each record.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Products(pub(super) [[i32; TILE_RECORDS]; QUERIES]);

/// A unit that multiplies matrices.
///
/// # Safety
/// `multiply` may be called only between `begin` and `end` on the same thread, and all three only if the CPU and the
/// operating system support the unit.
pub(super) trait Multiplier {
    unsafe fn begin();
    /// The products of sixteen queries and sixteen records over `steps >= 1` times 64 dimensions,
    /// from `steps` contiguous operands.
    unsafe fn multiply(queries: *const i8, codes: *const u8, steps: usize, out: &mut Products);
    unsafe fn end();
}

/// Whether both bands of the head are made up of whole operands.
pub(super) fn fits(layout: &Layout) -> bool {
    layout.fine().is_multiple_of(DIMS) && layout.coarse().is_multiple_of(DIMS)
}

/// [`scan_codes`](crate::scan_codes::scan_codes) by products of sixteen queries at a time.
///
/// # Safety
/// The CPU has `M`'s unit and AVX-512, which the caller is compiled for; the queries have the
/// codes' layout, which [`fits`].
#[inline(always)]
pub(super) unsafe fn scan_by_products<M: Multiplier>(codes: &Codes, scans: &mut [Scan<'_>]) {
    let layout = codes.layout();
    let (fine_steps, high_steps) = (layout.fine() / DIMS, layout.coarse() / DIMS);
    let packed = packed_queries(&layout, scans);
    let mut nibbles = AlignedBytes::default();
    nibbles.resize(layout.coarse() * TILE_RECORDS);
    let zero = Products([[0; TILE_RECORDS]; QUERIES]);
    let mut products = vec![[zero; 2]; scans.len().div_ceil(QUERIES)];
    let group_bytes = (fine_steps + high_steps) * OPERAND_BYTES;

    // SAFETY: the caller's contract. A tile has 1024 bytes for each 64 fine dimensions, then the packed nibbles of the
    // coarse dimensions, which `unpack` expands to 1024 bytes for each 64 dimensions, then scales and norms. `packed`
    // has a group's operands in the same order.
    unsafe {
        M::begin();
        for tile in 0..codes.records().div_ceil(TILE_RECORDS) {
            let valid = valid_lanes(codes, tile);
            if scans.iter().all(|scan| scan.tile_mask(tile) & valid == 0) {
                continue;
            }
            let bytes = codes.tile(tile);
            unpack(
                &bytes[layout.coarse_offset()..layout.meta_offset()],
                nibbles.as_mut_bytes(),
            );
            let groups = packed.as_bytes().chunks_exact(group_bytes);
            for (queries, [fine, high]) in groups.zip(&mut products) {
                let queries = queries.as_ptr().cast::<i8>();
                if fine_steps > 0 {
                    M::multiply(queries, bytes.as_ptr(), fine_steps, fine);
                }
                if high_steps > 0 {
                    let queries = queries.add(fine_steps * OPERAND_BYTES);
                    M::multiply(queries, nibbles.as_bytes().as_ptr(), high_steps, high);
                }
            }
            let meta = Meta::<Zmm>::load(bytes.as_ptr().add(layout.meta_offset()));
            for (scans, [fine, high]) in scans.chunks_mut(QUERIES).zip(&products) {
                for (row, scan) in scans.iter_mut().enumerate() {
                    let mask = scan.tile_mask(tile) & valid;
                    if mask != 0 {
                        meta.add_candidates(
                            &fine.0[row],
                            &high.0[row],
                            Zmm::BYTE_OFFSET,
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
fn packed_queries(layout: &Layout, scans: &[Scan<'_>]) -> AlignedBytes {
    let group_bytes = layout.head_dims() * QUERIES;
    let mut packed = AlignedBytes::default();
    packed.resize(scans.len().div_ceil(QUERIES) * group_bytes);
    let groups = packed.as_mut_bytes().chunks_exact_mut(group_bytes);
    for (group, scans) in groups.zip(scans.chunks(QUERIES)) {
        for (row, scan) in scans.iter().enumerate() {
            let operands = group.chunks_exact_mut(OPERAND_BYTES);
            for (operand, codes) in operands.zip(scan.query.codes.head.chunks_exact(DIMS)) {
                for (byte, code) in operand[row * DIMS..].iter_mut().zip(codes) {
                    *byte = code.cast_unsigned();
                }
            }
        }
    }
    packed
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

    /// A software implementation of `TDPBSUD`.
    pub(in crate::x86) struct Plain;

    impl Multiplier for Plain {
        unsafe fn begin() {}
        unsafe fn multiply(queries: *const i8, codes: *const u8, steps: usize, out: &mut Products) {
            // SAFETY: the caller passes `steps` operands.
            let (queries, codes) = unsafe {
                (
                    std::slice::from_raw_parts(queries, steps * OPERAND_BYTES),
                    std::slice::from_raw_parts(codes, steps * OPERAND_BYTES),
                )
            };
            for (row, sums) in out.0.iter_mut().enumerate() {
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum = (0..steps * DIMS)
                        .map(|dim| {
                            let (step, dim) = (dim / DIMS * OPERAND_BYTES, dim % DIMS);
                            let query = queries[step + row * 64 + dim];
                            let code = codes[step + dim / 4 * 64 + column * 4 + dim % 4];
                            i32::from(query) * i32::from(code)
                        })
                        .sum();
                }
            }
        }
        unsafe fn end() {}
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
