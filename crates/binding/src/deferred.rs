//! A promise that is not settled yet.

use std::ptr;

use napi::bindgen_prelude::{PromiseRaw, Result, ToNapiValue, check_status};
use napi::{Env, sys};

/// Settles one promise, on the thread of the environment that created it.
///
/// The promises of napi-rs have a threadsafe function each, which costs more than a search of a small database.
pub(crate) struct Deferred(sys::napi_deferred);

// SAFETY: The pointer is passed to Node-API only by `settle`, which needs an `Env`, and an `Env` stays on its thread.
unsafe impl Send for Deferred {}

impl Deferred {
    /// A promise and what settles it.
    pub(crate) fn new<T>(env: &Env) -> Result<(Self, PromiseRaw<'_, T>)> {
        let (mut deferred, mut promise) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: `env` is valid on this thread, and both pointers are written before they are read.
        check_status!(unsafe { sys::napi_create_promise(env.raw(), &mut deferred, &mut promise) })?;
        Ok((Self(deferred), PromiseRaw::new(env.raw(), promise)))
    }

    /// Resolves the promise, or rejects it when `value` can't be converted. `env` is the environment of the promise.
    pub(crate) fn settle<T: ToNapiValue>(self, env: &Env, value: T) {
        let raw = env.raw();
        // SAFETY: `env` is valid on this thread. `self` is consumed, so the promise is settled once.
        unsafe {
            match T::to_napi_value(raw, value) {
                Ok(value) => sys::napi_resolve_deferred(raw, self.0, value),
                Err(error) => match ToNapiValue::to_napi_value(raw, error) {
                    Ok(error) => sys::napi_reject_deferred(raw, self.0, error),
                    // The environment can't make values any more: it ends.
                    Err(_) => sys::Status::napi_closing,
                },
            };
        }
    }
}
