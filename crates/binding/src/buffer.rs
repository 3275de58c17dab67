//! Results as buffers of JavaScript.

use napi::bindgen_prelude::{self, BufferSlice, Result, ToNapiValue};
use napi::{Env, sys};

/// Buffers of at most this many bytes are copied into memory of JavaScript. A buffer of foreign memory needs a finalizer.
/// Foreign memory is freed when all garbage is collected, which takes longer the more a program has in memory.
const MAX_COPIED: usize = 4 << 20;

/// Bytes that a call returns. `napi` declares the type by its name.
pub struct Buffer(Vec<u8>);

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl ToNapiValue for Buffer {
    // SAFETY: The caller passes a valid environment, on its thread.
    unsafe fn to_napi_value(env: sys::napi_env, Self(bytes): Self) -> Result<sys::napi_value> {
        if bytes.len() > MAX_COPIED {
            // SAFETY: As above.
            return unsafe { bindgen_prelude::Buffer::to_napi_value(env, bytes.into()) };
        }
        let copy = BufferSlice::copy_from(&Env::from_raw(env), bytes)?;
        // SAFETY: As above.
        unsafe { BufferSlice::to_napi_value(env, copy) }
    }
}
