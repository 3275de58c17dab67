#![forbid(unsafe_code)]
//! The engine.

mod files;
mod hash;
mod lock;
mod store;
mod uuid;
