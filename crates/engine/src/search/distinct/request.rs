//! `distinct` as a request asks for it.

use serde_json::Value;

use crate::error::Error;
use crate::filter::RequestReader;
use crate::json::check_column;

/// The column whose values are distinct on the pages of a request.
#[derive(Clone, Debug)]
pub(crate) struct Distinct {
    pub(crate) column: String,
    /// Whether results show their value, and how many matches have it.
    pub(crate) counts: bool,
}

impl Distinct {
    /// Reads the member `distinct`: the name of a column, or an object with `column` and perhaps `counts`.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer.
    pub(crate) fn parse(request: &RequestReader<'_>) -> Result<Option<Self>, Error> {
        let Some(distinct) = request.get("distinct") else {
            return Ok(None);
        };
        let (pointer, column) = match distinct {
            Value::Object(members) => ("/distinct/column", members.get("column")),
            other => ("/distinct", Some(other)),
        };
        let column = column.and_then(Value::as_str);
        let column = column.ok_or_else(|| Error::request(pointer, "must be a column name"))?;
        check_column(column).map_err(|problem| Error::at(pointer, problem))?;
        let counts = match distinct.get("counts") {
            None => false,
            Some(counts) => (counts.as_bool())
                .ok_or_else(|| Error::request("/distinct/counts", "must be true or false"))?,
        };
        Ok(Some(Self {
            column: column.to_owned(),
            counts,
        }))
    }
}
