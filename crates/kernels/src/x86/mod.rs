//! The instruction sets of x86-64.

mod avx512;

pub(crate) use avx512::AVX512_VNNI;
