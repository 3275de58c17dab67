//! Promises that the threads of the engine resolve.

use cosift_engine::{Done, Error};
use napi::Env;
use napi::bindgen_prelude::{Either, PromiseRaw, Result, ToNapiValue};

use crate::deferred::Deferred;
use crate::failure::NativeFailure;
use crate::finished_calls::FinishedCalls;

type Outcome<J> = Either<J, NativeFailure>;

/// Starts a call of the engine and returns a promise of its result, which is converted on the main thread.
pub(crate) fn promise<'env, T: Send + 'static, J: From<T> + ToNapiValue + 'static>(
    env: &'env Env,
    start: impl FnOnce(Done<T>),
) -> Result<PromiseRaw<'env, Outcome<J>>> {
    let calls = FinishedCalls::of(env)?;
    let (deferred, promise) = Deferred::new(env)?;
    let _starting = calls.begin(env)?;
    start(Box::new(move |result| {
        calls.finish(deferred, result, |result| outcome(result.map(J::from)));
    }));
    Ok(promise)
}

/// The value that a result becomes in JavaScript.
pub(crate) fn outcome<J>(result: std::result::Result<J, Error>) -> Outcome<J> {
    result.map_or_else(|error| Either::B(error.into()), Either::A)
}

/// A callback that converts the result and passes it to `done`.
pub(crate) fn convert<T: 'static, U: 'static>(done: Done<U>, convert: fn(T) -> U) -> Done<T> {
    Box::new(move |result| done(result.map(convert)))
}

/// Declares methods that return a promise: `fn name(self, parameters) -> type of the result, call;`. Their docs are
/// `#[doc]` attributes: a macro passes doc comments on as raw strings, which napi does not read.
macro_rules! promises {
    (impl $class:ident { $(
        $(#[$($doc:tt)*])*
        fn $name:ident($this:ident $(, $($parameters:tt)+)?) -> $result:tt, $call:expr;
    )* }) => {
        #[napi]
        impl $class { $(
            $(#[$($doc)*])*
            #[napi]
            pub fn $name<'env>(&$this, env: &'env napi::Env, $($($parameters)+)?)
            -> napi::Result<PromiseRaw<'env, Either<$result, NativeFailure>>> {
                $crate::promise::promise(env, $call)
            }
        )* }
    };
}
pub(crate) use promises;
