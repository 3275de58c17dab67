//! Calls of the engine. A call that has not finished when its start returns has a promise.

use std::sync::{Arc, Mutex, PoisonError};

use cosift_engine::{Done, Error};
use napi::Env;
use napi::bindgen_prelude::{Either, Either3, PromiseRaw, Result, ToNapiValue};

use crate::deferred::Deferred;
use crate::failure::NativeFailure;
use crate::finished_calls::FinishedCalls;

type Outcome<J> = Either<J, NativeFailure>;

/// What a call returns: its result if it has finished already, otherwise a promise.
pub(crate) type Returned<'env, J> = Either3<J, NativeFailure, PromiseRaw<'env, Outcome<J>>>;

/// A call between its start and its end, which may come before the start returns, on any thread.
enum Progress<T> {
    Starting,
    Finished(std::result::Result<T, Error>),
    /// The JavaScript thread has returned the promise that this settles.
    Promised(Deferred),
}

/// Starts a call of the engine. A result that is there when the start returns is returned as it is, because a promise takes
/// longer than some calls; otherwise a promise of it. Results are converted on the main thread.
pub(crate) fn result_or_promise<'env, T: Send + 'static, J: From<T> + ToNapiValue + 'static>(
    env: &'env Env,
    start: impl FnOnce(Done<T>),
) -> Result<Returned<'env, J>> {
    let calls = FinishedCalls::of(env)?;
    let progress = Arc::new(Mutex::new(Progress::Starting));
    let (of_done, finished) = (Arc::clone(&progress), Arc::clone(&calls));
    start(Box::new(move |result| {
        let deferred = {
            let mut progress = of_done.lock().unwrap_or_else(PoisonError::into_inner);
            match std::mem::replace(&mut *progress, Progress::Starting) {
                Progress::Promised(deferred) => deferred,
                _ => {
                    *progress = Progress::Finished(result);
                    return;
                }
            }
        };
        finished.finish(deferred, result, |result| outcome(result.map(J::from)));
    }));
    let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
    if let Progress::Finished(result) = std::mem::replace(&mut *progress, Progress::Starting) {
        return Ok(match result {
            Ok(result) => Either3::A(result.into()),
            Err(error) => Either3::B(error.into()),
        });
    }
    let (deferred, promise) = Deferred::new(env)?;
    calls.begin(env)?;
    *progress = Progress::Promised(deferred);
    Ok(Either3::C(promise))
}

/// The value that a result becomes in JavaScript.
pub(crate) fn outcome<J>(result: std::result::Result<J, Error>) -> Outcome<J> {
    result.map_or_else(|error| Either::B(error.into()), Either::A)
}

/// A callback that converts the result and passes it to `done`.
pub(crate) fn convert<T: 'static, U: 'static>(done: Done<U>, convert: fn(T) -> U) -> Done<T> {
    Box::new(move |result| done(result.map(convert)))
}

/// Declares methods that return a result or a promise: `fn name(self, parameters) -> type of the result, call;`. Their docs are
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
            -> napi::Result<Either3<$result, NativeFailure, PromiseRaw<'env, Either<$result, NativeFailure>>>> {
                $crate::promise::result_or_promise(env, $call)
            }
        )* }
    };
}
pub(crate) use promises;
