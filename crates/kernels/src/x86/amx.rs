//! AMX, which multiplies sixteen queries with sixteen records over 64 dimensions in one instruction.
//!
//! `TDPBSUD` reads a tile of codes, `[dims / 4][16][4]`, as its right operand, and rows of
//! query codes as its left: <https://cdrdv2.intel.com/v1/dl/getContent/671200>, volume 2.

use std::arch::asm;
use std::arch::x86_64::{__cpuid_count, _xgetbv, CpuidResult};

use super::avx512::{AVX512_VNNI, Zmm};
use super::products::{self, Multiplier, OPERAND_BYTES, Products};
use crate::codes::Codes;
use crate::kernel::Kernel;
use crate::residence::Residence;
use crate::scan::Scan;

pub(crate) static AMX_INT8: Kernel = Kernel {
    name: "amx-int8",
    available,
    scan_codes,
    ..AVX512_VNNI
};

struct Amx;

/// The size of each tile register, in the layout that `LDTILECFG` reads.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// Three full registers, which `multiply` uses.
static CONFIGURATION: Configuration = Configuration {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    row_bytes: [64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
};

impl Multiplier for Amx {
    type Lanes = Zmm;
    const MIN_QUERIES: usize = 8;

    #[inline(always)]
    unsafe fn begin() {
        // SAFETY: the caller guarantees the unit; the operand is 64 readable bytes. The compiler
        // uses no tile registers.
        unsafe {
            asm!("ldtilecfg [{}]", in(reg) &CONFIGURATION, options(nostack, preserves_flags, readonly));
        }
    }

    #[inline(always)]
    unsafe fn multiply_fine(
        queries: *const u8,
        codes: *const u8,
        steps: usize,
        _: usize,
        out: &mut Products,
    ) {
        // SAFETY: the caller guarantees the unit and `steps` operands of 1024 bytes on either
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
        // SAFETY: the caller guarantees the unit. Released registers cost context switches nothing.
        unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) };
    }
}

/// Whether the CPU and the operating system support AMX and let this process use it.
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
    // A function pointer, because the function is safe in newer compilers and unsafe in older ones.
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

/// Other operating systems have other interfaces, which are not implemented.
#[cfg(not(target_os = "linux"))]
fn permitted() -> bool {
    false
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn scan_codes(codes: &Codes, residence: Residence, scans: &mut [Scan<'_>]) {
    // SAFETY: compiled for AVX-512; the caller guarantees the CPU and the layouts.
    unsafe { products::scan_codes::<Amx>(codes, residence, scans) }
}

#[cfg(test)]
mod tests {
    use super::{Amx, Multiplier, OPERAND_BYTES, Products, available};
    use crate::check::{Random, skipped};
    use crate::x86::products::tests::Plain;

    #[test]
    fn unit_multiplies_as_its_manual_says() {
        if !available() {
            skipped("this CPU lacks AMX");
            return;
        }
        let mut random = Random::new(5);
        let steps = 3;
        let bytes: Vec<u8> = (0..2 * steps * OPERAND_BYTES)
            .map(|_| random.next() as u8)
            .collect();
        let (queries, codes) = bytes.split_at(steps * OPERAND_BYTES);
        let [mut found, mut expected] = [Products([[1; 16]; 16]); 2];
        // SAFETY: the CPU has the unit; the operands have `steps` steps.
        unsafe {
            Amx::begin();
            Amx::multiply_fine(queries.as_ptr(), codes.as_ptr(), steps, 16, &mut found);
            Amx::end();
            Plain::multiply_fine(queries.as_ptr(), codes.as_ptr(), steps, 16, &mut expected);
        }
        assert_eq!(found.0, expected.0);
    }
}
