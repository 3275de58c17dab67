//! Calls that run on the threads of Node.js, because they may take long.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cosift_engine::Error;
use napi::bindgen_prelude::{Either, PromiseRaw, Result, ToNapiValue};
use napi::{Env, Task};

use crate::failure::NativeFailure;
use crate::promise::promise;

/// Runs `work` on another thread and returns a promise of its result, which is converted on the main thread.
pub(crate) fn background<'env, T: Send + 'static, J: From<T> + ToNapiValue + 'static>(
    env: &'env Env,
    work: impl FnOnce() -> std::result::Result<T, Error> + Send + 'static,
) -> Result<PromiseRaw<'env, Either<J, NativeFailure>>> {
    let mut spawned = Ok(());
    let promised = promise(env, |done| {
        let run = move || {
            let result = catch_unwind(AssertUnwindSafe(work));
            done(result.unwrap_or_else(|_| {
                Err(Error::Internal {
                    detail: "a call of the binding panicked".to_owned(),
                })
            }));
        };
        spawned = env.spawn(Background(Some(Box::new(run)))).map(|_| ());
    });
    spawned.and(promised)
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
