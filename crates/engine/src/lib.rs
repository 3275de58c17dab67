//! The engine.
#![forbid(unsafe_code)]

pub mod columns;
pub mod filter;
pub mod json;
pub mod mask;
pub mod problem;
