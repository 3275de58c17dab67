//! Calls that may take long, which run on the threads of Node.js.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cosift_engine::Error;
use napi::bindgen_prelude::{Either, PromiseRaw, Result, ToNapiValue};
use napi::{Env, Task};

use crate::deferred::Deferred;
use crate::failure::NativeFailure;
use crate::finished_calls::FinishedCalls;
use crate::promise::outcome;

/// Runs `work` on another thread and returns a promise of its result, which is converted on the main thread.
pub(crate) fn background<'env, T: Send + 'static, J: From<T> + ToNapiValue + 'static>(
    env: &'env Env,
    work: impl FnOnce() -> std::result::Result<T, Error> + Send + 'static,
) -> Result<PromiseRaw<'env, Either<J, NativeFailure>>> {
    let calls = FinishedCalls::of(env)?;
    let (deferred, promise) = Deferred::new(env)?;
    let finished = Arc::clone(&calls);
    let run = move || {
        let convert = |result: std::result::Result<T, Error>| outcome(result.map(J::from));
        finished.finish(deferred, caught(work), convert);
    };
    env.spawn(Background(Some(Box::new(run))))?;
    // The promise is settled on this thread, so not before it is counted.
    calls.begin(env)?;
    Ok(promise)
}

/// Runs `work` on this thread if it is short: passing it to another thread and back would take longer. Otherwise as
/// [`background`].
pub(crate) fn background_unless_short<'env, T, J>(
    env: &'env Env,
    is_short: bool,
    work: impl FnOnce() -> std::result::Result<T, Error> + Send + 'static,
) -> Result<PromiseRaw<'env, Either<J, NativeFailure>>>
where
    T: Send + 'static,
    J: From<T> + ToNapiValue + 'static,
{
    if !is_short {
        return background(env, work);
    }
    let (deferred, promise) = Deferred::new(env)?;
    deferred.settle(env, outcome(caught(work).map(J::from)));
    Ok(promise)
}

fn caught<T>(
    work: impl FnOnce() -> std::result::Result<T, Error>,
) -> std::result::Result<T, Error> {
    let result = catch_unwind(AssertUnwindSafe(work));
    result.unwrap_or_else(|_| Err(Error::internal("a call of the binding panicked")))
}

struct Background(Option<Box<dyn FnOnce() + Send>>);

impl Task for Background {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> Result<()> {
        if let Some(run) = self.0.take() {
            run();
        }
        Ok(())
    }

    fn resolve(&mut self, _env: Env, (): ()) -> Result<()> {
        Ok(())
    }
}
