//! The map as a request asks for it.

use serde_json::Value;

use crate::error::Error;
use crate::filter::RequestReader;

/// Asks for the points of the first matches instead of a page.
#[derive(Clone, Debug)]
pub(crate) struct MapRequest {
    /// The columns whose values a point has.
    pub(crate) columns: Vec<String>,
}

impl MapRequest {
    /// Reads the member `map`, `{"columns"}`; `None` for a request that asks for a page.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer.
    pub(crate) fn of(request: &RequestReader<'_>) -> Result<Option<Self>, Error> {
        let Some(map) = request.get("map") else {
            return Ok(None);
        };
        let names = map.get("columns").and_then(Value::as_array);
        let names = names.and_then(|names| names.iter().map(Value::as_str).collect());
        let names: Vec<&str> = names.ok_or_else(|| {
            let detail = "must be a list of column names";
            Error::invalid("invalid_request", "/columns", detail)
        })?;
        let columns = names.into_iter().map(str::to_owned).collect();
        Ok(Some(Self { columns }))
    }
}
