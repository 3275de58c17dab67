//! Errors as values.

use cosift_engine::{Error, ValidationError, time_text};
use napi_derive::napi;

/// One thing wrong with a request, and where.
#[napi(object)]
pub struct NativeProblem {
    /// JSON pointer into what the engine was given.
    pub pointer: String,
    /// The kind, for programs.
    pub code: String,
    /// One sentence for people.
    pub detail: String,
    /// `precondition_failed`: when the stored record was last changed; absent if there is no record.
    #[napi(js_name = "changed_at")]
    pub changed_at: Option<String>,
}

/// A call that failed.
#[napi(object)]
pub struct NativeFailure {
    /// The stable code of the error.
    pub code: String,
    /// One sentence for people.
    pub detail: String,
    /// The places in the request that are wrong.
    pub problems: Vec<NativeProblem>,
    /// Facts for those who handle the code, a JSON object.
    pub facts: String,
}

impl From<Error> for NativeFailure {
    fn from(error: Error) -> Self {
        Self {
            code: error.code().to_owned(),
            detail: error.to_string(),
            facts: error.facts().to_string(),
            problems: error.problems().into_iter().map(Into::into).collect(),
        }
    }
}

impl From<ValidationError> for NativeProblem {
    fn from(problem: ValidationError) -> Self {
        Self {
            pointer: problem.pointer,
            code: problem.code.as_str().to_owned(),
            detail: problem.detail,
            changed_at: problem.changed_at.map(time_text),
        }
    }
}
