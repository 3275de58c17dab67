//! Promises that the engine's threads settle.

use cosift_engine::{Done, Error};
use napi::Env;
use napi::bindgen_prelude::{Either, Object, Result, ToNapiValue};

use crate::failure::NativeFailure;

type Outcome<J> = Either<J, NativeFailure>;
type Settle<J> = Box<dyn FnOnce(Env) -> Result<Outcome<J>> + Send>;

/// A promise for what `start` hands over to its callback, converted on the main thread.
pub(crate) fn promise<'env, T: Send + 'static, J: ToNapiValue + 'static>(
    env: &'env Env,
    convert: fn(T) -> J,
    start: impl FnOnce(Done<T>),
) -> Result<Object<'env>> {
    let (deferred, promise) = env.create_deferred::<Outcome<J>, Settle<J>>()?;
    start(Box::new(move |result| {
        deferred.resolve(Box::new(move |_| Ok(outcome(result.map(convert)))));
    }));
    Ok(promise)
}

/// A result as the value that crosses.
pub(crate) fn outcome<J>(result: std::result::Result<J, Error>) -> Outcome<J> {
    match result {
        Ok(value) => Either::A(value),
        Err(error) => Either::B(error.into()),
    }
}
