//! Response bodies as buffers of JavaScript.

use napi::bindgen_prelude::{Buffer, BufferSlice, Result, ToNapiValue};
use napi::{Env, sys};

/// Bodies of at most this many bytes are copied: a buffer of foreign memory needs a finalizer, which costs more.
const MAX_COPIED: usize = 32 << 10;

/// The body of a response, JSON.
pub struct PageBody(pub(crate) Vec<u8>);

impl ToNapiValue for PageBody {
    // SAFETY: The caller passes a valid environment, on its thread.
    unsafe fn to_napi_value(env: sys::napi_env, Self(body): Self) -> Result<sys::napi_value> {
        if body.len() > MAX_COPIED {
            // SAFETY: As above.
            return unsafe { Buffer::to_napi_value(env, body.into()) };
        }
        let copy = BufferSlice::copy_from(&Env::from_raw(env), body)?;
        // SAFETY: As above.
        unsafe { BufferSlice::to_napi_value(env, copy) }
    }
}
