//! Calls that the engine's threads have finished, until the JavaScript thread settles their promises.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::bindgen_prelude::{Result, ToNapiValue};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Status};

use crate::deferred::Deferred;

/// Wakes the JavaScript thread. It keeps the event loop alive only while calls are in progress.
type Wake = ThreadsafeFunction<(), (), (), Status, false, true>;

/// Converts the result of a call and settles its promise.
type Settle = Box<dyn FnOnce(&Env) + Send>;

thread_local! {
    /// The environments of this thread, by their address.
    static ENVIRONMENTS: RefCell<Vec<(usize, Arc<FinishedCalls>)>> = const { RefCell::new(Vec::new()) };
}

/// The finished calls of one environment.
///
/// All calls share one threadsafe function. The first finished call wakes the JavaScript thread, which settles the
/// promises of all calls that have finished by then, in the order in which they finished.
pub(crate) struct FinishedCalls(Mutex<State>);

struct State {
    /// `None` once the environment ends. No promise is settled from then on.
    wake: Option<Wake>,
    /// Calls whose promises are not settled.
    in_progress: usize,
    finished: Vec<Settle>,
}

impl FinishedCalls {
    /// Those of an environment.
    pub(crate) fn of(env: &Env) -> Result<Arc<Self>> {
        let address = env.raw() as usize;
        let known = ENVIRONMENTS.with_borrow(|environments| {
            let mut calls = environments.iter();
            calls.find_map(|(of, calls)| (*of == address).then(|| Arc::clone(calls)))
        });
        match known {
            Some(calls) => Ok(calls),
            None => Self::add(env, address),
        }
    }

    fn add(env: &Env, address: usize) -> Result<Arc<Self>> {
        let calls = Arc::new(Self(Mutex::new(State {
            wake: None,
            in_progress: 0,
            finished: Vec::new(),
        })));
        let woken = Arc::downgrade(&calls);
        let settle = env.create_function_from_closure("settle", move |context| {
            if let Some(calls) = woken.upgrade() {
                calls.settle(context.env);
            }
            Ok(())
        })?;
        let wake = settle.build_threadsafe_function().weak::<true>().build()?;
        calls.lock().wake = Some(wake);
        // Node runs the hooks of an environment in reverse order, so the threadsafe function is still valid in this one.
        env.add_env_cleanup_hook(Arc::clone(&calls), move |calls| {
            let forget = |environments: &mut Vec<(usize, Arc<Self>)>| {
                environments.retain(|(of, _)| *of != address);
            };
            ENVIRONMENTS.with_borrow_mut(forget);
            calls.end();
        })?;
        ENVIRONMENTS
            .with_borrow_mut(|environments| environments.push((address, Arc::clone(&calls))));
        Ok(calls)
    }

    /// Counts a call whose promise is returned, on the JavaScript thread.
    pub(crate) fn begin(&self, env: &Env) -> Result<()> {
        let mut state = self.lock();
        if state.in_progress == 0
            && let Some(wake) = &mut state.wake
        {
            #[expect(
                deprecated,
                reason = "only this keeps a threadsafe function and lets the loop end"
            )]
            wake.refer(env)?;
        }
        state.in_progress += 1;
        Ok(())
    }

    /// Has the promise of a call settled with `result`, which `convert` makes a value of JavaScript. Callable on any thread.
    pub(crate) fn finish<T: Send + 'static, J: ToNapiValue + 'static>(
        &self,
        deferred: Deferred,
        result: T,
        convert: fn(T) -> J,
    ) {
        let settle: Settle = Box::new(move |env| deferred.settle(env, convert(result)));
        let mut state = self.lock();
        let State { wake, finished, .. } = &mut *state;
        let Some(wake) = wake else {
            drop(state);
            // The result is dropped without the lock, because it may be the last handle of the engine.
            return drop(settle);
        };
        finished.push(settle);
        // The others in the queue have woken the thread, and it takes this one with them.
        if finished.len() == 1 {
            wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }

    /// Settles the promises of the calls that have finished.
    fn settle(&self, env: &Env) {
        let finished = std::mem::take(&mut self.lock().finished);
        let settled = finished.len();
        if settled == 0 {
            return;
        }
        for settle in finished {
            settle(env);
        }
        let mut state = self.lock();
        state.in_progress -= settled;
        if state.in_progress == 0
            && let Some(wake) = &mut state.wake
        {
            #[expect(
                deprecated,
                reason = "only this keeps a threadsafe function and lets the loop end"
            )]
            // A thread that can't be released keeps the process alive, and nothing else is wrong.
            let _ = wake.unref(env);
        }
    }

    /// Drops the results that no environment takes any more.
    fn end(&self) {
        let mut state = self.lock();
        let ended = (state.wake.take(), std::mem::take(&mut state.finished));
        drop(state);
        drop(ended);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
