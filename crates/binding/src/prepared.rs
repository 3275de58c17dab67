//! Records between `prepare` and `commit`.

use std::sync::Arc;

use cosift_engine::LineError;
use napi_derive::napi;

use crate::failure::NativeProblem;

/// A bad line of a stream.
#[napi(object)]
pub struct NativeLineProblem {
    /// The line's number, 1 for the first.
    pub line: f64,
    /// What is wrong.
    pub problem: NativeProblem,
}

impl From<LineError> for NativeLineProblem {
    fn from(bad: LineError) -> Self {
        Self {
            line: bad.line as f64,
            problem: bad.problem.into(),
        }
    }
}

/// Records that were checked and wait for the vectors of their texts.
#[napi]
pub struct Prepared {
    pub(crate) inner: Arc<cosift_engine::Prepared>,
}

impl From<cosift_engine::Prepared> for Prepared {
    fn from(prepared: cosift_engine::Prepared) -> Self {
        Self {
            inner: Arc::new(prepared),
        }
    }
}

#[napi]
impl Prepared {
    /// The texts to embed, in the order that `commit` takes their vectors in.
    #[napi]
    pub fn texts(&self) -> Vec<String> {
        self.inner.texts()
    }

    /// Bad lines that were left out.
    #[napi]
    pub fn problems(&self) -> Vec<NativeLineProblem> {
        self.inner
            .problems
            .iter()
            .cloned()
            .map(NativeLineProblem::from)
            .collect()
    }

    /// Identifies the database that the records were prepared for, among all that had its id.
    #[napi(getter)]
    pub fn epoch(&self) -> String {
        self.inner.epoch()
    }

    /// Records to write or touch.
    #[napi(getter)]
    pub fn records(&self) -> u32 {
        self.inner.records() as u32
    }
}
