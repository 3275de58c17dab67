#![forbid(unsafe_code)]
//! The engine.
