//! A page of results.

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

/// The response to a search or a query.
#[napi(object)]
pub struct NativePage {
    /// The response body, JSON.
    pub body: Buffer,
    /// Microseconds the scan took.
    pub scan_micros: f64,
    /// Microseconds from arrival in the engine to the answer.
    pub total_micros: f64,
}

impl From<cosift_engine::Page> for NativePage {
    fn from(page: cosift_engine::Page) -> Self {
        Self {
            body: page.body.into(),
            scan_micros: page.scan_micros as f64,
            total_micros: page.total_micros as f64,
        }
    }
}
