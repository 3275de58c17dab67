//! The flag that ends a running scan.

use std::sync::atomic::Ordering::Relaxed;

use cosift_engine::StopFlag as Flag;
use napi_derive::napi;

/// Ends the calls it is given to, at their next block. A stopped call fails with `stopped`.
#[napi]
#[derive(Default)]
pub struct StopFlag {
    pub(crate) flag: Flag,
}

#[napi]
impl StopFlag {
    /// A flag that is not set.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag.
    #[napi]
    pub fn stop(&self) {
        self.flag.store(true, Relaxed);
    }
}
