//! Functions of the module itself.

use std::path::Path;

use cosift_engine::{Engine, Error, json};
use napi::bindgen_prelude::{Either, Uint8Array};
use napi_derive::napi;

use crate::engine::NativeEngine;
use crate::failure::NativeFailure;
use crate::options::EngineOptions;
use crate::promise::outcome;

/// Checks that bytes are strict JSON: UTF-8, no duplicate keys, no lone surrogates, numbers that a
/// double holds, at most `max_depth` deep. Returns what is wrong, or null.
#[napi]
pub fn check_json(body: Uint8Array, max_depth: u32) -> Option<NativeFailure> {
    let problem = json::check(&body, max_depth as usize).err()?;
    Some(
        Error::Invalid {
            code: "invalid_json",
            problems: vec![problem],
        }
        .into(),
    )
}

/// Opens a data directory and takes its lock.
#[napi]
pub fn open_engine(
    directory: String,
    options: EngineOptions,
) -> Either<NativeEngine, NativeFailure> {
    let threads = options.threads.map(|threads| threads as usize);
    outcome(
        Engine::open(Path::new(&directory), threads, options.limits.into()).map(NativeEngine::new),
    )
}

/// The instruction set that scans use on this machine.
#[napi]
pub fn kernel_name() -> &'static str {
    cosift_engine::kernel_name()
}

/// The version of the SQLite inside.
#[napi]
pub fn sqlite_version() -> &'static str {
    cosift_engine::sqlite_version()
}
