//! AMX: sixteen queries by sixteen records by 64 dimensions in one instruction.
//!
//! A tile of codes, `[dims / 4][16][4]`, is what `TDPBSUD` takes as its right operand, and rows of
//! query codes as its left: <https://cdrdv2.intel.com/v1/dl/getContent/671200>, volume 2.

use std::arch::asm;
use std::arch::x86_64::{__cpuid_count, _xgetbv, CpuidResult};

use super::avx512::{AVX512_VNNI, Zmm};
use crate::aligned::AlignedBytes;
use crate::codes::Codes;
use crate::kernel::Kernel;
use crate::lanes::Lanes;
use crate::layout::{Layout, TILE_RECORDS};
use crate::scan::Scan;
use crate::sweep::{Meta, valid_lanes};

pub(crate) static AMX_INT8: Kernel = Kernel {
    name: "amx-int8",
    available,
    sweep,
    ..AVX512_VNNI
};

/// Fewer queries leave too much of each product unused.
const LEAST_QUERIES: usize = 8;
/// Queries in one product.
const QUERIES: usize = 16;
/// Dimensions in one product.
const DIMS: usize = 64;
/// Bytes of either operand.
const OPERAND_BYTES: usize = 1024;

/// A row for each query, a column for each record.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Products([[i32; TILE_RECORDS]; QUERIES]);

/// The unit that multiplies.
///
/// # Safety
/// `multiply` comes between `begin` and `end` on the same thread, and all three only where the CPU
/// and system have the unit.
trait Multiplier {
    unsafe fn begin();
    /// The products of sixteen queries and sixteen records over `steps >= 1` times 64 dimensions,
    /// from as many operands one after the other.
    unsafe fn multiply(queries: *const i8, codes: *const u8, steps: usize, out: &mut Products);
    unsafe fn end();
}

struct Amx;

/// Which part of each tile register is used; laid out as `LDTILECFG` reads it.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// The three registers of `multiply`, whole.
static CONFIGURATION: Configuration = Configuration {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    row_bytes: [64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
};

impl Multiplier for Amx {
    #[inline(always)]
    unsafe fn begin() {
        // SAFETY: the caller vouches for the unit; the operand is 64 readable bytes. The compiler
        // uses no tile registers.
        unsafe {
            asm!("ldtilecfg [{}]", in(reg) &CONFIGURATION, options(nostack, preserves_flags, readonly));
        }
    }

    #[inline(always)]
    unsafe fn multiply(queries: *const i8, codes: *const u8, steps: usize, out: &mut Products) {
        // SAFETY: the caller vouches for the unit and `steps` operands of 1024 bytes on either
        // side; `out` takes sixteen rows of 64 bytes.
        unsafe {
            asm!(
                "tilezero tmm0",
                "2:",
                "tileloadd tmm1, [{queries} + {stride}]",
                "tileloadd tmm2, [{codes} + {stride}]",
                "tdpbsud tmm0, tmm1, tmm2",
                "add {queries}, {operand}",
                "add {codes}, {operand}",
                "dec {steps}",
                "jnz 2b",
                "tilestored [{out} + {stride}], tmm0",
                queries = inout(reg) queries => _,
                codes = inout(reg) codes => _,
                steps = inout(reg) steps => _,
                stride = in(reg) 64_usize,
                operand = const OPERAND_BYTES,
                out = in(reg) out,
                options(nostack),
            );
        }
    }

    #[inline(always)]
    unsafe fn end() {
        // SAFETY: the caller vouches for the unit. Released registers cost context switches nothing.
        unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) };
    }
}

/// Whether CPU and system have AMX and let this process use it.
fn available() -> bool {
    (AVX512_VNNI.available)()
        && is_x86_feature_detected!("xsave")
        // SAFETY: checked just before; XGETBV needs XSAVE to be in use, which detection includes.
        && unsafe { saves_tiles() }
        && has_int8_tiles()
        && permitted()
}

fn has_int8_tiles() -> bool {
    const TILES: u32 = 1 << 24;
    const INT8: u32 = 1 << 25;
    // As a pointer, because newer compilers call the function safe and older ones do not.
    let cpuid: unsafe fn(u32, u32) -> CpuidResult = __cpuid_count;
    // SAFETY: every 64-bit CPU has the instruction, and one with AVX-512 has leaf 7.
    unsafe { cpuid(7, 0).edx & (TILES | INT8) == TILES | INT8 }
}

/// Whether the system keeps tile registers when it switches threads.
#[target_feature(enable = "xsave")]
fn saves_tiles() -> bool {
    const TILE_STATE: u64 = 0b11 << 17;
    // SAFETY: register 0 exists wherever XSAVE is in use.
    unsafe { _xgetbv(0) & TILE_STATE == TILE_STATE }
}

/// Asks Linux to let all threads of this process use tile registers:
/// <https://docs.kernel.org/arch/x86/xstate.html>.
#[cfg(target_os = "linux")]
fn permitted() -> bool {
    const ARCH_PRCTL: usize = 158;
    const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
    const TILE_DATA: usize = 18;
    let status: isize;
    // SAFETY: the call changes nothing but this process's permission; the kernel clobbers rcx and
    // r11.
    unsafe {
        asm!(
            "syscall",
            inout("rax") ARCH_PRCTL => status,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") TILE_DATA,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    status == 0
}

/// Other systems have other ways, which nobody has tried here.
#[cfg(not(target_os = "linux"))]
fn permitted() -> bool {
    false
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn sweep(codes: &Codes, scans: &mut [Scan<'_>]) {
    // SAFETY: compiled for AVX-512; the caller vouches for the CPU and the layouts.
    unsafe {
        if scans.len() < LEAST_QUERIES || !fits(&codes.layout()) {
            crate::sweep::sweep::<Zmm>(codes, scans);
        } else {
            sweep_products::<Amx>(codes, scans);
        }
    }
}

/// Whether both bands of the head are made up of whole operands.
fn fits(layout: &Layout) -> bool {
    layout.fine().is_multiple_of(DIMS) && layout.coarse().is_multiple_of(DIMS)
}

/// [`sweep`](crate::sweep::sweep) by products of sixteen queries at a time.
///
/// # Safety
/// The CPU has `M`'s unit and AVX-512, which the caller is compiled for; the queries have the
/// codes' layout, which [`fits`].
#[inline(always)]
unsafe fn sweep_products<M: Multiplier>(codes: &Codes, scans: &mut [Scan<'_>]) {
    let layout = codes.layout();
    let (fine_steps, high_steps) = (layout.fine() / DIMS, layout.coarse() / DIMS);
    let packed = packed_queries(&layout, scans);
    let mut nibbles = AlignedBytes::default();
    nibbles.resize(layout.coarse() * TILE_RECORDS);
    let zero = Products([[0; TILE_RECORDS]; QUERIES]);
    let mut products = vec![[zero; 2]; scans.len().div_ceil(QUERIES)];
    let group_bytes = (fine_steps + high_steps) * OPERAND_BYTES;

    // SAFETY: passed on. A tile has 1024 bytes for each 64 fine dimensions, then the packed
    // nibbles of the coarse ones, of which `unpack` makes as many; `packed` has a group's operands
    // in the same order. Meta lies behind.
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
                        meta.judge(
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

/// The codes of every sixteen queries, 64 dimensions of each next to the same 64 of the next.
fn packed_queries(layout: &Layout, scans: &[Scan<'_>]) -> AlignedBytes {
    let group_bytes = layout.head_dims() * QUERIES;
    let mut packed = AlignedBytes::default();
    packed.resize(scans.len().div_ceil(QUERIES) * group_bytes);
    let groups = packed.as_mut_bytes().chunks_exact_mut(group_bytes);
    for (group, scans) in groups.zip(scans.chunks(QUERIES)) {
        for (row, scan) in scans.iter().enumerate() {
            let operands = group.chunks_exact_mut(OPERAND_BYTES);
            for (operand, codes) in operands.zip(scan.query.head.chunks_exact(DIMS)) {
                for (byte, code) in operand[row * DIMS..].iter_mut().zip(codes) {
                    *byte = code.cast_unsigned();
                }
            }
        }
    }
    packed
}

/// A byte a code, `[coarse / 4][16][4]`, of nibbles `[coarse / 8][16][4]`.
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
mod tests {
    use super::{AVX512_VNNI, Amx, DIMS, Kernel, Multiplier, OPERAND_BYTES, Products, available};
    use crate::check::{Random, agrees_on};
    use crate::codes::Codes;
    use crate::layout::Layout;
    use crate::scan::Scan;

    /// `TDPBSUD`, as its manual says.
    struct Plain;

    impl Multiplier for Plain {
        unsafe fn begin() {}
        unsafe fn multiply(queries: *const i8, codes: *const u8, steps: usize, out: &mut Products) {
            // SAFETY: the caller gives so many operands.
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
    unsafe fn sweep_plainly(codes: &Codes, scans: &mut [Scan<'_>]) {
        // SAFETY: compiled for AVX-512; the layouts below fit.
        unsafe { super::sweep_products::<Plain>(codes, scans) }
    }

    #[test]
    fn products_agree_with_the_reference_also_where_there_is_no_unit_for_them() {
        if !(AVX512_VNNI.available)() {
            return;
        }
        let kernel = Kernel {
            name: "plain",
            sweep: sweep_plainly,
            ..AVX512_VNNI
        };
        let layouts = [(384, 64, 128), (64, 64, 0), (136, 0, 128), (256, 192, 64)];
        for (seed, (dims, fine, coarse)) in layouts.into_iter().enumerate() {
            let layout = Layout::new(dims, fine, coarse).expect("valid bands");
            for queries in [1, 16, 37] {
                assert!(
                    agrees_on(&kernel, layout, 77, queries, 1 + seed as u64),
                    "{layout:?}"
                );
            }
        }
    }

    #[test]
    fn unit_multiplies_as_its_manual_says_where_there_is_one() {
        if !available() {
            return;
        }
        let mut random = Random::new(5);
        let steps = 3;
        let bytes: Vec<u8> = (0..2 * steps * OPERAND_BYTES)
            .map(|_| random.next() as u8)
            .collect();
        let (queries, codes) = bytes.split_at(steps * OPERAND_BYTES);
        let [mut found, mut expected] = [Products([[1; 16]; 16]); 2];
        // SAFETY: the unit is there; the operands are `steps` long.
        unsafe {
            Amx::begin();
            Amx::multiply(queries.as_ptr().cast(), codes.as_ptr(), steps, &mut found);
            Amx::end();
            Plain::multiply(
                queries.as_ptr().cast(),
                codes.as_ptr(),
                steps,
                &mut expected,
            );
        }
        assert_eq!(found.0, expected.0);
    }
}
