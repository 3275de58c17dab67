//! Functions of the module itself.

use std::path::Path;
use std::sync::Arc;

use cosift_engine::{Engine, Error, Limits};
use napi::bindgen_prelude::Either;
use napi_derive::napi;

use crate::engine::NativeEngine;
use crate::failure::NativeFailure;
use crate::options::{EngineOptions, integer};
use crate::promise::outcome;

/// Checks that bytes are strict JSON: UTF-8, no duplicate keys, no lone surrogates, numbers that a
/// double holds, at most `max_depth` deep. Returns what is wrong, or null.
#[napi]
pub fn check_json(body: &[u8], max_depth: f64) -> Option<NativeFailure> {
    let checked = integer("maxDepth", max_depth).and_then(|depth| {
        cosift_engine::check_json(body, depth).map_err(|problem| Error::Invalid {
            code: "invalid_json",
            problems: vec![problem],
        })
    });
    checked.err().map(NativeFailure::from)
}

/// Opens a data directory and takes its lock, or opens it for reading beside another process.
#[napi]
pub fn open_engine(
    directory: String,
    options: EngineOptions,
) -> Either<NativeEngine, NativeFailure> {
    outcome(open(&directory, options).map(|engine| NativeEngine { engine }))
}

fn open(directory: &str, options: EngineOptions) -> Result<Arc<Engine>, Error> {
    let threads = options.threads.map(|number| integer("threads", number));
    let limits = Limits {
        vector_bytes: integer("vectorMegabytes", options.vector_megabytes)? << 20,
        ..options.limits.try_into()?
    };
    let open = if options.read_only == Some(true) {
        Engine::open_read_only
    } else {
        Engine::open
    };
    open(Path::new(directory), threads.transpose()?, limits)
}

/// The instruction set that scans use on this machine.
#[napi]
pub fn kernel_name() -> &'static str {
    cosift_engine::kernel_name()
}
