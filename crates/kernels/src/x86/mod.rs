//! The instruction sets of x86-64.

mod amx;
mod avx2;
mod avx512;
mod avx_vnni;
mod products;
mod ymm;

pub(crate) use amx::AMX_INT8;
pub(crate) use avx_vnni::AVX_VNNI;
pub(crate) use avx2::AVX2;
pub(crate) use avx512::AVX512_VNNI;
